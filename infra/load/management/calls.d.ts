/** What the calls take their ids and values from. */
export interface Sample {
  /** `METHOD path` of what the platform serves. */
  routes: string[];
  contacts: { id: string; external_id: string; email: string; phone: string; last_name: string }[];
  events: { id: string; idempotency_key: string }[];
  /** A contact with a national id, and a segment. */
  identified: string;
  segment: string;
  /** A dead letter that fails again whenever it is replayed. */
  deadLetter: string;
  /** Paths of page 2,000. */
  deepContacts: string;
  deepEvents: string;
  /** An instant a day before the newest event, and a date 399 days ago. */
  recent: string;
  longAgo: string;
}

/** A call of one route. */
export interface Call {
  name: string;
  route: string;
}

export const READS: readonly (Call & { path(sample: Sample, n: number): string })[];
export const LIFE: readonly Call[];
export const SEGMENT_NAME: string;
export const SEGMENT_LIFE: readonly Call[];
export const WRITES: readonly Call[];
