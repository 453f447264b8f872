/**
 * Measures what slow clients do to others: as many of each kind as it is told, from 1, 10 and 100 networks, and beside them
 * calls of three routes from elsewhere, at a steady rate. Who is let go comes back after a second. Prints the p95 of the
 * calls with and without them, as a proportion (of three turns the middle one), and the gateway's memory.
 * Run after a build: `node infra/load/slow-callers.bench.ts [CLIENTS] [KIND] [SECONDS]`
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { Agent, createServer, request } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '@customer-platform/kit/ports.ts';
import { readProcesses } from '@customer-platform/kit/processes.ts';

const CLIENTS = Number(process.argv[2] ?? 400);
const ONLY = process.argv[3];
/** Seconds for which the calls of a turn go on: in a few, slow ones are let go, and come back. */
const SECONDS = Number(process.argv[4] ?? 5);
const CALLS_A_SECOND = 400;
const TURNS = 3;
const ROUTES = ['/v1/core/track', '/oauth/token', '/v1/messaging/webhooks/ses'];
const LARGE = Buffer.alloc(4 << 20, 'a');

interface Kind {
  readonly head: string;
  readonly drips?: boolean;
  /** It reads nothing. */
  readonly deaf?: boolean;
  /** It reads what is there once a second. */
  readonly sips?: boolean;
}

const READS = 'GET /v1/core/large HTTP/1.1\r\nHost: a\r\nADDRESS\r\n'.repeat(5);

/** A client of each kind sends this, and then a byte a second or nothing. */
const KINDS: Readonly<Record<string, Kind>> = {
  chunked: { head: 'POST PATH HTTP/1.1\r\nHost: a\r\nADDRESSTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n' },
  'one byte short': {
    head: `POST PATH HTTP/1.1\r\nHost: a\r\nADDRESSContent-Length: 65536\r\n\r\n${'a'.repeat(65_535)}`,
  },
  dripping: { head: 'POST PATH HTTP/1.1\r\nHost: a\r\nADDRESSContent-Length: 60000\r\n\r\n', drips: true },
  'slow readers': { head: READS, deaf: true },
  'sipping readers': { head: READS, deaf: true, sips: true },
  'whole, unanswered': {
    head: `POST /v1/crm/stuck HTTP/1.1\r\nHost: a\r\nADDRESSContent-Length: 262144\r\n\r\n${'a'.repeat(262_144)}`,
  },
};

function serveModule(): void {
  const server = createServer((incoming, response) => {
    incoming.on('error', () => undefined).resume();
    if (incoming.url === '/v1/crm/stuck') return;
    if (incoming.url === '/v1/core/large') response.end(LARGE);
    else incoming.once('end', () => response.end('{}'));
  });
  process.once('disconnect', () => process.exit());
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
}

async function compare(): Promise<void> {
  const module = fork(import.meta.filename, ['module']);
  const modulePort = await new Promise<number>((done) => module.once('message', done as () => void));
  const port = await freePort();
  const gateway = startGateway(port, `http://127.0.0.1:${modulePort}`);
  let ended: number | null | undefined;
  gateway.once('exit', (code) => (ended = code));
  await listening(port);
  await judge(port);
  const kinds = Object.entries(KINDS).filter(([name]) => ONLY === undefined || name === ONLY);
  for (const [name, kind] of kinds) {
    for (const networks of [1, 10, 100]) {
      const turns: Turn[] = [];
      for (let turn = 0; turn < TURNS; turn += 1) {
        const alone = await judge(port);
        const clients = new SlowClients(port, kind, networks);
        await pause(2_500);
        const beside = await judge(port);
        turns.push({ alone: alone.p95, beside: beside.p95, failed: beside.failed, returns: clients.end() });
        await pause(500);
      }
      turns.sort((one, other) => one.beside / one.alone - other.beside / other.alone);
      const { alone, beside } = turns[TURNS >> 1] as Turn;
      const sum = (what: 'failed' | 'returns'): number => turns.reduce((all, turn) => all + turn[what], 0);
      console.log(
        `${name.padEnd(17)} ${String(networks).padStart(3)} networks: p95 × ${(beside / alone).toFixed(1)} ` +
          `(${alone.toFixed(1)} → ${beside.toFixed(1)} ms; ${turns.map((turn) => `× ${(turn.beside / turn.alone).toFixed(1)}`).join(', ')}), ` +
          `${sum('failed')} of ${TURNS * SECONDS * CALLS_A_SECOND} failed; ` +
          `${sum('returns')} came back; gateway ${megabytes(gateway)} MiB` +
          (ended === undefined ? '' : `; it ended with ${String(ended)}`),
      );
    }
  }
  module.kill();
  gateway.kill();
}

/** The p95 in milliseconds without and with slow clients, and how many calls failed and clients came back. */
interface Turn {
  readonly alone: number;
  readonly beside: number;
  readonly failed: number;
  readonly returns: number;
}

/** Clients of one kind, from so many networks. */
class SlowClients {
  private readonly sockets = new Map<number, Socket>();
  private readonly drip: NodeJS.Timeout;
  private returns = 0;
  private ended = false;
  private readonly port: number;
  private readonly kind: Kind;
  private readonly networks: number;

  constructor(port: number, kind: Kind, networks: number) {
    [this.port, this.kind, this.networks] = [port, kind, networks];
    for (let n = 0; n < CLIENTS; n += 1) this.begin(n);
    this.drip = setInterval(() => {
      // A client that reads nothing hears that it was let go by writing: an empty line, which is no part of a request.
      for (const socket of this.sockets.values()) {
        socket.write(kind.drips ? 'a' : kind.deaf ? '\r\n' : '');
        if (kind.sips) socket.once('data', () => socket.pause()).resume();
      }
    }, 1_000);
  }

  /** @returns how often one came back */
  end(): number {
    this.ended = true;
    clearInterval(this.drip);
    for (const socket of this.sockets.values()) socket.resetAndDestroy();
    return this.returns;
  }

  private begin(n: number): void {
    const { kind, networks } = this;
    const socket = connect(this.port, '127.0.0.1');
    this.sockets.set(n, socket);
    socket.on('error', () => undefined);
    if (kind.deaf) socket.pause();
    else socket.resume();
    socket.once('close', () => setTimeout(() => this.comeBack(n), 1_000).unref());
    const forwarded = `X-Forwarded-For: 203.0.${n % networks}.1\r\n`;
    socket.write(kind.head.replace('PATH', ROUTES[n % ROUTES.length] ?? '').replaceAll('ADDRESS', forwarded));
  }

  private comeBack(n: number): void {
    if (this.ended) return;
    this.returns += 1;
    this.begin(n);
  }
}

/** Calls the three routes at a steady rate; a call's time counts from when it was due. */
async function judge(port: number): Promise<{ p95: number; failed: number }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const times: number[] = [];
  let failed = 0;
  const began = performance.now();
  const calls = Array.from({ length: SECONDS * CALLS_A_SECOND }, async (_, n) => {
    const due = began + (n * 1_000) / CALLS_A_SECOND;
    await pause(Math.max(0, due - performance.now()));
    if ((await post(agent, port, ROUTES[n % ROUTES.length] ?? '')) !== 200) failed += 1;
    times.push(performance.now() - due);
  });
  await Promise.all(calls);
  agent.destroy();
  times.sort((one, other) => one - other);
  return { p95: times[Math.floor(times.length * 0.95)] ?? 0, failed };
}

function post(agent: Agent, port: number, path: string): Promise<number> {
  return new Promise((done) => {
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': '198.51.100.7' };
    const outgoing = request(
      { agent, host: '127.0.0.1', port, path, method: 'POST', headers, timeout: 5_000 },
      (answer) => answer.resume().once('end', () => done(answer.statusCode ?? 0)),
    );
    outgoing.once('timeout', () => outgoing.destroy());
    outgoing.once('error', () => done(0));
    outgoing.end('{"event":"x"}');
  });
}

const megabytes = ({ pid }: ChildProcess): string =>
  (readProcesses().find((candidate) => candidate.pid === pid)?.residentMiB ?? 0).toFixed(0);

function startGateway(port: number, upstream: string): ChildProcess {
  const urls = ['CORE', 'CRM', 'IDENTITY', 'MESSAGING', 'LOYALTY'].map(
    (name) => [`${name}_URL`, upstream] as const,
  );
  return spawn(process.execPath, [resolve(import.meta.dirname, '../../apps/gateway/dist/main.js')], {
    env: {
      PLATFORM_MODE: 'local',
      HOST: '127.0.0.1',
      PORT: String(port),
      LOG_LEVEL: 'silent',
      TRUSTED_PROXIES: '127.0.0.1',
      ...Object.fromEntries(urls),
    },
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
    await pause(50);
  }
  throw new Error('The gateway did not start; build it first.');
}

if (process.argv[2] === 'module') serveModule();
else await compare();
