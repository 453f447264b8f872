import type { ListDefinition } from '@customer-platform/http';
import { CONSENT_CHANNELS, STATES } from './consent.js';

/** What `GET /v1/core/contacts/{id}/consents` takes (core.md §5, §13): the history is a timeline source. */
export const CONSENT_LIST: ListDefinition = {
  resource: 'core.consents',
  filters: {
    purpose: { type: 'string', column: 'purpose' },
    channel: { type: 'enum', column: 'channel', values: CONSENT_CHANNELS },
    status: { type: 'enum', column: 'status', values: STATES },
    correlation_id: { type: 'uuid', column: 'correlation_id' },
    occurred_at: { type: 'time', column: 'occurred_at' },
  },
  sorts: { occurred_at: { type: 'time', column: 'occurred_at' } },
  defaultSort: '-occurred_at',
  timelineSource: { occurredAt: 'occurred_at' },
  extraParameters: {
    view: {
      type: 'enum',
      values: ['states', 'history'],
      description:
        '`states` (default): what holds for each purpose and channel. `history`: all that was said.',
    },
    at: { type: 'time', description: 'What held, or had been said, at this instant; default now.' },
  },
};
