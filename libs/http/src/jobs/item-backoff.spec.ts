import { metrics } from '../observe/metrics.js';
import { ItemBackoff } from './item-backoff.js';

describe('the metrics of a job', () => {
  it('name it by a label that Prometheus does not give itself', async () => {
    const backoff = new ItemBackoff('spec', { now: () => new Date() });
    backoff.failed('one', new Error('fails'));
    const failures = await metrics.getSingleMetricAsString('job_failures_total');
    expect(failures).toContain('job_failures_total{job_name="spec"} 1');
    expect(failures).not.toContain('{job=');
  });

  it('count an item as set aside until it comes through, or is not found any more', async () => {
    let now = new Date('2026-03-01T00:00:00Z');
    const backoff = new ItemBackoff('aside', { now: () => now });
    const later = (minutes: number): void => {
      now = new Date(now.getTime() + minutes * 60_000);
    };
    const aside = async (): Promise<string> => metrics.getSingleMetricAsString('job_items_set_aside');
    for (let attempt = 0; attempt < 5; attempt += 1) {
      for (const item of ['done', 'gone', 'fails on']) backoff.failed(item, new Error('fails'));
      later(1);
    }
    expect(await aside()).toContain('{job_name="aside"} 3');
    backoff.passed('done');
    expect(await aside()).toContain('{job_name="aside"} 2');
    later(5);
    expect(backoff.failed('fails on', new Error('fails'))).toBe(6);
    later(8);
    expect(await aside()).toContain('{job_name="aside"} 1');
    expect(backoff.failed('fails on', new Error('fails'))).toBe(7);
    later(20);
    expect(await aside()).toContain('{job_name="aside"} 0');
    expect(backoff.failed('fails on', new Error('fails'))).toBe(1);
  });

  it('remember an item for as long as a slow job needs to come to it again', async () => {
    let now = new Date('2026-03-01T00:00:00Z');
    const backoff = new ItemBackoff('slow', { now: () => now }, 2 * 3_600_000);
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      expect(backoff.failed('one', new Error('fails'))).toBe(attempt);
      now = new Date(now.getTime() + 3_600_000);
    }
    expect(await metrics.getSingleMetricAsString('job_items_set_aside')).toContain('{job_name="slow"} 1');
  });
});
