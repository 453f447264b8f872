import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import { log } from '@customer-platform/http';
import { isAllowedPort, resolveDestination, type Destination } from '@customer-platform/outbound';
import type { ChannelPlan } from '../../settings/channels/channel-plans.js';
import { MESSAGING_CONFIG, type MessagingConfig } from '../../vocabulary/config/messaging.config.js';
import type { HttpTransportConfig, SmtpTransportConfig, Tokens } from '../../providers/transport-config.js';
import { HttpExchange } from './http/http-exchange.js';
import { Http2Exchange } from './http/http2-exchange.js';
import { HttpTransport, toolsOf, type Exchange } from './http/http-transport.js';
import { InboxTransport } from './inbox/inbox-transport.js';
import { SmtpTransport } from './smtp/smtp-transport.js';
import type { Transport } from './transport.js';

const IDLE_MS = 300_000;
const CONNECTIONS = { platform: 20, organization: 10 };

interface Open {
  readonly transport: Transport;
  usedAt: number;
}

/** The ways out that are open. Only the gate asks for one; nothing outside of its folder can import this. */
@Injectable()
export class Transports implements OnApplicationShutdown {
  private readonly open = new Map<string, Open>();
  private readonly reaper: NodeJS.Timeout;

  constructor(
    @Inject(MESSAGING_CONFIG) private readonly config: MessagingConfig,
    private readonly database: Database,
  ) {
    // eslint-disable-next-line house/registered-work -- forgets transports that lie idle
    this.reaper = setInterval(() => {
      this.closeUnused(Date.now() - IDLE_MS).catch((error: unknown) => {
        log.warn({ err: error }, 'A way out that nobody uses did not close cleanly');
      });
    }, IDLE_MS / 5);
    this.reaper.unref();
  }

  /** The way out that a channel is configured with; its connections live as long as its settings stay the same. */
  of(plan: ChannelPlan): Transport {
    let known = this.open.get(plan.transportKey);
    if (!known) {
      known = { transport: this.create(plan), usedAt: 0 };
      this.open.set(plan.transportKey, known);
    }
    known.usedAt = Date.now();
    return known.transport;
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.reaper);
    await this.closeUnused(Infinity);
  }

  private create({ way, provider }: ChannelPlan): Transport {
    switch (way.kind) {
      case 'smtp':
        return this.smtp(way);
      case 'http':
        return this.http(way, provider);
      case 'inbox':
        return new InboxTransport(this.database, way.copyTo && this.http(way.copyTo, provider));
    }
  }

  private smtp({
    host,
    port,
    security,
    username,
    password,
    trusted,
    tokens,
  }: SmtpTransportConfig): Transport {
    return new SmtpTransport({
      server: { host, port, security, ...(username ? { username } : {}), ...(password ? { password } : {}) },
      maxConnections: trusted ? CONNECTIONS.platform : CONNECTIONS.organization,
      // Each connection resolves anew and checks every address: what was public yesterday may be ours today.
      resolve: async () => (trusted ? host : (await this.resolve(host)).address),
      ...(tokens ? this.tokensBy(tokens) : {}),
    });
  }

  /** Tokens are asked for over connections that are checked as all others are. */
  private tokensBy(ask: NonNullable<SmtpTransportConfig['tokens']>): { tokens: Tokens; close: () => void } {
    const exchange = this.atCalledPorts(new HttpExchange((host) => this.resolve(host), 1));
    return { tokens: ask(toolsOf(exchange)), close: () => exchange.close() };
  }

  private http(way: HttpTransportConfig, provider: string): Transport {
    const maxConnections = way.trusted ? CONNECTIONS.platform : CONNECTIONS.organization;
    const resolve = (host: string): Promise<Destination> => this.resolve(host);
    const exchange = way.http2 ? new Http2Exchange(resolve) : new HttpExchange(resolve, maxConnections);
    return new HttpTransport({
      provider,
      way,
      maxConnections,
      exchange: way.trusted ? exchange : this.atCalledPorts(exchange),
    });
  }

  private resolve(host: string): Promise<Destination> {
    return resolveDestination(host, this.config.local);
  }

  /** What was saved, or came with a device, before the installation said which ports it calls. */
  private atCalledPorts(exchange: Exchange): Exchange {
    const { local: allowLoopback, outboundPorts: ports } = this.config;
    return {
      post: (request, lease) =>
        isAllowedPort(request.url, { allowLoopback, ports })
          ? exchange.post(request, lease)
          : Promise.resolve({ kind: 'unsent', late: false, refused: true }),
      close: () => exchange.close(),
    };
  }

  private async closeUnused(before: number): Promise<void> {
    const unused = [...this.open].filter(([, { usedAt }]) => usedAt <= before);
    for (const [key] of unused) this.open.delete(key);
    await Promise.all(unused.map(([, { transport }]) => transport.close()));
  }
}
