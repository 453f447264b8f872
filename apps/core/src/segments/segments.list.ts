import type { ListDefinition } from '@customer-platform/http';

/** `GET /v1/core/segments` (core.md §13). */
export const SEGMENT_LIST: ListDefinition = {
  resource: 'core.segments',
  filters: {
    name: { type: 'string', column: 'lower(name)', ops: ['eq', 'ne', 'in', 'is_null', 'prefix'] },
    state: { type: 'enum', column: 'state', values: ['building', 'ready'] },
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    name: { type: 'string', column: 'name' },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
};

const STATUS: NonNullable<ListDefinition['extraParameters']>[string] = {
  type: 'enum',
  values: ['current', 'left'],
  description: '`current` (default): stays that last. `left`: those that have ended.',
};

/** `GET /v1/core/contacts/{id}/segments` (core.md §13). */
export const CONTACT_SEGMENT_LIST: ListDefinition = {
  resource: 'core.contacts.segments',
  filters: {
    segment_id: { type: 'uuid', column: 'segment_id', ops: ['eq', 'ne', 'in'] },
    entered_at: { type: 'time', column: 'entered_at' },
  },
  sorts: { entered_at: { type: 'time', column: 'entered_at' } },
  defaultSort: '-entered_at',
  extraParameters: { status: STATUS },
};

/** `GET /v1/core/segments/{id}/members` (core.md §13). */
export const MEMBER_LIST: ListDefinition = {
  resource: 'core.segments.members',
  filters: {
    contact_id: { type: 'uuid', column: 'contact_id', ops: ['eq', 'ne', 'in'] },
    entered_at: { type: 'time', column: 'entered_at' },
  },
  sorts: { entered_at: { type: 'time', column: 'entered_at' } },
  defaultSort: '-entered_at',
  extraParameters: { status: STATUS },
};
