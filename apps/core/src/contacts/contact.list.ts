import type { ListDefinition } from '@customer-platform/http';

/** The order of contacts without a last name: before all others, in one index with them. */
export const LAST_NAME_ORDER = `coalesce(last_name, '')`;

/** What an index by beginnings is on, whatever the order of the database. */
export const LAST_NAME_BEGINNING = `last_name COLLATE "C"`;

/**
 * `GET /v1/core/contacts` (core.md §13). Emails and numbers are read in any form in which they match, `identity` as
 * `<type>:<value>`.
 */
export const CONTACT_LIST: ListDefinition = {
  resource: 'core.contacts',
  filters: {
    external_id: { type: 'string', column: 'external_id' },
    email: { type: 'string', column: 'email_normal' },
    phone: { type: 'string', column: 'phone' },
    identity: {
      type: 'string',
      column: 'id',
      ops: ['eq', 'in'],
      pattern: '^(external_id|email|phone|anonymous_id|device_id|custom[.][a-z0-9][a-z0-9_-]{0,59}):.+$',
      description: 'A type and a value, such as `anonymous_id:9f1c`.',
    },
    segment_id: {
      type: 'uuid',
      column: 'id',
      ops: ['eq', 'in'],
      description: 'Contacts that are in the segment, or in one of several.',
    },
    last_name: { type: 'string', column: 'last_name', ops: ['eq', 'ne', 'in', 'is_null', 'prefix'] },
    country: { type: 'string', column: 'country' },
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
    last_seen_at: { type: 'time', column: 'last_seen_at' },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
    last_seen_at: { type: 'time', column: 'last_seen_at' },
    last_name: { type: 'string', column: LAST_NAME_ORDER },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
  extraParameters: {
    q: {
      type: 'string',
      pattern: '^[^\\u0000]{2,100}$',
      description:
        'People by what is typed: every word begins a word of the first or last name, or begins the email, the phone ' +
        'number or the external id. Case and accents are ignored.',
    },
  },
};
