import type { ListDefinition } from '@customer-platform/http';
import { EVENT_NAMES } from '../subscriptions.js';
import { DELIVERY_STATES } from './webhook-delivery.dto.js';

/** `GET /v1/messaging/webhook-endpoints/{id}/deliveries` (messaging.md §8). */
export const DELIVERIES_LIST: ListDefinition = {
  resource: 'messaging.webhook-deliveries',
  filters: {
    state: { type: 'enum', column: 'state', values: DELIVERY_STATES },
    type: { type: 'enum', column: 'type', values: EVENT_NAMES },
    event_id: { type: 'uuid', column: 'event_id' },
    created_at: { type: 'time', column: 'created_at' },
  },
  sorts: { created_at: { type: 'time', column: 'created_at' } },
  defaultSort: '-created_at',
  tieBreaker: { field: 'event_id', column: 'event_id', type: 'uuid' },
};
