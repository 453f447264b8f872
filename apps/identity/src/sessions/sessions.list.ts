import type { ListDefinition } from '@customer-platform/http';
import { SESSION_STATUSES } from './session.dto.js';

/** `GET /v1/identity/sessions` (identity.md §9). */
export const SESSIONS_LIST: ListDefinition = {
  resource: 'identity.sessions',
  filters: {
    user_id: { type: 'uuid', column: 'user_id' },
    status: { type: 'enum', column: 'status', values: SESSION_STATUSES },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    last_seen_at: { type: 'time', column: 'last_seen_at' },
  },
  defaultSort: '-created_at',
};
