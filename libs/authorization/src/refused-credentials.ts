import { Problem } from '@customer-platform/problem-json';
import type { Monotonic } from './monotonic.js';

/** Shorter than the second within which a grant takes effect, so that remembering a refusal needs no other rule. */
const REMEMBERED_MS = 500;
const CAPACITY = 10_000;

type Reason = 'unknown' | 'expired';

/** Credentials refused a moment ago: a caller that goes on knocking costs the registry two look-ups a second. */
export class RefusedCredentials {
  private readonly refusals = new Map<string, { reason: Reason; until: number }>();

  constructor(private readonly clock: Monotonic) {}

  /** @throws Problem if the credential was refused a moment ago. */
  check(keyHash: string): void {
    const refusal = this.refusals.get(keyHash);
    if (!refusal) return;
    if (this.clock.now() < refusal.until) throw problemOf(refusal.reason);
    this.refusals.delete(keyHash);
  }

  /** Notes a refusal and returns the problem to throw. */
  remember(keyHash: string, reason: Reason): Problem {
    this.refusals.delete(keyHash); // to the end of the order of insertion
    this.refusals.set(keyHash, { reason, until: this.clock.now() + REMEMBERED_MS });
    const [eldest] = this.refusals.keys();
    if (this.refusals.size > CAPACITY && eldest !== undefined) this.refusals.delete(eldest);
    return problemOf(reason);
  }
}

function problemOf(reason: Reason): Problem {
  return new Problem(reason === 'expired' ? 'token_expired' : 'invalid_token');
}
