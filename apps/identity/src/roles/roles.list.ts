import type { ListDefinition } from '@customer-platform/http';

/** `GET /v1/identity/roles` (identity.md §9). */
export const ROLES_LIST: ListDefinition = {
  resource: 'identity.roles',
  filters: {
    kind: { type: 'enum', column: 'kind', values: ['human', 'machine'] },
    built_in: { type: 'boolean', column: '(key IS NOT NULL)', ops: ['eq'] },
    created_at: { type: 'time', column: 'created_at' },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    name: { type: 'string', column: 'name' },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
};
