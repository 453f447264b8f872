import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { useNames } from '../ui/name-select.tsx';
import { useOwnQuery, useReadAnew } from '../ui/queries.ts';
import type { Template } from './template.ts';
import type { Channel, TemplateKind } from './vocabulary.ts';

/** As many as a page of the API has. */
const MOST = 200;

/** Reads anew all that shows templates. */
export const useTemplatesChanged = (): (() => Promise<void>) => useReadAnew('messages', 'templates');

/** The published layouts or partials of a channel, by name: a message can be made of them. */
export function usePieces(kind: Exclude<TemplateKind, 'message'>, channel: Channel, enabled = true) {
  const api = useApi();
  const may = useMay();
  return useOwnQuery({
    queryKey: ['messages', 'templates', 'pieces', kind, channel],
    enabled: enabled && may('messaging.templates.read'),
    // One that was missing is written in another tab.
    refetchOnWindowFocus: 'always',
    queryFn: async ({ signal }): Promise<Template[]> => {
      const query = { kind, channel, sort: 'name', limit: MOST } as const;
      const { data } = await api.GET('/v1/messaging/templates', { params: { query }, signal });
      return data.data.filter(({ published_version: published }) => published !== null);
    },
  });
}

/** Asks what differs between two versions of a template. */
export function useTemplateDiff(id: string, versions: { from: number; to: number }, enabled = true) {
  const api = useApi();
  const { from, to } = versions;
  return useOwnQuery({
    queryKey: ['messages', 'templates', 'diff', id, from, to],
    enabled,
    queryFn: async ({ signal }) => {
      const params = { path: { id }, query: { from: String(from), to: String(to) } };
      return (await api.GET('/v1/messaging/templates/{id}/diff', { params, signal })).data;
    },
  });
}

/** Templates that can be sent by a channel, by the beginning of their names; nothing without the right to see them. */
export function useMessageTemplates(channel: Channel, prefix: string) {
  const api = useApi();
  const may = useMay();
  const key = ['messages', 'templates', 'choices', channel];
  return useNames(key, prefix, may('messaging.templates.read'), async (signal) => {
    const named = prefix === '' ? {} : { 'name[prefix]': prefix };
    const query = { kind: 'message', channel, sort: 'name', limit: MOST, ...named } as const;
    const { data, page } = (await api.GET('/v1/messaging/templates', { params: { query }, signal })).data;
    return { items: data.map(({ id, name }) => ({ id, name })), more: page.next_cursor !== null };
  });
}
