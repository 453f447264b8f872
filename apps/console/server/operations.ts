import type { Server } from 'node:http';
import { collectDefaultMetrics, Counter, Registry } from 'prom-client';
import { moduleServer, type ModulesTls } from '@customer-platform/config';
import { listen } from './console-server.js';

/** What the Console's server tells Prometheus. */
export class Observed {
  readonly registry = new Registry();
  private readonly answers = new Counter({
    name: 'console_requests_total',
    help: 'Requests answered, by status.',
    labelNames: ['status'],
    registers: [this.registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  /** One answer. */
  record(status: number): void {
    this.answers.inc({ status });
  }
}

/** Health and metrics, on a listener of their own. It is ready as soon as it listens, and not any more once it drains. */
export async function startOperations(
  observed: Observed,
  { host, port, tls }: { host: string; port: number; tls?: ModulesTls | undefined },
  isDraining: () => boolean,
): Promise<Server> {
  const server = moduleServer(tls, {}, (request, response) => {
    if (request.url === '/metrics') {
      observed.registry.metrics().then(
        (text) => response.writeHead(200, { 'content-type': observed.registry.contentType }).end(text),
        // A metric that cannot be read must not end who serves everybody.
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
      return;
    }
    const live = request.url === '/health/live';
    if (!live && request.url !== '/health/ready') return void response.writeHead(404).end();
    const up = live || !isDraining();
    response.writeHead(up ? 200 : 503, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ status: up ? 'ok' : 'draining' }));
  });
  await listen(server, host, port);
  return server;
}
