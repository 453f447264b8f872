import type { FilterOp, ListDefinition } from '@customer-platform/http';

const RANGES: readonly FilterOp[] = ['eq', 'gt', 'gte', 'lt', 'lte'];

/** `GET /v1/crm/lists` (crm.md §2). */
export const LISTS_LIST: ListDefinition = {
  resource: 'crm.lists',
  filters: {
    name: { type: 'string', column: 'lower(name)', ops: ['eq', 'prefix'] },
    contact_id: {
      type: 'uuid',
      // No column of the list: the service looks among the members.
      column: '',
      ops: ['eq'],
      description: 'Lists that hold this contact. A merged contact’s id means its survivor’s.',
    },
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

/** `GET /v1/crm/lists/{id}/members`. */
export const LIST_MEMBERS_LIST: ListDefinition = {
  resource: 'crm.lists.members',
  filters: {
    contact_id: {
      type: 'uuid',
      column: 'contact_id',
      ops: ['eq', 'in'],
      description: 'A merged contact’s id means its survivor’s.',
    },
    added_at: { type: 'time', column: 'added_at', ops: RANGES },
  },
  sorts: { added_at: { type: 'time', column: 'added_at' } },
  defaultSort: '-added_at',
  tieBreaker: { field: 'contact_id', column: 'contact_id', type: 'uuid' },
};
