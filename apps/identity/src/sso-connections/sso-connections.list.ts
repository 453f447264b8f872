import type { ListDefinition } from '@customer-platform/http';
import { SSO_STATUSES } from './sso-connection.entity.js';

/** `GET /v1/identity/sso-connections` (identity.md §9). */
export const SSO_CONNECTIONS_LIST: ListDefinition = {
  resource: 'identity.sso-connections',
  filters: {
    status: { type: 'enum', column: 'status', values: SSO_STATUSES },
    created_at: { type: 'time', column: 'created_at' },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    name: { type: 'string', column: 'name' },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
};
