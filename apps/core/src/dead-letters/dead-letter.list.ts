import type { ListDefinition } from '@customer-platform/http';
import { LETTER_STATES, STAGES } from './dead-letter.dto.js';

/** What `GET /v1/core/dead-letters` takes (core.md §13). A letter's correlation id is its event's id. */
export const DEAD_LETTER_LIST: ListDefinition = {
  resource: 'core.dead-letters',
  filters: {
    state: { type: 'enum', column: 'state', values: LETTER_STATES },
    code: { type: 'string', column: 'code' },
    stage: { type: 'enum', column: 'stage', values: STAGES },
    event_id: { type: 'uuid', column: 'event_id' },
    external_id: { type: 'string', column: 'external_id' },
    contact_id: { type: 'uuid', column: 'contact_id' },
    correlation_id: { type: 'uuid', column: 'event_id' },
  },
  sorts: { last_failed_at: { type: 'time', column: 'last_failed_at' } },
  defaultSort: '-last_failed_at',
};
