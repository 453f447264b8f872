import type { ItemOf } from '@customer-platform/client';

export type StoredEvent = ItemOf<'/v1/core/events'>;
type DeadLetter = ItemOf<'/v1/core/dead-letters'>;

/** A dead letter in the stream; of its content only what the reader may see. */
export type FailedEvent = Pick<DeadLetter, 'event_id' | 'code'> & Partial<DeadLetter>;

/** One line of the live list. `at` is when the platform took the event. */
export type Entry = { key: string; at: string } & (
  { kind: 'recorded'; event: StoredEvent } | { kind: 'dead_lettered'; letter: FailedEvent }
);

export function entryOfEvent(event: StoredEvent): Entry {
  return { kind: 'recorded', key: event.id, at: event.received_at, event };
}

/** An event that failed twice is two lines: it failed at two times. */
export function entryOfLetter(letter: FailedEvent, now: Date): Entry {
  const at = letter.last_failed_at ?? now.toISOString();
  return {
    kind: 'dead_lettered',
    key: `${letter.event_id} ${letter.code} ${letter.attempts ?? ''}`,
    at,
    letter,
  };
}
