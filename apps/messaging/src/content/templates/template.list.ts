import type { ListDefinition } from '@customer-platform/http';
import { CHANNELS } from '../../vocabulary/addresses/channel.js';
import { TEMPLATE_KINDS } from '../../vocabulary/templates/template-content.js';

/** `GET /v1/messaging/templates` (messaging.md §4). */
export const TEMPLATES_LIST: ListDefinition = {
  resource: 'messaging.templates',
  filters: {
    id: { type: 'uuid', column: 'id' },
    channel: { type: 'enum', column: 'channel', values: CHANNELS },
    kind: { type: 'enum', column: 'kind', values: TEMPLATE_KINDS },
    name: {
      type: 'string',
      column: 'name',
      prefixColumn: 'lower(name)',
      ops: ['eq', 'ne', 'in', 'is_null', 'prefix'],
    },
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
    name: { type: 'string', column: 'name', byLanguage: true },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
  extraParameters: {
    uses: {
      type: 'uuid',
      description: 'Those whose newest or published version holds this layout or partial.',
    },
  },
};

/** `GET /v1/messaging/templates/{id}/versions`: newest first, by the key that a version has. */
export const VERSIONS_LIST: ListDefinition = {
  resource: 'messaging.template-versions',
  filters: {
    version: { type: 'integer', column: 'version' },
    created_at: { type: 'time', column: 'created_at' },
  },
  sorts: { version: { type: 'integer', column: 'version' } },
  defaultSort: '-version',
  tieBreaker: { field: 'version', column: 'version', type: 'integer' },
};
