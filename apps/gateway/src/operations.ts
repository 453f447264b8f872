import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { moduleServer, type ModulesTls } from '@customer-platform/config';
import type { Observed } from './observed.js';

/**
 * The gateway's own health and metrics, on a listener of their own: the public one shows the modules' routes only.
 * It is ready as soon as it listens; a module that is away is that module's readiness, not the gateway's.
 */
export async function startOperations(
  observed: Observed,
  where: { host: string; port: number; tls?: ModulesTls | undefined },
  isDraining: () => boolean,
): Promise<{ server: Server; port: number }> {
  const server = moduleServer(where.tls, {}, (request, response) => {
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
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(where.port, where.host, resolve);
  });
  return { server, port: (server.address() as AddressInfo).port };
}
