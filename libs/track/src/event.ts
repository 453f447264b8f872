/** What happened, in fields of the sender's own choosing. Anything that JSON can carry. */
export type Properties = Readonly<Record<string, unknown>>;

/** What both calls take. */
export interface EventOptions {
  /** Whose event it is; without it the last one that `identify` named, else the tracker's. */
  externalId?: string;
  /** When it happened, if not now. A text needs an offset: `2026-11-21T09:30:00-03:00`. */
  occurredAt?: Date | string;
  /** Makes this call and any other with the same key one event, for ever: an invoice's number, say. */
  idempotencyKey?: string;
}

/** What `identify` takes beside. */
export interface IdentifyOptions extends Omit<EventOptions, 'externalId'> {
  /** Other names of the same person, such as `{ type: 'anonymous_id', value: '…' }`. */
  identities?: readonly { type: string; value: string }[];
}

/** An event as it travels: what `onDrop` is told of. Fields that could not be read are absent. */
export interface SentEvent {
  readonly type: 'track' | 'identify';
  readonly event?: string;
  readonly external_id?: string;
  readonly idempotency_key?: string;
  readonly occurred_at?: string;
  readonly properties?: Properties;
  readonly traits?: Properties;
}

/** An event in a queue. Its text never changes: every attempt sends the same key with the same body. */
export interface QueuedEvent {
  /** Sorts in the order of the calls. */
  readonly id: string;
  /** JSON. */
  readonly text: string;
}

/** What one event may have, in bytes (contract.md §2). */
export const EVENT_BYTES = 32 * 1024;
/** So far ahead of its own clock the platform takes an event (contract.md §6). */
const HOUR = 3_600_000;

/** Thrown inside JSON.stringify as soon as it is clear that the text would be too long. */
const TOO_LARGE = new RangeError('too large');

/** Why a value became no event. */
export type Unfit = 'too_large' | 'not_serializable';

/** Bytes of a text in UTF-8. */
export function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Whether a text can be one item of a batch, and no more than one: it is written into the body as it is. */
export function isEvent(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return (
      typeof value === 'object' && value !== null && !Array.isArray(value) && bytesOf(text) <= EVENT_BYTES
    );
  } catch {
    return false;
  }
}

/**
 * An event's JSON, or why there is none. A hostile `toJSON`, a cycle, a bigint throw; what is huge is given up after as
 * many values and characters as an event may have bytes, before it costs the page time.
 */
export function toText(event: object): { text: string } | { unfit: Unfit } {
  let left = EVENT_BYTES;
  try {
    const text = JSON.stringify(event, (name, value: unknown) => {
      left -= name.length + (typeof value === 'string' ? value.length : 1);
      if (left < 0) throw TOO_LARGE;
      return value;
    });
    return bytesOf(text) > EVENT_BYTES ? { unfit: 'too_large' } : { text };
  } catch (error) {
    return { unfit: error === TOO_LARGE ? 'too_large' : 'not_serializable' };
  }
}

/**
 * Times of one sender's events: no two are the same and none is before the last, though the clock is set back, so that
 * their order stays that of the calls. A clock that was set back by more than an hour had been wrong before: what followed
 * it would be refused as of the future.
 */
export class EventClock {
  private last = 0;

  constructor(private readonly now: () => number) {}

  next(): number {
    const now = this.now();
    this.last = now > this.last || now < this.last - HOUR ? now : this.last + 1;
    return this.last;
  }
}

/** A UUID of version 7 (RFC 9562): sorts by its time. */
export function uuidV7(ms: number): string {
  const random = crypto.getRandomValues(new Uint8Array(10));
  const hex = (from: number, to: number): string =>
    Array.from(random.subarray(from, to), (byte) => byte.toString(16).padStart(2, '0')).join('');
  const time = ms.toString(16).padStart(12, '0');
  const variant = (0x80 | ((random[2] ?? 0) & 0x3f)).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(0, 2).slice(1)}-${variant}${hex(3, 4)}-${hex(4, 10)}`;
}
