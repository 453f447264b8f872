export const STATES = ['queued', 'running', 'completed', 'failed'] as const;

/** Filters the imports, and says which of them stands beside the list; `new` is the form of another one. */
export interface ImportsSearch {
  state?: (typeof STATES)[number] | undefined;
  open?: string | undefined;
}
