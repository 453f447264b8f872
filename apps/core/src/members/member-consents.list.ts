import type { ListDefinition } from '@customer-platform/http';
import { CONSENT_CHANNELS, STATES } from '../consents/consent.js';

/** What a member reads of their consents: what holds now. */
export const MEMBER_CONSENT_LIST: ListDefinition = {
  resource: 'core.members.consents',
  filters: {
    purpose: { type: 'string', column: 'purpose' },
    channel: { type: 'enum', column: 'channel', values: CONSENT_CHANNELS },
    status: { type: 'enum', column: 'status', values: STATES },
  },
  sorts: { occurred_at: { type: 'time', column: 'occurred_at' } },
  defaultSort: '-occurred_at',
};
