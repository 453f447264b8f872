import type { ListDefinition } from '@customer-platform/http';
import { API_KEY_STATUSES } from './api-key.dto.js';

/** `GET /v1/identity/api-keys` (identity.md §9). */
export const API_KEY_LIST: ListDefinition = {
  resource: 'api-keys',
  filters: {
    role_id: { type: 'uuid', column: 'role_id' },
    status: { type: 'enum', column: 'status', values: API_KEY_STATUSES },
  },
  sorts: {
    created_at: { column: 'created_at', type: 'time' },
    name: { column: 'name', type: 'string' },
    last_used_at: { column: 'last_used_at', type: 'time', nulls: 'last' },
  },
  defaultSort: '-created_at',
};
