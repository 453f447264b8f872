export const TYPES = ['access', 'erasure', 'portability', 'rectification', 'opposition', 'blocking'] as const;

export const STATES = ['verifying', 'in_progress', 'completed', 'rejected'] as const;

/** Filters the requests of persons, and says which stands beside the list; `new` is the form of another one. */
export interface PrivacySearch {
  type?: (typeof TYPES)[number] | undefined;
  state?: (typeof STATES)[number] | undefined;
  overdue?: true | undefined;
  /** Also those that are completed or rejected, where no state is asked for. */
  closed?: true | undefined;
  contact_id?: string | undefined;
  open?: string | undefined;
  /** The kind with which the form of another one begins. */
  ask?: (typeof TYPES)[number] | undefined;
}
