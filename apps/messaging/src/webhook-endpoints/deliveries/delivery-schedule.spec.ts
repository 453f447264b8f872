import { nextTry } from './delivery-schedule.js';

const NOW = new Date('2026-11-21T12:00:00.000Z');
const FAILED = { failure: 'timeout' } as const;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function pauseMs(
  attempts: number,
  answer: Parameters<typeof nextTry>[1] = FAILED,
  random = 0.5,
): number | undefined {
  const next = nextTry(attempts, answer, NOW, random);
  return next && next.getTime() - NOW.getTime();
}

describe('nextTry', () => {
  it('goes through the schedule and ends after the tenth try', () => {
    expect(Array.from({ length: 11 }, (_, n) => pauseMs(n + 1))).toEqual([
      5_000,
      5 * MINUTE,
      30 * MINUTE,
      2 * HOUR,
      5 * HOUR,
      10 * HOUR,
      14 * HOUR,
      20 * HOUR,
      24 * HOUR,
      undefined,
      undefined,
    ]);
  });

  it('varies by 20 % to both sides', () => {
    expect(pauseMs(4, FAILED, 0)).toBe(1.6 * HOUR);
    expect(pauseMs(4, FAILED, 1)).toBe(2.4 * HOUR);
  });

  it.each([
    ['3600', 1, HOUR],
    ['Sat, 21 Nov 2026 14:00:00 GMT', 1, 2 * HOUR],
    // What it asks for is the least, not the most.
    ['1', 2, 5 * MINUTE],
    ['99999999', 1, 24 * HOUR],
    ['Sat, 21 Nov 2026 10:00:00 GMT', 1, 5_000],
    ['-5', 1, 5_000],
    ['soon', 1, 5_000],
    ['', 1, 5_000],
    [undefined, 1, 5_000],
  ])('waits as Retry-After: %s asks', (retryAfter, attempts, expected) => {
    expect(pauseMs(attempts, { status: 503, retryAfter })).toBe(expected);
  });

  it('has no try after the last one, whatever is asked for', () => {
    expect(pauseMs(10, { status: 503, retryAfter: '5' })).toBeUndefined();
  });
});
