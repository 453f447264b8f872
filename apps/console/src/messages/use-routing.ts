import { useMutation } from '@tanstack/react-query';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { useNamesById } from '../ui/names-by-id.ts';
import { useOwnQuery, useReadAnew } from '../ui/queries.ts';
import type { Reading } from '../ui/use-edit.tsx';
import type { RoutingRule } from './routing-draft.ts';

const MOST_TEMPLATES = 200;

export function useRoutingRule(id: string) {
  const api = useApi();
  return useOwnQuery({
    queryKey: ['messages', 'routing', 'one', id],
    queryFn: async ({ signal }): Promise<Reading<RoutingRule>> =>
      api.GET('/v1/messaging/event-routing/{id}', { params: { path: { id } }, signal }),
  });
}

export const useRoutingChanged = (): (() => Promise<void>) => useReadAnew('messages', 'routing');

/** On or off, from now on; what a rule that is turned off still holds back is canceled. */
export function useTurnRouting(id: string) {
  const api = useApi();
  const changed = useRoutingChanged();
  return useMutation({
    mutationFn: ({ enabled, ifMatch }: { enabled: boolean; ifMatch: string | undefined }) =>
      api.PATCH('/v1/messaging/event-routing/{id}', { params: { path: { id } }, body: { enabled }, ifMatch }),
    onSettled: changed,
  });
}

/** Names templates, for those who may see them. */
export function useTemplateNames(ids: readonly string[]): ReadonlyMap<string, string> {
  const api = useApi();
  const may = useMay();
  const key = ['messages', 'templates', 'names'];
  return useNamesById(key, ids, may('messaging.templates.read'), async (asked, signal) => {
    const params = { query: { 'id[in]': asked, include_deleted: true, limit: MOST_TEMPLATES } };
    return (await api.GET('/v1/messaging/templates', { params, signal })).data.data;
  });
}
