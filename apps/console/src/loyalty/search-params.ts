export const KINDS = ['earn', 'adjust', 'spend', 'expire', 'reverse'] as const;

/** Filters the ledger, and says which of its rows is open. */
export interface LedgerSearch {
  contact_id?: string | undefined;
  kind?: (typeof KINDS)[number] | undefined;
  rule_id?: string | undefined;
  reference?: string | undefined;
  correlation_id?: string | undefined;
  open?: string | undefined;
}

/** Filters the rules, and says which of them stands beside the list; `new` is the form of another one. */
export interface RulesSearch {
  name?: string | undefined;
  event?: string | undefined;
  enabled?: 'true' | 'false' | undefined;
  deleted?: true | undefined;
  open?: string | undefined;
}
