import type { FilterSpec, ListDefinition } from '@customer-platform/http';

const KINDS = ['earn', 'adjust', 'spend', 'expire', 'reverse'];
const id = (column: string): FilterSpec => ({ type: 'uuid', column, ops: ['eq', 'in'] });

/** `GET /v1/loyalty/transactions` (loyalty.md §3), a timeline source. */
export const TRANSACTIONS_LIST: ListDefinition = {
  resource: 'loyalty.transactions',
  filters: {
    contact_id: id('contact_id'),
    kind: { type: 'enum', column: 'kind', values: KINDS, ops: ['eq', 'in'] },
    rule_id: id('rule_id'),
    event_id: id('event_id'),
    correlation_id: id('correlation_id'),
    reverses_id: id('reverses_id'),
    reference: { type: 'string', column: 'reference' },
    occurred_at: { type: 'time', column: 'occurred_at', ops: ['gt', 'gte', 'lt', 'lte'] },
    created_at: { type: 'time', column: 'created_at', ops: ['gt', 'gte', 'lt', 'lte'] },
    tombstoned: { type: 'boolean', column: '(tombstoned_at IS NOT NULL)', ops: ['eq'] },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    // Of one contact only, whose rows all have it.
    occurred_at: { type: 'time', column: 'occurred_at' },
  },
  defaultSort: '-created_at',
  timelineSource: { occurredAt: 'occurred_at' },
};
