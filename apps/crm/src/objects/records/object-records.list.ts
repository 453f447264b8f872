import type { FilterOp, FilterSpec, ListDefinition, SortSpec } from '@customer-platform/http';
import type { ObjectField } from '../../fields/field.js';
import type { KnownDefinition } from '../definitions/known-definition.js';
import { RANGES } from '../../range-ops.js';

const COMPARED: readonly FilterOp[] = ['eq', 'in', 'gt', 'gte', 'lt', 'lte', 'is_null'];
const NAMED: readonly FilterOp[] = ['eq', 'in', 'is_null'];
const PREFIX = 'values.';

/** What the lists of all objects take (crm.md §3). */
export const OBJECT_RECORDS_LIST: ListDefinition = {
  resource: 'crm.objects',
  filters: {
    created_at: { type: 'time', column: 'created_at', ops: RANGES },
    updated_at: { type: 'time', column: 'updated_at', ops: RANGES },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
};

/** With the filters and sorts by the definition's indexed fields. */
export function recordsListOf({ id, fields }: KnownDefinition): ListDefinition {
  const open = fields.filter(({ indexed, archived }) => indexed && !archived);
  const filters = open.map((field): [string, FilterSpec] => [`${PREFIX}${field.key}`, filterOf(field)]);
  const sorts = open.map(({ key, type }): [string, SortSpec] => [
    `${PREFIX}${key}`,
    // Options of enums are codes.
    { column: '', type: 'string', nulls: 'last', ...(type === 'string' ? { byLanguage: true } : {}) },
  ]);
  return {
    ...OBJECT_RECORDS_LIST,
    resource: `crm.objects.${id}`,
    filters: { ...OBJECT_RECORDS_LIST.filters, ...Object.fromEntries(filters) },
    sorts: { ...OBJECT_RECORDS_LIST.sorts, ...Object.fromEntries(sorts) },
  };
}

/** The key of the field that a filter or sort names; undefined of one that is no field's. */
export function keyOf(name: string): string | undefined {
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : undefined;
}

/** Columns are left empty: the page reads from the tables of indexes. */
function filterOf(field: ObjectField): FilterSpec {
  switch (field.type) {
    case 'string':
      return { type: 'string', column: '', ops: ['eq', 'in', 'prefix', 'is_null'] };
    case 'integer':
    case 'number':
      return { type: field.type, column: '', ops: COMPARED };
    case 'date':
      return { type: 'date', column: '', ops: COMPARED };
    case 'datetime':
      return { type: 'time', column: '', ops: COMPARED };
    case 'boolean':
      return { type: 'boolean', column: '', ops: NAMED };
    case 'enum':
      return { type: 'enum', values: field.options.map(({ value }) => value), column: '', ops: NAMED };
    case 'reference':
      return { type: 'uuid', column: '', ops: NAMED };
  }
}
