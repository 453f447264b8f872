import type { StoredAnswer } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import type { CallDigests, IdempotentCall } from './kept-answers.js';

/** The answer, and whether it was given before: then it goes out with `Idempotent-Replay: true`. */
export interface IdempotentAnswer extends StoredAnswer {
  replayed: boolean;
}

/** Makes the keyed digests of a call. */
export type CallDigester = (call: IdempotentCall) => CallDigests;

/** Contract §2: a concurrent call waits this long before 409 `idempotency_in_progress`. */
export const PATIENCE_MS = 5_000;
/** How often it looks meanwhile. No connection is held while waiting, or a few repeated calls would drain the pool. */
export const POLL_MS = 40;

/** The name of the lock under which a call is performed. */
export function lockOf({ organizationId, route, key }: IdempotentCall): string {
  return `idempotency:${organizationId}:${route}:${key}`;
}

/** What a call is told whose patience has ended. */
export function inProgress(): Problem {
  return new Problem('idempotency_in_progress', { headers: { 'Retry-After': '1' } });
}
