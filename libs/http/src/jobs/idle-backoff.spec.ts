import { jest } from '@jest/globals';
import { Pace } from './idle-backoff.js';

describe('a pace', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('is kept while there is work, and slow once there was none for a while', async () => {
    const pace = new Pace(500);
    await jest.advanceTimersByTimeAsync(29_999);
    expect(pace.restMs).toBe(500);
    await jest.advanceTimersByTimeAsync(1);
    expect(pace.restMs).toBe(2_000);
    pace.busy();
    expect(pace.restMs).toBe(500);
  });

  it('never looks more often where nothing is than where something is', async () => {
    const pace = new Pace(10_000);
    await jest.advanceTimersByTimeAsync(60_000);
    expect([pace.restMs, pace.longestMs]).toEqual([10_000, 10_000]);
  });

  it('may be another one', async () => {
    const pace = new Pace(100, { afterMs: 1_000, everyMs: 300 });
    await jest.advanceTimersByTimeAsync(1_000);
    expect(pace.restMs).toBe(300);
  });
});
