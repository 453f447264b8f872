export const EVENT_TYPES = ['track', 'identify'] as const;

/** What lets events through, in the address. */
export interface EventsSearch {
  event?: string | undefined;
  external_id?: string | undefined;
  contact_id?: string | undefined;
  type?: (typeof EVENT_TYPES)[number] | undefined;
  /** The event beside the list, by its idempotency key: there is one of each. */
  open?: string | undefined;
}

/** Of the earlier ones also those that came until then. */
export interface EarlierSearch extends EventsSearch {
  until?: string | undefined;
}
