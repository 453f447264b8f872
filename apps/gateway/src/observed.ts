import { eventLoopLookMs } from '@customer-platform/config';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

const SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.3, 0.5, 1, 2.5, 10];

/** Tells how much a module is asked at once. */
interface Limited {
  readonly limit: number | undefined;
  readonly waiting: number;
}

/** What the gateway tells Prometheus: requests by module and status, and how long they took at the front door. */
export class Observed {
  readonly registry = new Registry();
  private readonly requests = new Counter({
    name: 'gateway_requests_total',
    help: 'Requests answered, by module and status; 499 where the caller went away.',
    labelNames: ['module', 'status'],
    registers: [this.registry],
  });
  private readonly duration = new Histogram({
    name: 'gateway_request_duration_seconds',
    help: 'From the request’s head to the end of its answer.',
    labelNames: ['module'],
    buckets: SECONDS,
    registers: [this.registry],
  });
  private readonly overloads = new Counter({
    name: 'gateway_overloaded_total',
    help: 'Requests refused because their module was overloaded, by module and class of routes.',
    labelNames: ['module', 'class'],
    registers: [this.registry],
  });

  constructor() {
    collectDefaultMetrics({
      register: this.registry,
      eventLoopMonitoringPrecision: eventLoopLookMs(),
    });
  }

  /** One that was refused because its module was overloaded. */
  refuse(module: string, route: string): void {
    this.overloads.inc({ module, class: route });
  }

  /** Shows how many requests each module is asked at once, and how many it may be, as they are when they are read. */
  showLimits(read: () => readonly (readonly [module: string, limited: Limited])[]): void {
    const limits = new Gauge({
      name: 'gateway_module_limit',
      help: 'Requests that the module may be asked at once, by module; none where there is no limit.',
      labelNames: ['module'],
      registers: [this.registry],
      collect: () => {
        limits.reset();
        for (const [module, { limit }] of read()) if (limit !== undefined) limits.set({ module }, limit);
      },
    });
    const waiting = new Gauge({
      name: 'gateway_module_waiting',
      help: 'Requests that the module has not begun to answer, by module.',
      labelNames: ['module'],
      registers: [this.registry],
      collect: () => {
        for (const [module, { waiting: count }] of read()) waiting.set({ module }, count);
      },
    });
  }

  /** One that lasted for as long as somebody listened, which says nothing of how long an answer takes. */
  count(module: string, status: number): void {
    this.requests.inc({ module, status });
  }

  /** @param began `performance.now()` when the head had arrived, in milliseconds. */
  record(module: string, status: number, began: number): void {
    this.count(module, status);
    this.duration.observe({ module }, (performance.now() - began) / 1000);
  }
}
