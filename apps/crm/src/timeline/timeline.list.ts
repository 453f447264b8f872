import type { ListDefinition } from '@customer-platform/http';
import { FRAGMENTS } from './fragments.js';

/**
 * What the timeline takes (crm.md §4). It has no columns: its filters are passed on to the sources. Its order is one,
 * so `sort` may only say it.
 */
export const TIMELINE_LIST: ListDefinition = {
  resource: 'crm.timeline',
  filters: {
    source: {
      type: 'enum',
      column: '',
      values: [...new Set(FRAGMENTS.map(({ source }) => source))],
      ops: ['eq', 'in'],
    },
    type: { type: 'enum', column: '', values: FRAGMENTS.map(({ type }) => type), ops: ['eq', 'in'] },
    occurred_at: { type: 'time', column: '', ops: ['eq', 'gt', 'gte', 'lt', 'lte'] },
    correlation_id: { type: 'uuid', column: '', ops: ['eq'] },
  },
  sorts: { occurred_at: { type: 'time', column: '', only: 'desc' } },
  defaultSort: '-occurred_at',
};
