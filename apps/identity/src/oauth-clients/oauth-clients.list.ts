import type { ListDefinition } from '@customer-platform/http';
import { CLIENT_TYPES } from './oauth-client.entity.js';

/** `GET /v1/identity/oauth-clients` (identity.md §9). */
export const OAUTH_CLIENTS_LIST: ListDefinition = {
  resource: 'identity.oauth_clients',
  filters: {
    type: { type: 'enum', column: 'type', values: CLIENT_TYPES },
    created_at: { type: 'time', column: 'created_at' },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    name: { type: 'string', column: 'name' },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
};
