/**
 * What a proxied request costs: one module that answers at once, asked directly and through the gateway, over 32
 * connections. Prints microseconds of CPU a request.
 * Run after a build: `node infra/load/gateway.bench.ts`
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { freePort } from '@customer-platform/kit/ports.ts';
import { readProcesses } from '@customer-platform/kit/processes.ts';

const REQUESTS = 40_000;
const CONNECTIONS = 32;
const BODY = JSON.stringify({
  event: 'invoice_paid',
  external_id: 'customer-1',
  idempotency_key: 'k',
  occurred_at: '2026-11-21T09:30:00Z',
  properties: { amount: 12990, currency: 'CLP', invoice_id: 'F-1' },
});

function serveModule(): void {
  const server = createServer((incoming, response) => {
    incoming.resume().on('end', () => {
      response.writeHead(202, { 'content-type': 'application/json' }).end('{"event_id":"x"}');
    });
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
}

async function compare(): Promise<void> {
  const module = fork(import.meta.filename, ['module']);
  const modulePort = await new Promise<number>((done) => module.once('message', done as () => void));
  const gatewayPort = await freePort();
  const gateway = startGateway(gatewayPort, `http://127.0.0.1:${modulePort}`);
  await listening(gatewayPort);
  for (const [name, port] of [
    ['direct', modulePort],
    ['gateway, cold', gatewayPort],
    ['gateway, warm', gatewayPort],
  ] as const) {
    const before = [cpuOf(module), cpuOf(gateway)] as const;
    const began = performance.now();
    await load(port);
    const rate = (REQUESTS / (performance.now() - began)) * 1000;
    const [own, proxy] = [cpuOf(module) - before[0], cpuOf(gateway) - before[1]];
    process.stdout.write(
      `${name.padEnd(14)} ${rate.toFixed(0)} requests/s; module ${micros(own)} µs, gateway ${micros(proxy)} µs a request\n`,
    );
  }
  module.kill();
  gateway.kill();
}

const micros = (seconds: number): string => ((seconds / REQUESTS) * 1e6).toFixed(0);
const cpuOf = ({ pid }: ChildProcess): number =>
  readProcesses().find((candidate) => candidate.pid === pid)?.cpuSeconds ?? 0;

function startGateway(port: number, upstream: string): ChildProcess {
  const urls = ['CORE', 'CRM', 'IDENTITY', 'MESSAGING', 'LOYALTY'].map(
    (name) => [`${name}_URL`, upstream] as const,
  );
  return spawn(process.execPath, [resolve(import.meta.dirname, '../../apps/gateway/dist/main.js')], {
    env: { PORT: String(port), LOG_LEVEL: 'error', ...(Object.fromEntries(urls) as NodeJS.ProcessEnv) },
    stdio: 'inherit',
  });
}

async function listening(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const up = await fetch(`http://127.0.0.1:${port}/`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (up) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error('The gateway did not start; build it first.');
}

async function load(port: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let left = REQUESTS;
  const worker = async (): Promise<void> => {
    while ((left -= 1) >= 0) await post(agent, port);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  agent.destroy();
}

function post(agent: Agent, port: number): Promise<void> {
  return new Promise((done, fail) => {
    const outgoing = request(
      {
        agent,
        host: '127.0.0.1',
        port,
        path: '/v1/core/track',
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(BODY) },
      },
      (answer) => answer.resume().once('end', done),
    );
    outgoing.once('error', fail);
    outgoing.end(BODY);
  });
}

if (process.argv[2] === 'module') serveModule();
else await compare();
