import type { FilterOp, ListDefinition } from '@customer-platform/http';

const RANGES: readonly FilterOp[] = ['eq', 'gt', 'gte', 'lt', 'lte'];

/** `GET /v1/crm/notes` (crm.md §2). */
export const NOTES_LIST: ListDefinition = {
  resource: 'crm.notes',
  filters: {
    contact_id: {
      type: 'uuid',
      column: 'contact_id',
      ops: ['eq', 'in'],
      description: 'A merged contact’s id means its survivor’s.',
    },
    author_id: { type: 'string', column: 'author_id', ops: ['eq'] },
    pinned: { type: 'boolean', column: 'pinned', ops: ['eq'] },
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
