export const EVENT_TYPES = ['track', 'identify'] as const;

/** Lets events through, in the address. */
export interface EventsSearch {
  event?: string | undefined;
  external_id?: string | undefined;
  contact_id?: string | undefined;
  type?: (typeof EVENT_TYPES)[number] | undefined;
  /** The event beside the list, by its idempotency key: there is one of each. */
  open?: string | undefined;
}

/** Lets earlier events through that came until then. */
export interface EarlierSearch extends EventsSearch {
  until?: string | undefined;
}
