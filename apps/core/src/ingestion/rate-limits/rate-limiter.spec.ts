import fc from 'fast-check';
import { DEFAULT_LIMITS, limitHeader, limitsOf, policyHeader, RateLimiter } from './rate-limiter.js';
import { SharedBuckets } from './shared-buckets.js';

const limits = { keyPerSecond: 10, organizationPerSecond: 15 };

function limiterAt(clock: { now: number }): RateLimiter {
  return new RateLimiter(new SharedBuckets(() => clock.now));
}

describe('RateLimiter', () => {
  it('lets a burst of two seconds pass, then names the scope and the pause', () => {
    const limiter = limiterAt({ now: 0 });
    expect(limiter.take('key', 'org', 20, limits)).toMatchObject({ granted: 20, retryAfter: 0 });
    expect(limiter.take('key', 'org', 1, limits)).toMatchObject({ granted: 0, scope: 'key', retryAfter: 1 });
  });

  it('lets of a batch as many pass as still fit', () => {
    const limiter = limiterAt({ now: 0 });
    expect(limiter.take('key', 'org', 25, limits)).toMatchObject({ granted: 20, scope: 'key' });
  });

  it('counts the keys of an organization together', () => {
    const limiter = limiterAt({ now: 0 });
    limiter.take('one', 'org', 20, limits);
    expect(limiter.take('two', 'org', 20, limits)).toMatchObject({ granted: 10, scope: 'organization' });
    expect(limiter.take('two', 'other', 10, limits)).toMatchObject({ granted: 10 });
  });

  describe('of organizations below one', () => {
    const above = [{ id: 'parent', organization_per_second: 25 }];
    const wide = { keyPerSecond: 100, organizationPerSecond: 100 };
    const own = { keyPerSecond: 25, organizationPerSecond: 25 };

    it('counts what they send against it too, however many they are', () => {
      const limiter = limiterAt({ now: 0 });
      const granted = ['one', 'two', 'three', 'four'].map(
        (id) => limiter.take(`key of ${id}`, id, 20, { ...wide, above }).granted,
      );
      expect(granted).toEqual([20, 20, 10, 0]);
      expect(limiter.take('key', 'parent', 1, own)).toMatchObject({ granted: 0, scope: 'organization' });
    });

    it('are known from the caller’s organization, as are its own limits', () => {
      const organization = { id: 'child', status: 'active', settings: {}, ancestors: above } as const;
      const id = { type: 'api_key', id: 'key' } as const;
      const caller = { organizationId: 'child', principal: id, actor: id, permissions: new Set<never>() };
      expect(limitsOf({ ...caller, organization })).toEqual({ ...DEFAULT_LIMITS, above });
      const settings = { rate_limits: { key_per_second: 10, organization_per_second: 15 } };
      const alone = { id: 'child', status: 'active', settings } as const;
      expect(limitsOf({ ...caller, organization: alone })).toEqual(limits);
    });

    it('what it has sent itself is not theirs any more', () => {
      const clock = { now: 0 };
      const limiter = limiterAt(clock);
      limiter.take('key', 'parent', 45, own);
      const refused = limiter.take('other', 'child', 20, { ...wide, above });
      expect(refused).toMatchObject({
        granted: 5,
        scope: 'organization',
        organizationLeft: 0,
        retryAfter: 1,
      });
      clock.now = 1_000;
      expect(limiter.take('other', 'child', 30, { ...wide, above }).granted).toBe(25);
    });

    it('takes of each above as much, and of none more than passes', () => {
      const limiter = limiterAt({ now: 0 });
      const two = [{ id: 'top', organization_per_second: 100 }, ...above];
      expect(limiter.take('key', 'child', 60, { ...wide, above: two }).granted).toBe(50);
      expect(limiter.take('key of top', 'top', 200, wide).granted).toBe(150);
    });
  });

  it('fills again at its rate and no further than the burst', () => {
    const clock = { now: 0 };
    const limiter = limiterAt(clock);
    limiter.take('key', 'org', 20, limits);
    clock.now = 500;
    expect(limiter.take('key', 'org', 20, limits).granted).toBe(5);
    clock.now = 1_000_000;
    expect(limiter.take('key', 'org', 100, limits).granted).toBe(20);
  });

  it('takes a raised limit from the next request on', () => {
    const clock = { now: 0 };
    const limiter = limiterAt(clock);
    limiter.take('key', 'org', 20, limits);
    clock.now = 1000;
    expect(limiter.take('key', 'org', 200, { keyPerSecond: 100, organizationPerSecond: 100 }).granted).toBe(
      100,
    );
  });

  it('says how long a slow scope needs', () => {
    const slow = { keyPerSecond: 1, organizationPerSecond: 1 };
    const limiter = limiterAt({ now: 0 });
    limiter.take('key', 'org', 2, slow);
    expect(limiter.take('key', 'org', 1, slow).retryAfter).toBe(1);
  });

  it('never lets more pass than burst plus rate, whatever the rhythm', () => {
    const rhythm = fc.array(fc.tuple(fc.integer({ min: 0, max: 900 }), fc.integer({ min: 1, max: 40 })), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(rhythm, (calls) => {
        const clock = { now: 0 };
        const limiter = limiterAt(clock);
        let granted = 0;
        for (const [pause, count] of calls) {
          clock.now += pause;
          granted += limiter.take('key', 'org', count, limits).granted;
          expect(granted).toBeLessThanOrEqual(20 + (clock.now / 1000) * 10 + 1e-6);
        }
      }),
    );
  });

  it('states quotas and what is left of them', () => {
    const grant = limiterAt({ now: 0 }).take('key', 'org', 5, limits);
    expect(policyHeader(limits)).toBe('"key";q=20;w=2, "organization";q=30;w=2');
    expect(limitHeader(grant)).toBe('"key";r=15;t=1, "organization";r=25;t=1');
  });
});
