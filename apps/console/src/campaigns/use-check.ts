import type { DataOf } from '@customer-platform/client';
import { useApi } from '../api/api.tsx';
import { useOwnQuery } from '../ui/queries.ts';

export type CampaignCheck = DataOf<'post', '/v1/messaging/campaigns/{id}/check'>;

/** Asks what a run would come to, anew each time that somebody wants to run it. */
export function useCheck(id: string, enabled: boolean) {
  const api = useApi();
  return useOwnQuery({
    queryKey: ['campaigns', 'check', id],
    enabled,
    gcTime: 0,
    staleTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    queryFn: async ({ signal }): Promise<CampaignCheck> =>
      (await api.POST('/v1/messaging/campaigns/{id}/check', { params: { path: { id } }, signal })).data,
  });
}
