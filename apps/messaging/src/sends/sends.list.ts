import type { ListDefinition } from '@customer-platform/http';
import { CHANNELS } from '../addresses/channel.js';
import { SEND_SOURCES } from './send.js';
import { SEND_STATES } from './send-state.js';

/** `GET /v1/messaging/sends` (messaging.md §5): a timeline source, by the instant of acceptance. */
export const SENDS_LIST: ListDefinition = {
  resource: 'messaging.sends',
  filters: {
    id: { type: 'uuid', column: 'id' },
    contact_id: { type: 'uuid', column: 'contact_id', ops: ['eq', 'in', 'ne', 'is_null'] },
    address: {
      type: 'string',
      column: 'address_key',
      ops: ['eq', 'in'],
      description: 'Any spelling of the address.',
    },
    channel: { type: 'enum', column: 'channel', values: CHANNELS },
    category: { type: 'enum', column: 'category', values: ['transactional', 'marketing'] },
    topic: { type: 'string', column: 'topic' },
    state: { type: 'enum', column: 'state', values: SEND_STATES },
    reason: { type: 'string', column: 'reason' },
    source: { type: 'enum', column: 'source', values: SEND_SOURCES },
    source_id: { type: 'uuid', column: 'source_id' },
    campaign_id: { type: 'uuid', column: 'run_id', ops: ['eq', 'in'] },
    run_id: { type: 'uuid', column: 'run_id' },
    template_id: { type: 'uuid', column: 'template_id' },
    correlation_id: { type: 'uuid', column: 'correlation_id' },
    created_at: { type: 'time', column: 'created_at' },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    occurred_at: { type: 'time', column: 'created_at' },
  },
  defaultSort: '-created_at',
  timelineSource: { occurredAt: 'created_at' },
};

/** `GET /v1/messaging/sends/{id}/history`: oldest first. */
export const HISTORY_LIST: ListDefinition = {
  resource: 'messaging.send-history',
  filters: {
    state: { type: 'enum', column: 'state', values: SEND_STATES },
    occurred_at: { type: 'time', column: 'occurred_at' },
  },
  sorts: { occurred_at: { type: 'time', column: 'occurred_at' } },
  defaultSort: 'occurred_at',
  tieBreaker: { field: 'id', column: 'id', type: 'integer' },
};
