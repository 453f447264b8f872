import type { ListDefinition } from '@customer-platform/http';
import { REQUEST_STATES, REQUEST_TYPES } from './subject-request.row.js';

/** What `GET /v1/core/subject-requests` takes (core.md §13). */
export const SUBJECT_REQUEST_LIST: ListDefinition = {
  resource: 'core.subject-requests',
  filters: {
    type: { type: 'enum', column: 'type', values: REQUEST_TYPES },
    state: { type: 'enum', column: 'state', values: REQUEST_STATES },
    contact_id: { type: 'uuid', column: 'contact_id' },
    due_at: { type: 'time', column: 'due_at' },
    received_at: { type: 'time', column: 'received_at' },
    created_at: { type: 'time', column: 'created_at' },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    due_at: { type: 'time', column: 'due_at' },
  },
  defaultSort: '-created_at',
};
