import type { ListDefinition } from '@customer-platform/http';

/** `GET /v1/loyalty/rules` (loyalty.md §1). */
export const RULES_LIST: ListDefinition = {
  resource: 'loyalty.rules',
  filters: {
    event: { type: 'string', column: 'event' },
    enabled: { type: 'boolean', column: 'enabled' },
    name: { type: 'string', column: 'lower(name)', ops: ['eq', 'ne', 'in', 'is_null', 'prefix'] },
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
  },
  sorts: {
    name: { type: 'string', column: 'name' },
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
};
