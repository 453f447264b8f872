import type { ListDefinition } from '@customer-platform/http';
import { ORGANIZATION_STATUSES } from './organization.entity.js';

/** `GET /v1/identity/organizations` (identity.md §9). */
export const ORGANIZATIONS_LIST: ListDefinition = {
  resource: 'identity.organizations',
  filters: {
    parent_id: { type: 'uuid', column: 'parent_id' },
    status: { type: 'enum', column: 'status', values: ORGANIZATION_STATUSES },
    slug: { type: 'string', column: 'slug' },
    name: {
      type: 'string',
      column: 'name',
      prefixColumn: 'lower(name)',
      ops: ['eq', 'ne', 'in', 'prefix'],
    },
    created_at: { type: 'time', column: 'created_at' },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    name: { type: 'string', column: 'name', byLanguage: true },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
};
