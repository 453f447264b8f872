import { eventLoopLookMs } from '@customer-platform/config';
import { collectDefaultMetrics, Histogram, register } from 'prom-client';

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.3, 0.5, 1, 2.5, 5, 10];

/** The process's Prometheus registry, shown at `/metrics`. Counters of a module are created with it as registry. */
export const metrics = register;

const requestDuration = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'Time from the first byte of a request to the end of its answer',
  labelNames: ['method', 'route', 'status'] as const,
  buckets: BUCKETS,
  registers: [metrics],
});

let collecting = false;

/** Collects the process's own figures (memory, event loop, garbage collection), once per process. */
export function collectProcessMetrics(): void {
  if (collecting) return;
  collecting = true;
  collectDefaultMetrics({ register: metrics, eventLoopMonitoringPrecision: eventLoopLookMs() });
}

/** Notes one answered request. `route` is a pattern, never a path with ids. */
export function observeRequest(method: string, route: string, status: number, milliseconds: number): void {
  requestDuration.observe({ method, route, status: String(status) }, milliseconds / 1000);
}
