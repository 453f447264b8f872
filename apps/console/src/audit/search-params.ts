export const OUTCOMES = ['success', 'denied'] as const;

export const MODULES = ['core', 'crm', 'identity', 'loyalty', 'messaging'] as const;

/** Filters the log, in the address. */
export interface AuditFilters {
  action?: string | undefined;
  module?: (typeof MODULES)[number] | undefined;
  actor_id?: string | undefined;
  resource_type?: string | undefined;
  resource_id?: string | undefined;
  outcome?: (typeof OUTCOMES)[number] | undefined;
  correlation_id?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

export interface AuditSearch extends AuditFilters {
  /** The row beside the list, by its place in the chain. */
  open?: string | undefined;
}
