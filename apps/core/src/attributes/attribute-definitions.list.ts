import type { ListDefinition } from '@customer-platform/http';
import { DECLARED_TYPES } from './declaration.js';

/** `GET /v1/core/attribute-definitions` (core.md §13). */
export const ATTRIBUTE_DEFINITION_LIST: ListDefinition = {
  resource: 'core.attributes',
  filters: {
    key: { type: 'string', column: 'key', ops: ['eq', 'ne', 'in', 'is_null', 'prefix'] },
    type: { type: 'enum', column: 'type', values: [...DECLARED_TYPES] },
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
  },
  sorts: {
    key: { type: 'string', column: 'key' },
    created_at: { type: 'time', column: 'created_at' },
  },
  defaultSort: 'key',
  includeDeleted: true,
};
