import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import type { Reading } from '../ui/use-edit.tsx';
import type { ChannelSettings, Topic } from './channel-draft.ts';

/** How the organization sends: one document, for who may read it. */
export function useChannelSettings() {
  const api = useApi();
  const may = useMay();
  const { organization } = usePerson();
  return useQuery({
    queryKey: [organization.id, 'messages', 'channels'],
    enabled: may('messaging.channels.read'),
    queryFn: async ({ signal }): Promise<Reading<ChannelSettings>> =>
      api.GET('/v1/messaging/channel-settings', { signal }),
  });
}

/** Reads the document as it is now, and puts another in its place. */
export function useChannelDocument() {
  const api = useApi();
  const cache = useQueryClient();
  const { organization } = usePerson();
  return {
    read: (): Promise<Reading<ChannelSettings>> => api.GET('/v1/messaging/channel-settings', {}),
    /** What `on` read, with `part` in place of its own. */
    put: (part: Partial<ChannelSettings>, on: Reading<ChannelSettings>): Promise<Reading<ChannelSettings>> =>
      api.PUT('/v1/messaging/channel-settings', { body: { ...on.data, ...part }, ifMatch: on.etag }),
    changed: (): Promise<void> =>
      cache.invalidateQueries({ queryKey: [organization.id, 'messages', 'channels'] }),
  };
}

export function topicsIn({ topics = [] }: ChannelSettings): readonly Topic[] {
  return topics as unknown as readonly Topic[];
}
