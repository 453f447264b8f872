import type { SendState } from '../vocabulary/sends/send-state.js';

/** What a provider can say of a message (messaging.md §7). */
export const REPORTED_EVENTS = [
  'delivered',
  'deferred',
  'bounced',
  'complained',
  'opened',
  'clicked',
  'failed',
  'stopped',
] as const;
/** One of them. */
export type ReportedEvent = (typeof REPORTED_EVENTS)[number];

/** One thing a provider says of one message. */
export interface ProviderReport {
  readonly messageId: string;
  readonly event: ReportedEvent;
  /** The provider's own id of the event; without it a message has each event once. */
  readonly eventId: string | null;
  readonly bounceType: 'hard' | 'soft' | null;
  readonly occurredAt: Date;
  /** The send that the callback named, where its message id may not be known. */
  readonly namedSend: string | null;
  /** Who asked to be left alone, where that was no answer to one message. */
  readonly stopOf: string | null;
}

/** The state a report leads to; undefined where it is only noted. */
export function stateOf(event: ReportedEvent): SendState | undefined {
  switch (event) {
    case 'deferred':
    case 'stopped':
      return undefined;
    case 'failed':
      return 'bounced';
    default:
      return event;
  }
}

/** What makes a repeat of a report known as one, beside provider and message. */
export function eventKeyOf({ event, eventId }: ProviderReport): string {
  return eventId === null ? `event:${event}` : `id:${eventId}`;
}
