import type { ListDefinition } from '@customer-platform/http';

/** What `GET /v1/core/events` takes (core.md §13): a timeline source. An event's correlation id is its own id. */
export const EVENT_LIST: ListDefinition = {
  resource: 'core.events',
  filters: {
    contact_id: { type: 'uuid', column: 'contact_id', ops: ['eq', 'ne', 'in'] },
    external_id: { type: 'string', column: 'external_id' },
    event: { type: 'string', column: 'event' },
    type: { type: 'enum', column: 'type', values: ['track', 'identify'] },
    occurred_at: { type: 'time', column: 'occurred_at' },
    received_at: { type: 'time', column: 'received_at' },
    correlation_id: { type: 'uuid', column: 'id' },
    idempotency_key: { type: 'string', column: 'idempotency_key' },
  },
  sorts: {
    occurred_at: { type: 'time', column: 'occurred_at' },
    received_at: { type: 'time', column: 'received_at' },
  },
  defaultSort: '-occurred_at',
  timelineSource: { occurredAt: 'occurred_at' },
};
