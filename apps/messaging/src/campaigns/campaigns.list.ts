import type { ListDefinition } from '@customer-platform/http';
import { CHANNELS } from '../addresses/channel.js';
import { CAMPAIGN_STATES } from './campaign.js';

/** `GET /v1/messaging/campaigns` (messaging.md §9). */
export const CAMPAIGNS_LIST: ListDefinition = {
  resource: 'messaging.campaigns',
  filters: {
    channel: { type: 'enum', column: 'channel', values: CHANNELS },
    state: { type: 'enum', column: 'state', values: CAMPAIGN_STATES },
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
