import type { ListDefinition } from '@customer-platform/http';

/** `GET /v1/core/contacts/{id}/identities`. */
export const IDENTITY_LIST: ListDefinition = {
  resource: 'core.identities',
  filters: {
    type: { type: 'string', column: 'type' },
    verified: { type: 'boolean', column: 'verified' },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    last_seen_at: { type: 'time', column: 'last_seen_at' },
  },
  defaultSort: '-created_at',
};
