import type { ListDefinition } from '@customer-platform/http';

/** `GET /v1/messaging/webhook-endpoints` (messaging.md §8). */
export const WEBHOOK_ENDPOINTS_LIST: ListDefinition = {
  resource: 'messaging.webhook-endpoints',
  filters: {
    enabled: { type: 'boolean', column: 'enabled' },
    name: { type: 'string', column: 'name', ops: ['eq', 'ne', 'in', 'is_null', 'prefix'] },
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
    name: { type: 'string', column: 'name' },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
};
