import { jest } from '@jest/globals';
import { log, metrics } from '@customer-platform/http';
import { DatabaseUnavailable } from '../errors.js';
import { PollingJob } from './polling-job.js';

beforeEach(() => {
  jest.useFakeTimers({ now: new Date('2026-03-01T00:00:00Z') });
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

async function lastPassOf(job: string): Promise<number> {
  const text = await metrics.getSingleMetricAsString('job_last_pass_timestamp_seconds');
  return Number(new RegExp(`\\{job_name="${job}"\\} (.*)$`, 'm').exec(text)?.[1]);
}

describe('a polling job', () => {
  it('is seen to come on while one pass does not end, for there is always more', async () => {
    const began = Date.now() / 1_000;
    let ended = (): void => undefined;
    const job = new PollingJob({
      name: 'endless',
      everyMs: 1_000,
      pass: () =>
        new Promise((resolve) => {
          ended = resolve;
        }),
    });
    job.start();
    await jest.advanceTimersByTimeAsync(900_000);
    expect(await lastPassOf('endless')).toBe(began);
    job.progressed();
    expect(await lastPassOf('endless')).toBe(began + 900);
    ended();
    await job.stop();
  });

  it('tells of failures that should pass by themselves only when they go on', async () => {
    const told = jest.spyOn(log, 'warn');
    let failures = 0;
    const job = new PollingJob({
      name: 'without a database',
      everyMs: 1_000,
      random: () => 0.5,
      pass: () => {
        failures += 1;
        return Promise.reject(new DatabaseUnavailable(new Error('away')));
      },
    });
    job.start();
    for (const [after, toldOf] of [
      [4, 0],
      [5, 1],
      [9, 1],
      [10, 2],
    ] as const) {
      while (failures < after) await jest.advanceTimersByTimeAsync(500);
      expect(told.mock.calls).toHaveLength(toldOf);
    }
    expect(told).toHaveBeenLastCalledWith(
      expect.objectContaining({ job: 'without a database', failures: 10 }),
      expect.any(String),
    );
    await job.stop();
  });
});
