import type { ListDefinition } from '@customer-platform/http';

/** `GET /v1/identity/memberships` (identity.md §9). */
export const MEMBERSHIPS_LIST: ListDefinition = {
  resource: 'identity.memberships',
  filters: { user_id: { type: 'uuid', column: 'user_id' } },
  sorts: { created_at: { type: 'time', column: 'created_at' } },
  defaultSort: '-created_at',
};
