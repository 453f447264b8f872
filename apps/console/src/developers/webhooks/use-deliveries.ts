import type { ItemOf } from '@customer-platform/client';
import { useMutation } from '@tanstack/react-query';
import { useApi } from '../../api/api.tsx';
import { useList, type List } from '../../ui/list.ts';
import { useReadAnew } from '../../ui/queries.ts';

/** What has become of one event on its way to an endpoint, with all that was tried. */
export type Delivery = ItemOf<'/v1/messaging/webhook-endpoints/{id}/deliveries'>;
export type Try = Delivery['tries'][number];
export const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'paused'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** Deliveries come and go while one looks. */
const READ_EVERY_MS = 5_000;
const PAGE = 20;

export function useDeliveries(id: string, state: DeliveryState | undefined): List<Delivery> {
  const api = useApi();
  return useList<Delivery>(
    ['webhook-endpoints', 'deliveries', id, state],
    async (cursor, signal) => {
      const params = { path: { id }, query: { state, cursor, limit: PAGE } };
      return (await api.GET('/v1/messaging/webhook-endpoints/{id}/deliveries', { params, signal })).data;
    },
    { refetchInterval: READ_EVERY_MS },
  );
}

/** Tells an endpoint an event again. */
export function useRedeliver() {
  const api = useApi();
  const changed = useReadAnew('webhook-endpoints');
  return useMutation({
    mutationFn: async (id: string) => {
      const params = { path: { id } };
      return (await api.POST('/v1/messaging/webhook-deliveries/{id}/redeliver', { params })).data;
    },
    onSettled: changed,
  });
}

/** Sends an endpoint a ping, and learns how that went. */
export function usePing(id: string) {
  const api = useApi();
  return useMutation({
    mutationFn: async () =>
      (await api.POST('/v1/messaging/webhook-endpoints/{id}/test', { params: { path: { id } } })).data,
  });
}
