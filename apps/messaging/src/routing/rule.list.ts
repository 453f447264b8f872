import type { ListDefinition } from '@customer-platform/http';
import { CHANNELS } from '../addresses/channel.js';
import { ROUTABLE_EVENTS } from '../event-waits/routed-event.js';

/** `GET /v1/messaging/event-routing` (messaging.md §3). */
export const ROUTING_LIST: ListDefinition = {
  resource: 'messaging.event-routing',
  filters: {
    event_type: { type: 'enum', column: 'event_type', values: ROUTABLE_EVENTS },
    event_name: { type: 'string', column: 'event_name' },
    channel: { type: 'enum', column: 'channel', values: CHANNELS },
    enabled: { type: 'boolean', column: 'enabled' },
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
    name: { type: 'string', column: 'name' },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
};
