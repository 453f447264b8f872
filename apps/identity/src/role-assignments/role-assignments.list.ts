import type { ListDefinition } from '@customer-platform/http';

/** `GET /v1/identity/role-assignments` (identity.md §9). */
export const ROLE_ASSIGNMENTS_LIST: ListDefinition = {
  resource: 'identity.role_assignments',
  filters: {
    membership_id: { type: 'uuid', column: 'membership_id' },
    role_id: { type: 'uuid', column: 'role_id' },
  },
  sorts: { created_at: { type: 'time', column: 'created_at' } },
  defaultSort: '-created_at',
};
