import { NetworkError, ProblemError } from './problem-error.js';

/** How often and for how long a call is tried. */
export interface RetryOptions {
  /** Attempts of one call, the first included. 1: none is repeated. */
  attempts?: number;
  /** No attempt begins later than this after the call did, in milliseconds. */
  withinMs?: number;
  /** The bound of the wait before the second attempt; it doubles with each further one. */
  firstWaitMs?: number;
  /** The bound that it doubles up to. A longer `Retry-After` is kept all the same. */
  longestWaitMs?: number;
}

/**
 * What a repetition could do: `harmless` is done once however often it is sent; `risky` is repeated only where the
 * answer says that nothing was done.
 */
export type Repetition = 'harmless' | 'risky';

export const DEFAULTS: Required<RetryOptions> = {
  attempts: 5,
  withinMs: 60_000,
  firstWaitMs: 250,
  longestWaitMs: 10_000,
};

const PASSING = new Set([408, 429, 502, 503, 504]);
/** Answered before the request was looked at. */
const NOTHING_DONE = new Set([
  'rate_limited',
  'authorization_unavailable',
  'overloaded',
  'queue_unavailable',
  'shutting_down',
  'request_timeout',
]);

function passes(error: unknown, repetition: Repetition): boolean {
  // Another attempt would be led to the same place.
  if (error instanceof NetworkError) return repetition === 'harmless' && error.fault !== 'redirected';
  if (!(error instanceof ProblemError)) return false;
  // The attempt whose answer was lost is still at work; its answer will be kept under the same key.
  if (error.code === 'idempotency_in_progress') return true;
  return PASSING.has(error.status) && (repetition === 'harmless' || NOTHING_DONE.has(error.code));
}

/**
 * How long to wait before the next attempt, or undefined where there is none.
 *
 * Full jitter: callers that failed together do not come back together. What `Retry-After` asks for is waited out
 * first; after `overloaded` the random wait behind it may be as long, for very many were asked the same.
 *
 * @param random from 0 to 1
 */
export function waitBeforeNext(
  error: unknown,
  repetition: Repetition,
  made: { attempts: number; elapsedMs: number },
  options: Required<RetryOptions>,
  random: number,
): number | undefined {
  if (made.attempts >= options.attempts || !passes(error, repetition)) return undefined;
  const asked = error instanceof ProblemError ? (error.retryAfter ?? 0) * 1000 : 0;
  const own = Math.min(options.longestWaitMs, options.firstWaitMs * 2 ** (made.attempts - 1));
  const isCrowded = error instanceof ProblemError && error.code === 'overloaded';
  const wait = asked + random * (isCrowded ? Math.max(own, asked) : own);
  return made.elapsedMs + wait > options.withinMs ? undefined : wait;
}

/** @throws the signal's reason as soon as it is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    if (signal?.aborted === true) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}
