import type { AuthenticatedCaller } from '@customer-platform/http';
import { BURST_SECONDS } from './shared-bucket.js';
import type { SharedBuckets } from './shared-buckets.js';

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

/** The scope that ran out. */
type RateScope = 'key' | 'organization';

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

/**
 * Limits what a key, its organization and those above that send, counted per event: what an organization sends takes from
 * each above it (identity.md §2). The buckets are shared by all instances of the service; no request waits for another
 * instance or for what they share.
 */
export class RateLimiter {
  constructor(private readonly buckets: SharedBuckets) {}

  /** Takes up to `count` tokens from all of them: as many as the emptiest holds. */
  take(keyId: string, organizationId: string, count: number, limits: RateLimits): Grant {
    const { buckets } = this;
    const now = buckets.now();
    const key = buckets.bucket(organizationId, keyId, limits.keyPerSecond, now);
    const organization = buckets.bucket(organizationId, organizationId, limits.organizationPerSecond, now);
    const above = (limits.above ?? []).map(({ id, organization_per_second: rate }) =>
      buckets.bucket(id, id, rate, now),
    );
    let scarcest = organization;
    for (const each of above) if (each.free < scarcest.free) scarcest = each;
    const ofKey = Math.min(count, key.free);
    const granted = Math.min(ofKey, scarcest.free);
    const scope: RateScope = key.free <= scarcest.free ? 'key' : 'organization';
    // What a limit holds back is no demand on those above it: nothing is leased for it.
    let demand = count;
    for (const bucket of [key, organization, ...above]) {
      const { free } = bucket;
      buckets.spend(bucket, granted, demand);
      demand = Math.min(demand, free);
    }
    const keyLeft = buckets.left(key, now);
    const organizationLeft = buckets.left(scarcest, now);
    if (granted === count) return { granted, limits, keyLeft, organizationLeft, retryAfter: 0 };
    const retryAfter = (scope === 'key' ? key : scarcest).secondsUntilNext(now);
    // Others may hold more of it, but who was refused is told that nothing is left.
    return scope === 'key'
      ? { granted, limits, keyLeft: 0, organizationLeft, scope, retryAfter }
      : { granted, limits, keyLeft, organizationLeft: 0, scope, retryAfter };
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
