import { setImmediate as turn } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { Problem } from '@customer-platform/problem-json';
import { log } from '../observe/log.js';
import { metrics } from '../observe/metrics.js';
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
      takes: null,
      everyMs: 1_000,
      pass: () =>
        new Promise<void>((resolve) => {
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
      takes: null,
      everyMs: 1_000,
      random: () => 0.5,
      pass: () => {
        failures += 1;
        return Promise.reject(new Problem('dependency_unavailable'));
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

  it('begins later where it is told to, keeps its pace in between, and none after its end', async () => {
    const passes: number[] = [];
    const began = Date.now();
    const job = new PollingJob({
      name: 'later',
      takes: null,
      everyMs: 10_000,
      random: () => 0.5,
      pass: () => {
        passes.push(Date.now() - began);
        return Promise.resolve();
      },
    });
    job.start(4_000);
    await jest.advanceTimersByTimeAsync(30_000);
    expect(passes).toEqual([4_000, 14_000, 24_000]);
    const pace = await metrics.getSingleMetricAsString('job_pace_seconds');
    expect(pace).toContain('job_pace_seconds{job_name="later"} 10');
    await job.stop();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(passes).toHaveLength(3);
  });

  it('counts failures from the last piece that was done, within a pass too', async () => {
    let pieces = 0;
    const passes: number[] = [];
    const began = Date.now();
    const job: PollingJob = new PollingJob({
      name: 'in pieces',
      takes: null,
      everyMs: 1_000,
      random: () => 0.5,
      pass: () => {
        passes.push(Date.now() - began);
        return job.drain(() => {
          pieces += 1;
          return pieces % 2 === 1
            ? Promise.resolve(true)
            : Promise.reject(new Problem('dependency_unavailable'));
        });
      },
    });
    job.start();
    for (let half = 0; half < 11; half += 1) {
      // Pieces follow each other by turns of the loop, which are no timers.
      await turn();
      await jest.advanceTimersByTimeAsync(500);
    }
    expect(passes).toEqual([0, 1_000, 2_000, 3_000, 4_000, 5_000]);
    await job.stop();
  });

  it('looks less often once its passes have found nothing for a while, and at its pace when it is woken', async () => {
    const passes: number[] = [];
    const began = Date.now();
    let found = false;
    const job = new PollingJob({
      name: 'quiet',
      takes: null,
      everyMs: 500,
      random: () => 0.5,
      pass: () => {
        passes.push(Date.now() - began);
        return Promise.resolve(found);
      },
    });
    job.start();
    await jest.advanceTimersByTimeAsync(40_000);
    expect(passes.filter((at) => at <= 30_000)).toHaveLength(61);
    expect(passes.filter((at) => at > 30_000)).toEqual([32_000, 34_000, 36_000, 38_000, 40_000]);
    found = true;
    passes.length = 0;
    job.wake();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(passes).toEqual([40_000, 40_500, 41_000]);
    await job.stop();
  });
});
