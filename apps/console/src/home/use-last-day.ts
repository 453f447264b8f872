import { useApi } from '../api/api.tsx';
import type { Deliverability } from '../deliverability/deliverability.ts';
import { useMay } from '../session/use-session.tsx';
import { useOwnQuery } from '../ui/queries.ts';
import { lastHours, sendsSince } from './last-day.ts';

const READ_EVERY_MS = 30_000;

/** Asks what became of all messages of the last day, by state. */
export function useLastSends() {
  const api = useApi();
  const may = useMay();
  const enabled = may('messaging.deliverability.read');
  const read = useOwnQuery({
    queryKey: ['home', 'sends'],
    enabled,
    refetchInterval: READ_EVERY_MS,
    queryFn: async ({ signal }): Promise<Record<string, number>> => {
      const { since, from, to } = lastHours(new Date());
      const query = { from, to, granularity: 'hour' } as const;
      const { data } = await api.GET('/v1/messaging/deliverability', { params: { query }, signal });
      return sendsSince((data as Deliverability).data, since);
    },
  });
  return { ...read, enabled };
}

/** Asks what all points of the last day come to, by kind. */
export function useLastPoints() {
  const api = useApi();
  const may = useMay();
  const enabled = may('loyalty.transactions.read');
  const read = useOwnQuery({
    queryKey: ['home', 'points'],
    enabled,
    refetchInterval: READ_EVERY_MS,
    queryFn: async ({ signal }): Promise<Record<string, number>> => {
      const { since } = lastHours(new Date());
      const { data } = await api.GET('/v1/loyalty/summary', { params: { query: { from: since } }, signal });
      return Object.fromEntries(
        Object.entries(data.kinds).flatMap(([kind, { count, points }]) =>
          count > 0 ? [[kind, points]] : [],
        ),
      );
    },
  });
  return { ...read, enabled };
}
