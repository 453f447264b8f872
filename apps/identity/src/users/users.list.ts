import type { ListDefinition } from '@customer-platform/http';
import { USER_STATUSES } from './user.entity.js';

/** `GET /v1/identity/users` (identity.md §9). */
export const USERS_LIST: ListDefinition = {
  resource: 'identity.users',
  filters: {
    status: { type: 'enum', column: 'status', values: USER_STATUSES },
    email: { type: 'string', column: 'email', description: 'In lower case.' },
    name: { type: 'string', column: 'name', ops: ['eq', 'ne', 'in', 'prefix'] },
    created_at: { type: 'time', column: 'created_at' },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    name: { type: 'string', column: 'name' },
    email: { type: 'string', column: 'email' },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
};
