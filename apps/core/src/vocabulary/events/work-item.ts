import { hash } from 'node:crypto';
import { canonicalJson, parseInstant } from '@customer-platform/http';
import type { QueuedEvent } from './event-frame.js';
import type { EventKind, IdentifyBody, TrackBody } from './event-schemas.js';
import { judgeEvent, judgeItem } from './event-validation.js';

/** The parts of the processing at which an event can fail (core.md §6). */
export const STAGES = ['validate', 'resolve', 'store', 'profile', 'segments', 'emit', 'loyalty'] as const;
export type Stage = (typeof STAGES)[number];

/** Code of what was accepted unconfirmed and not confirmed (contract.md §5). */
const CREDENTIAL_REVOKED = 'credential_revoked';

/** Code of what not even a letter could hold: the letter is without it. */
const NOT_KEEPABLE = 'not_keepable';

/** Code of what came under the key of another event: that one has the key. */
export const KEY_CONFLICT = 'idempotency_key_conflict';

/** Codes of letters that claim no key: whoever may send sends the same event under the same key after them. */
export const CLAIMS_NO_KEY: readonly string[] = [CREDENTIAL_REVOKED, NOT_KEEPABLE, KEY_CONFLICT];

/** Why an event goes to the dead letters. */
export interface Failure {
  readonly stage: Stage;
  readonly code: string;
  /** Public text: no SQL, no path, no value. */
  readonly detail: string;
  readonly attempts: number;
  /** Born closed, for this reason: a replay could not help. */
  readonly closed?: string;
}

/** What is known of an event before it is read. */
interface Received {
  readonly organizationId: string;
  readonly eventId: string;
  readonly kind: EventKind;
  /** ISO 8601, UTC. */
  readonly receivedAt: string;
  /** The UTC day on which it was accepted; what its counters fall on. */
  readonly day: string;
  /** Tells this body from another under the same key. */
  readonly fingerprint: string;
  readonly raw: Buffer;
  /** The partition whose counters it moves; -1 for a replay. */
  readonly partition: number;
  readonly unconfirmedKey?: string;
}

/** An event that was read and can be processed. */
export interface WorkItem extends Received {
  readonly body: TrackBody | IdentifyBody;
  readonly occurredAt: string;
  readonly failure?: undefined;
}

/** An event that cannot be processed; it goes to the dead letters in its turn. */
export interface FailedItem extends Received {
  readonly externalId?: string;
  readonly failure: Failure;
  /** Of an event that is stored, and failed at what follows. */
  readonly resumePoint?: ResumePoint;
}

/** An identity that an event added to its contact or took from it; `seen`: a device that became the latest again. */
export interface IdentityNews {
  readonly verb: 'added' | 'removed' | 'seen';
  readonly id: string;
  readonly type: string;
  /** Of a device; never kept, for it may have changed when it is told. */
  readonly device?: { readonly value: string; readonly seen_at: string };
}

/**
 * From where a replay goes on with an event that was stored and failed past that: all that follows the store is before
 * it, and here stands what it has done and not told of. Names and ids only: what is told of the contact is read when it
 * is told, so that no late word overwrites a newer one.
 */
export interface ResumePoint {
  /** On whom the event was stored: what a merge has moved since has told of itself. */
  readonly contactId: string;
  /** Whether the event made the contact. */
  readonly created: boolean;
  /** The contact was soft-deleted, and the event is to have no effect on it. */
  readonly onDeleted: boolean;
  readonly changedFields: readonly string[];
  readonly identities: readonly IdentityNews[];
}

/** An event as it comes to the processing. */
export type Arrival = WorkItem | FailedItem;

/** Reads an event off the queue. What the API once accepted is judged again: a queue outlives a release. */
export function readArrival(event: QueuedEvent, partition: number): Arrival {
  const receivedAt = new Date(event.receivedAt).toISOString();
  const received = {
    organizationId: event.organizationId,
    eventId: event.eventId,
    kind: event.kind,
    receivedAt,
    day: receivedAt.slice(0, 10),
    raw: event.body,
    partition,
    unconfirmedKey: event.unconfirmedKey,
  };
  const read = readBody(event);
  if ('failure' in read) return { ...received, fingerprint: halfHash(event.body), failure: read.failure };
  const { body } = read;
  const occurredAt = parseInstant(body.occurred_at) ?? receivedAt;
  return { ...received, body, occurredAt, fingerprint: fingerprintOf(event.kind, body) };
}

/** The same event as one that failed. */
export function failed(item: Arrival, failure: Failure): FailedItem {
  const { organizationId, eventId, kind, receivedAt, day, fingerprint, raw, partition } = item;
  const externalId = item.failure ? item.externalId : item.body.external_id;
  return { organizationId, eventId, kind, receivedAt, day, fingerprint, raw, partition, externalId, failure };
}

/**
 * The event of a credential that was not valid. Its fingerprint is another than that of the same event from somebody
 * who may send it: neither is a repeat of the other.
 */
export function refused(item: Arrival): FailedItem {
  const code = CREDENTIAL_REVOKED;
  const detail = 'The credential that sent it was not valid when it was accepted.';
  const refusal = failed(item, { stage: 'validate', code, detail, attempts: 1, closed: code });
  return { ...refusal, fingerprint: halfHash(`${code}\n${item.fingerprint}`) };
}

/**
 * The event of which no letter could be written, without what it says and of whom. Its fingerprint is another than that
 * of the event: once the cause is mended, the event may be sent again.
 */
export function withoutContent(
  item: Arrival,
  { stage, attempts }: Pick<Failure, 'stage' | 'attempts'>,
): FailedItem {
  const code = NOT_KEEPABLE;
  const detail = 'The database can hold a value of the event nowhere; send it again once that is mended.';
  const blank = failed(item, { stage, code, detail, attempts, closed: code });
  const fingerprint = halfHash(`${code}\n${item.fingerprint}`);
  return { ...blank, raw: Buffer.alloc(0), externalId: undefined, fingerprint };
}

/**
 * Half of the SHA-256 of the canonical body, in the form of a UUID. Equal for equal events: the order of names, blanks
 * and how a batch names its kind do not matter.
 */
function fingerprintOf(kind: EventKind, body: TrackBody | IdentifyBody): string {
  const event = kind === 'track' ? { properties: {}, ...body, type: kind } : { ...body, type: kind };
  return halfHash(canonicalJson(event));
}

function halfHash(value: string | Buffer): string {
  const digest = hash('sha256', value, 'hex');
  return [
    digest.slice(0, 8),
    digest.slice(8, 12),
    digest.slice(12, 16),
    digest.slice(16, 20),
    digest.slice(20, 32),
  ].join('-');
}

function readBody(event: QueuedEvent): { body: TrackBody | IdentifyBody } | { failure: Failure } {
  const text = event.body.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's message would quote the body.
    return { failure: { stage: 'validate', code: 'malformed_json', detail: 'It is not JSON.', attempts: 1 } };
  }
  const judged = hasType(value)
    ? judgeItem(value, text, event.receivedAt)
    : judgeEvent(event.kind, value, text, event.receivedAt);
  if (judged.errors === undefined) return { body: judged.body };
  const [error] = judged.errors.named;
  const detail = `${error?.pointer ?? ''}: ${error?.detail ?? 'It is not valid.'}`;
  return { failure: { stage: 'validate', code: 'validation_failed', detail, attempts: 1 } };
}

function hasType(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'type');
}
