import { useMutation } from '@tanstack/react-query';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useNamesById } from '../ui/names-by-id.ts';
import { useOwnQuery, useReadAnew } from '../ui/queries.ts';
import { useSay } from '../ui/toasts.tsx';
import type { Reading } from '../ui/use-edit.tsx';
import { isUnderWay, type Campaign } from './campaign.ts';

/** How often a campaign is read again: while it runs one follows it, else somebody else may change it. */
const RUNNING_MS = 2_000;
const RESTING_MS = 15_000;
const MOST_NAMES = 200;

export function useCampaign(id: string) {
  const api = useApi();
  return useOwnQuery({
    queryKey: ['campaigns', 'one', id],
    queryFn: async ({ signal }): Promise<Reading<Campaign>> =>
      api.GET('/v1/messaging/campaigns/{id}', { params: { path: { id } }, signal }),
    refetchInterval: ({ state }) =>
      state.data !== undefined && isUnderWay(state.data.data) ? RUNNING_MS : RESTING_MS,
  });
}

export const useCampaignsChanged = (): (() => Promise<void>) => useReadAnew('campaigns');

/** What campaigns are called, where one may see them. */
export function useCampaignNames(ids: readonly string[], enabled: boolean): ReadonlyMap<string, string> {
  const api = useApi();
  return useNamesById(['campaigns', 'names'], ids, enabled, async (asked, signal) => {
    const params = { query: { 'id[in]': asked, include_deleted: true, limit: MOST_NAMES } };
    return (await api.GET('/v1/messaging/campaigns', { params, signal })).data.data;
  });
}

/** Runs it: everybody who is in the audience at that instant. */
export function useRun({ id, name }: Pick<Campaign, 'id' | 'name'>, onRun: () => void) {
  const t = useTranslations('campaigns');
  const api = useApi();
  const say = useSay();
  const changed = useCampaignsChanged();
  return useMutation({
    mutationFn: () => api.POST('/v1/messaging/campaigns/{id}/run', { params: { path: { id } } }),
    onSuccess: async () => {
      onRun();
      await changed();
      say(t('runSaid', { name }));
    },
  });
}

/** Lets it rest, or go on; it says the same however often it is asked for. */
export function usePause(id: string) {
  const api = useApi();
  const changed = useCampaignsChanged();
  return useMutation({
    mutationFn: (paused: boolean) =>
      api.PATCH('/v1/messaging/campaigns/{id}', { params: { path: { id } }, body: { paused } }),
    onSettled: changed,
  });
}

/** Deletes one that is under way: what has not left of it is called off. */
export function useCancel({ id, name }: Pick<Campaign, 'id' | 'name'>, onDone: () => void) {
  const t = useTranslations('campaigns');
  const api = useApi();
  const say = useSay();
  const changed = useCampaignsChanged();
  return useMutation({
    mutationFn: () => api.DELETE('/v1/messaging/campaigns/{id}', { params: { path: { id } } }),
    onSuccess: async () => {
      onDone();
      await changed();
      say(t('canceledSaid', { name }));
    },
  });
}
