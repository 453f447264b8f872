import { metrics } from '@customer-platform/http';
import { Setbacks } from './setbacks.js';

describe('the metrics of a job', () => {
  it('name it by a label that Prometheus does not give itself', async () => {
    const setbacks = new Setbacks('spec', { now: () => new Date() });
    setbacks.failed('one', new Error('fails'));
    const failures = await metrics.getSingleMetricAsString('job_failures_total');
    expect(failures).toContain('job_failures_total{job_name="spec"} 1');
    expect(failures).not.toContain('{job=');
  });
});
