import type { AuthenticatedCaller } from '@customer-platform/http';

/** What the two scopes of an organization allow, in events per second (contract.md §6). */
export interface RateLimits {
  readonly keyPerSecond: number;
  readonly organizationPerSecond: number;
  /** Organizations above, each with a limit of its own for all that it and those below it send. */
  readonly above?: readonly { readonly id: string; readonly organization_per_second: number }[];
}

/** The limits of an organization that has none of its own. */
export const DEFAULT_LIMITS: RateLimits = { keyPerSecond: 1_000, organizationPerSecond: 2_000 };

/** The limits of a caller's organization (identity.md §2, `settings.rate_limits`). */
export function limitsOf(caller: AuthenticatedCaller): RateLimits {
  const { settings, ancestors: above } = caller.organization;
  const { rate_limits: own } = settings;
  const limits = own
    ? { keyPerSecond: own.key_per_second, organizationPerSecond: own.organization_per_second }
    : DEFAULT_LIMITS;
  return above ? { ...limits, above } : limits;
}

/** A burst of so many seconds' worth passes at once. */
export const BURST_SECONDS = 2;

/** The scope that ran out. */
export type RateScope = 'key' | 'organization';

/** What became of a request for tokens, and what is left, for the headers of the answer. */
export interface Grant {
  /** How many of the events asked for pass. */
  readonly granted: number;
  readonly limits: RateLimits;
  readonly keyLeft: number;
  readonly organizationLeft: number;
  /** Set when not all passed: the scope that let fewer through. */
  readonly scope?: RateScope;
  /** Whole seconds until another event passes; 0 unless `scope` is set. */
  readonly retryAfter: number;
}

interface Bucket {
  tokens: number;
  filledAt: number;
}

interface RatedBucket {
  readonly bucket: Bucket;
  readonly rate: number;
}

/** A bucket untouched for so long is full again whatever its rate, and is forgotten. */
const FORGET_AFTER_MS = BURST_SECONDS * 1000 * 5;

/**
 * Token buckets of the key, its organization and those above that, counted per event: what an organization sends takes
 * from each above it (identity.md §2). Held in memory: each instance
 * of the service counts what it answers itself.
 */
export class RateLimiter {
  private readonly buckets = new Map<string, Bucket>();
  private sweptAt = 0;

  /** @param now milliseconds that only grow */
  constructor(private readonly now: () => number) {}

  /** Takes up to `count` tokens from all of them: as many as the emptiest holds. */
  take(keyId: string, organizationId: string, count: number, limits: RateLimits): Grant {
    const now = this.now();
    this.sweep(now);
    const key = this.bucket(keyId, limits.keyPerSecond, now);
    const organization = this.bucket(organizationId, limits.organizationPerSecond, now);
    const scarcest = this.scarcest(limits, { bucket: organization, rate: limits.organizationPerSecond }, now);
    const granted = Math.min(count, Math.floor(key.tokens), Math.floor(scarcest.bucket.tokens));
    key.tokens -= granted;
    organization.tokens -= granted;
    for (const { id } of limits.above ?? []) {
      const above = this.buckets.get(id);
      if (above) above.tokens -= granted;
    }
    const left = {
      limits,
      granted,
      keyLeft: Math.floor(key.tokens),
      organizationLeft: Math.floor(scarcest.bucket.tokens),
    };
    if (granted === count) return { ...left, retryAfter: 0 };
    const scope: RateScope = key.tokens <= scarcest.bucket.tokens ? 'key' : 'organization';
    const { bucket, rate } = scope === 'key' ? { bucket: key, rate: limits.keyPerSecond } : scarcest;
    return { ...left, scope, retryAfter: Math.max(1, Math.ceil((1 - bucket.tokens) / rate)) };
  }

  /** Of the organization and those above it, the one with the fewest tokens. */
  private scarcest({ above = [] }: RateLimits, own: RatedBucket, now: number): RatedBucket {
    let scarcest = own;
    for (const { id, organization_per_second: rate } of above) {
      const bucket = this.bucket(id, rate, now);
      if (bucket.tokens < scarcest.bucket.tokens) scarcest = { bucket, rate };
    }
    return scarcest;
  }

  private bucket(id: string, perSecond: number, now: number): Bucket {
    const capacity = perSecond * BURST_SECONDS;
    const bucket = this.buckets.get(id);
    if (!bucket) {
      const fresh = { tokens: capacity, filledAt: now };
      this.buckets.set(id, fresh);
      return fresh;
    }
    bucket.tokens = Math.min(capacity, bucket.tokens + ((now - bucket.filledAt) / 1000) * perSecond);
    bucket.filledAt = now;
    return bucket;
  }

  private sweep(now: number): void {
    if (now - this.sweptAt < FORGET_AFTER_MS) return;
    this.sweptAt = now;
    for (const [id, bucket] of this.buckets) {
      if (now - bucket.filledAt >= FORGET_AFTER_MS) this.buckets.delete(id);
    }
  }
}

/** The quotas, as `RateLimit-Policy` states them (draft-ietf-httpapi-ratelimit-headers). */
export function policyHeader(limits: RateLimits): string {
  const quota = (perSecond: number): string => `q=${perSecond * BURST_SECONDS};w=${BURST_SECONDS}`;
  return `"key";${quota(limits.keyPerSecond)}, "organization";${quota(limits.organizationPerSecond)}`;
}

/** What is left of the quotas and the seconds until they are whole again, as `RateLimit` states them. */
export function limitHeader({ limits, keyLeft, organizationLeft }: Grant): string {
  const rest = (left: number, perSecond: number): string =>
    `r=${left};t=${Math.ceil(BURST_SECONDS - left / perSecond)}`;
  return `"key";${rest(keyLeft, limits.keyPerSecond)}, "organization";${rest(organizationLeft, limits.organizationPerSecond)}`;
}
