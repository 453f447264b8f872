import { type RequestListener, type Server, createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { AddressList } from '@customer-platform/config';
import type { GatewayConfig } from './gateway.config.js';
import { type RunningGateway, startGateway } from './gateway.js';
import { MODULES } from './routes.js';
import { type Room, ROOM, SlowCallers } from './slow-callers.js';
import type { UpstreamOptions } from './upstream.js';

export interface Stage {
  gateway: RunningGateway;
  upstream: Server;
  close(): Promise<void>;
}

/** A gateway in front of one real HTTP server that plays every module. */
export async function aGateway(
  answer: RequestListener,
  { config, ...options }: { config?: Partial<GatewayConfig> } & UpstreamOptions = {},
): Promise<Stage> {
  const upstream = createServer(answer);
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const gateway = await startGateway(
    {
      host: '127.0.0.1',
      port: 0,
      internalPort: 0,
      drainMs: 0,
      upstreams: Object.fromEntries(MODULES.map((name) => [name, origin])) as GatewayConfig['upstreams'],
      consoleUpstream: origin,
      release: 'test',
      logLevel: 'silent',
      tlsFiles: undefined,
      tls: undefined,
      trustedProxies: new AddressList([]),
      publicHost: 'platform.test',
      ...config,
    },
    {
      asyncApi: { asyncapi: '3.0.0', info: { title: 'x'.repeat(200) } },
      ...options,
    },
  );
  return {
    gateway,
    upstream,
    close: async () => {
      await gateway.close(100);
      upstream.closeAllConnections();
      await new Promise((resolve) => upstream.close(resolve));
    },
  };
}

/** Sends bytes as they are and resolves with all that came back until the other side closed. */
export function raw(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => (text += chunk));
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
  });
}

/** Callers whose time passes as a test says. */
export class Time {
  readonly callers: SlowCallers;
  private at = 0;

  constructor(room: Partial<Room> = {}) {
    this.callers = new SlowCallers({ ...ROOM, ...room }, () => this.at);
  }

  pass(ms: number): void {
    this.at += ms;
    this.callers.look();
  }

  /** Lets less time pass than there is between two looks. */
  passQuickly(ms: number): void {
    this.at += ms;
    this.callers.glance();
  }

  /** Resolves once so many wait for their callers. */
  async waitFor(count: number): Promise<void> {
    const deadline = Date.now() + 10_000;
    while (this.callers.taken.waits !== count) {
      if (Date.now() > deadline) throw new Error(`${this.callers.taken.waits} wait, not ${count}`);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Resolves once nothing more is on its way: what is counted has stayed the same for many turns of the loop. */
  async still(): Promise<void> {
    let before = '';
    for (let same = 0; same < 200; same += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      const now = JSON.stringify(this.callers.taken);
      if (now !== before) same = 0;
      before = now;
    }
  }
}
