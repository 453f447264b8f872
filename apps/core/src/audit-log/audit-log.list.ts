import type { ListDefinition } from '@customer-platform/http';

/** What `GET /v1/core/audit-log` takes (core.md §13). */
export const AUDIT_LIST: ListDefinition = {
  resource: 'core.audit-log',
  filters: {
    seq: { type: 'integer', column: 'seq' },
    actor_id: { type: 'string', column: 'actor_id' },
    action: { type: 'string', column: 'action' },
    module: { type: 'string', column: 'module' },
    resource_type: { type: 'string', column: 'resource_type' },
    resource_id: { type: 'string', column: 'resource_id' },
    outcome: { type: 'enum', column: 'outcome', values: ['success', 'denied'] },
    occurred_at: { type: 'time', column: 'occurred_at' },
    correlation_id: { type: 'uuid', column: 'correlation_id' },
  },
  sorts: { seq: { type: 'integer', column: 'seq' } },
  defaultSort: '-seq',
};
