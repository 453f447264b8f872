import { keepPreviousData } from '@tanstack/react-query';
import { useApi } from '../api/api.tsx';
import { useOwnQuery } from '../ui/queries.ts';
import type { Deliverability, Granularity, Grouping } from './deliverability.ts';

const READ_EVERY_MS = 30_000;

interface Asked {
  from: string;
  to: string;
  granularity: Granularity;
  group_by?: Grouping | undefined;
}

/** What became of the sends of some days. */
export function useDeliverability(asked: Asked, enabled = true) {
  const api = useApi();
  return useOwnQuery({
    queryKey: ['deliverability', asked],
    enabled,
    refetchInterval: READ_EVERY_MS,
    // While other days are asked for the chart stays where it is.
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<Deliverability> =>
      (await api.GET('/v1/messaging/deliverability', { params: { query: asked }, signal }))
        .data as Deliverability,
  });
}
