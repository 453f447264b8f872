import type { ListDefinition } from '@customer-platform/http';

/** `GET /v1/identity/permissions` (identity.md §9): the registry has names and no times, so it is sorted by them. */
export const PERMISSION_LIST: ListDefinition = {
  resource: 'permissions',
  filters: {
    module: { type: 'string', column: 'module' },
    resource: { type: 'string', column: 'resource' },
    action: { type: 'string', column: 'action' },
  },
  sorts: { permission: { column: 'permission', type: 'string' } },
  defaultSort: 'permission',
  tieBreaker: { field: 'permission', column: 'permission', type: 'string' },
};
