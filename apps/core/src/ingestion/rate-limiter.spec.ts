import fc from 'fast-check';
import { limitHeader, policyHeader, RateLimiter } from './rate-limiter.js';

const limits = { keyPerSecond: 10, organizationPerSecond: 15 };

function limiterAt(clock: { now: number }): RateLimiter {
  return new RateLimiter(() => clock.now);
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
