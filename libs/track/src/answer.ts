import type { QueuedEvent } from './event.js';

/** What the platform, or something on the way to it, said to a batch. */
export interface Answer {
  /** 0: there was none. */
  readonly status: number;
  /** The body's JSON, if it was JSON. */
  readonly body?: unknown;
  /** `Retry-After`, if it could be read. */
  readonly retryAfter?: string | null;
}

/** What becomes of a batch. */
export interface Outcome {
  /** Accepted: durable at the platform. */
  readonly delivered: QueuedEvent[];
  /** Refused for ever. */
  readonly refused: { event: QueuedEvent; code: string }[];
  /**
   * What to do about the others: send them `later`, send them in `halves` to find the one that the whole was refused for,
   * or `stop`: the platform itself takes no event of this sender until someone has done something about it.
   */
  readonly rest?: 'later' | 'halves' | 'stop';
  /** Why there is a rest. */
  readonly code: string;
}

interface Verdict {
  index?: unknown;
  event_id?: unknown;
  code?: unknown;
  retryable?: unknown;
}

const memberOf = (body: unknown, name: string): unknown =>
  typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined;

/**
 * Reads an answer (contract.md §6). An event leaves the queue only for a verdict on itself that is the platform's own: a
 * page of a proxy or of a hotel's sign-in, whatever its status, is no verdict, on an event or on the sender: a gateway
 * without a backend answers 404 for a moment.
 */
export function judge(batch: readonly QueuedEvent[], { status, body }: Answer): Outcome {
  const delivered: QueuedEvent[] = [];
  const refused: Outcome['refused'] = [];
  const known = new Set<unknown>();
  for (const { index, event_id: eventId, code, retryable } of verdictsIn(body)) {
    const event = batch[index as number];
    if (event === undefined || known.has(index)) continue;
    if (typeof eventId === 'string' && status === 202) delivered.push(event);
    else if (typeof code === 'string' && retryable === false) refused.push({ event, code });
    else continue;
    known.add(index);
  }
  const code = codeOf(status, body);
  if (known.size === batch.length) return { delivered, refused, code };
  const rest = restOf(status, known.size > 0, isPlatforms(body));
  const [only] = batch;
  if (rest !== 'halves' || batch.length > 1 || only === undefined) return { delivered, refused, rest, code };
  // There is nothing left to halve. A proxy's 413 is final as well: no smaller body can be made of one event.
  const isFinal = status === 413 || isPlatforms(body);
  return isFinal
    ? { delivered, refused: [{ event: only, code }], code }
    : { ...{ delivered, refused }, rest: 'later', code };
}

function verdictsIn(body: unknown): Verdict[] {
  const list = memberOf(body, 'results') ?? memberOf(body, 'errors');
  if (!Array.isArray(list)) return [];
  return list.filter((verdict) => Number.isInteger(memberOf(verdict, 'index'))) as Verdict[];
}

function restOf(status: number, judged: boolean, platforms: boolean): 'later' | 'halves' | 'stop' {
  if ((status >= 200 && status < 300) || status === 0 || status === 408 || status === 429 || status >= 500)
    return 'later';
  if (status === 400 || status === 413 || status === 422) return judged ? 'later' : 'halves';
  return platforms ? 'stop' : 'later';
}

/** Every refusal of the platform has a stable code (contract.md §7). */
const isPlatforms = (body: unknown): boolean => typeof memberOf(body, 'code') === 'string';

function codeOf(status: number, body: unknown): string {
  const code = memberOf(body, 'code');
  if (typeof code === 'string') return code;
  if (status === 0) return 'no_answer';
  return status === 413 ? 'body_too_large' : `status_${status}`;
}

/** No wait that a server asks for is longer. */
export const LONGEST_ASKED_MS = 3_600_000;
/** The first pause is up to this long, each later one up to twice the last's bound. */
const FIRST_MS = 1_000;

/** Milliseconds that `Retry-After` asks for, in either of its forms (RFC 9110 §10.2.3); 0 without one. */
export function askedPause(retryAfter: string | null | undefined, now: number): number {
  if (!retryAfter) return 0;
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1_000 : Date.parse(retryAfter) - now;
  return ms > 0 ? Math.min(ms, LONGEST_ASKED_MS) : 0;
}

/** The pause of one's own before the next attempt: full jitter, so that senders that failed together do not return so. */
export function ownPause(failures: number, longestMs: number, random: number): number {
  return random * Math.min(longestMs, FIRST_MS * 2 ** Math.min(failures, 20));
}
