import type { FilterOp, ListDefinition } from '@customer-platform/http';
import { ACTIVITY_STATUSES } from './activity.entity.js';

const ONE_OF: readonly FilterOp[] = ['eq', 'in', 'is_null'];
const RANGES: readonly FilterOp[] = ['eq', 'gt', 'gte', 'lt', 'lte'];
const DATES: readonly FilterOp[] = [...RANGES, 'is_null'];

/** `GET /v1/crm/activities` (crm.md §2). */
export const ACTIVITIES_LIST: ListDefinition = {
  resource: 'crm.activities',
  filters: {
    contact_id: {
      type: 'uuid',
      column: 'contact_id',
      ops: ONE_OF,
      description: 'A merged contact’s id means its survivor’s.',
    },
    type_id: { type: 'uuid', column: 'type_id', ops: ONE_OF },
    status: { type: 'enum', column: 'status', values: ACTIVITY_STATUSES, ops: ONE_OF },
    assignee_id: { type: 'uuid', column: 'assignee_id', ops: ONE_OF },
    outcome: { type: 'string', column: 'outcome', ops: ONE_OF },
    due_at: { type: 'time', column: 'due_at', ops: DATES },
    completed_at: { type: 'time', column: 'completed_at', ops: DATES },
    created_at: { type: 'time', column: 'created_at', ops: RANGES },
    updated_at: { type: 'time', column: 'updated_at', ops: RANGES },
  },
  sorts: {
    due_at: { type: 'time', column: 'due_at', nulls: 'last' },
    completed_at: { type: 'time', column: 'completed_at', nulls: 'last' },
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
};
