import type { FilterOp, ListDefinition } from '@customer-platform/http';

const RANGES: readonly FilterOp[] = ['eq', 'gt', 'gte', 'lt', 'lte'];

/** `GET /v1/crm/activity-types` (crm.md §2). */
export const ACTIVITY_TYPES_LIST: ListDefinition = {
  resource: 'crm.activity_types',
  filters: {
    key: { type: 'string', column: 'key', ops: ['eq'] },
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
