import type { ListDefinition } from '@customer-platform/http';
import { SUGGESTION_STATES } from './suggestion.dto.js';

/** `GET /v1/core/merge-suggestions` (core.md §13). */
export const SUGGESTION_LIST: ListDefinition = {
  resource: 'core.merge_suggestions',
  filters: {
    state: { type: 'enum', column: 'state', values: SUGGESTION_STATES },
    contact_id: {
      type: 'uuid',
      column: 'first_id',
      ops: ['eq', 'in'],
      description: 'Either of the two.',
    },
    score: { type: 'number', column: 'score' },
  },
  sorts: {
    score: { type: 'number', column: 'score' },
    created_at: { type: 'time', column: 'created_at' },
  },
  defaultSort: '-score',
};
