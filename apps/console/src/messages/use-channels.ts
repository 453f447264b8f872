import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { useOwnQuery, useReadAnew } from '../ui/queries.ts';
import type { Reading } from '../ui/use-edit.tsx';
import type { ChannelSettings, Topic } from './channel-draft.ts';

/** How the organization sends: one document, for who may read it. */
export function useChannelSettings() {
  const api = useApi();
  const may = useMay();
  return useOwnQuery({
    queryKey: ['messages', 'channels'],
    enabled: may('messaging.channels.read'),
    queryFn: async ({ signal }): Promise<Reading<ChannelSettings>> =>
      api.GET('/v1/messaging/channel-settings', { signal }),
  });
}

/** Reads the document as it is now, and puts another in its place. */
export function useChannelDocument() {
  const api = useApi();
  const changed = useReadAnew('messages', 'channels');
  return {
    read: (): Promise<Reading<ChannelSettings>> => api.GET('/v1/messaging/channel-settings', {}),
    /** What `on` read, with `part` in place of its own. */
    put: (part: Partial<ChannelSettings>, on: Reading<ChannelSettings>): Promise<Reading<ChannelSettings>> =>
      api.PUT('/v1/messaging/channel-settings', { body: { ...on.data, ...part }, ifMatch: on.etag }),
    changed,
  };
}

export function topicsIn({ topics = [] }: ChannelSettings): readonly Topic[] {
  return topics as unknown as readonly Topic[];
}
