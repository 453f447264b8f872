import type { FilterOp, ListDefinition } from '@customer-platform/http';

const RANGES: readonly FilterOp[] = ['eq', 'gt', 'gte', 'lt', 'lte'];

/** `GET /v1/crm/object-definitions` (crm.md §3). */
export const OBJECT_DEFINITIONS_LIST: ListDefinition = {
  resource: 'crm.object_definitions',
  filters: {
    slug: { type: 'string', column: 'slug', ops: ['eq'] },
    created_at: { type: 'time', column: 'created_at', ops: RANGES },
    updated_at: { type: 'time', column: 'updated_at', ops: RANGES },
  },
  sorts: {
    name: { type: 'string', column: 'name' },
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
};
