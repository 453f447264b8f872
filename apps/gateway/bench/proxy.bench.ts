/**
 * What a proxied request costs: one module that answers at once, asked directly and through the gateway, by a
 * client with 32 connections in a process of its own. Prints microseconds of CPU a request.
 * Run: `npx nx build gateway && node apps/gateway/bench/proxy.bench.ts`
 */
import { type ChildProcess, fork } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';

const REQUESTS = 40_000;
const BODY = JSON.stringify({
  event: 'invoice_paid',
  external_id: 'customer-1',
  idempotency_key: 'k',
  occurred_at: '2026-11-21T09:30:00Z',
  properties: { amount: 12990, currency: 'CLP', invoice_id: 'F-1' },
});

type Message = { url?: string; cpu?: number };

function started(
  role: string,
  ...rest: string[]
): Promise<{ child: ChildProcess; url: string; cpu(): Promise<number> }> {
  const child = fork(import.meta.filename, [role, ...rest]);
  const next = (): Promise<Message> => new Promise((resolve) => child.once('message', resolve as () => void));
  return next().then(({ url }) => ({
    child,
    url: url as string,
    cpu: async () => {
      child.send('cpu');
      return (await next()).cpu as number;
    },
  }));
}

async function serve(role: string | undefined, upstream: string | undefined): Promise<void> {
  let url: string;
  if (role === 'module') {
    const server = createServer((request, response) => {
      request
        .resume()
        .on('end', () =>
          response.writeHead(202, { 'content-type': 'application/json' }).end('{"event_id":"x"}'),
        );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  } else {
    const { startGateway } = (await import('../dist/gateway.js')) as typeof import('../src/gateway.ts');
    const origin = upstream as string;
    const upstreams = { core: origin, crm: origin, identity: origin, messaging: origin, loyalty: origin };
    const config = {
      host: '127.0.0.1',
      port: 0,
      internalPort: 0,
      upstreams,
      tls: undefined,
      trustForwarded: false,
    };
    url = (await startGateway(config, { version: 'bench', asyncApi: {} })).url;
  }
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.({ cpu: user + system });
  });
  process.send?.({ url });
}

async function load(url: string): Promise<void> {
  const pool = new Pool(url, { connections: 32 });
  let left = REQUESTS;
  await Promise.all(
    Array.from({ length: 32 }, async () => {
      while ((left -= 1) >= 0) {
        const { body } = await pool.request({
          path: '/v1/core/track',
          method: 'POST',
          headers: { authorization: 'Bearer cpk_live_x', 'content-type': 'application/json' },
          body: BODY,
        });
        await body.dump();
      }
    }),
  );
  await pool.close();
}

if (process.argv[2] !== undefined) await serve(process.argv[2], process.argv[3]);
else {
  const module = await started('module');
  const gateway = await started('gateway', module.url);
  for (const [name, url] of [
    ['direct', module.url],
    ['gateway', gateway.url],
    ['gateway again', gateway.url],
  ] as const) {
    const before = [await module.cpu(), await gateway.cpu()] as const;
    const began = performance.now();
    await load(url);
    const seconds = (performance.now() - began) / 1000;
    const [own, proxy] = [(await module.cpu()) - before[0], (await gateway.cpu()) - before[1]];
    process.stdout.write(
      `${name.padEnd(14)} ${(REQUESTS / seconds).toFixed(0)} requests/s; module ${(own / REQUESTS).toFixed(0)} µs, gateway ${(proxy / REQUESTS).toFixed(0)} µs a request\n`,
    );
  }
  module.child.kill();
  gateway.child.kill();
}
