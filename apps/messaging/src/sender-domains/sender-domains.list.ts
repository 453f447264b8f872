import type { ListDefinition } from '@customer-platform/http';
import { DOMAIN_STATES } from './sender-domain.entity.js';

/** `GET /v1/messaging/sender-domains` (messaging.md §10). */
export const SENDER_DOMAINS_LIST: ListDefinition = {
  resource: 'messaging.sender-domains',
  filters: {
    domain: { type: 'string', column: 'domain', ops: ['eq', 'ne', 'in', 'is_null', 'prefix'] },
    state: { type: 'enum', column: 'state', values: DOMAIN_STATES },
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
    domain: { type: 'string', column: 'domain' },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
};
