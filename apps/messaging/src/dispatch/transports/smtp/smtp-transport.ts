import { hostname } from 'node:os';
import type { HandOff, OutgoingMessage, Tokens } from '../../../providers/transport-config.js';
import { Prefetch } from '../prefetch.js';
import { Outage } from '../outage.js';
import { Lease, type Transport } from '../transport.js';
import { SmtpConnection, SmtpRefusal, type SmtpServer } from './smtp-connection.js';
import { deliver } from './smtp-delivery.js';
import { SmtpSyntaxError } from './smtp-reply.js';

/** What a pool needs to know of its server; `resolve` is asked for each connection, so that an address is never stale. */
interface SmtpTransportOptions {
  readonly server: Omit<SmtpServer, 'address' | 'clientName'>;
  /** The address to connect to, checked. */
  resolve(host: string): Promise<string>;
  readonly maxConnections: number;
  /** Access tokens, where the server takes no password. */
  readonly tokens?: Tokens;
  /** What else ends with the pool. */
  close?(): void;
}

const IDLE_MS = 30_000;
/** Servers limit how many messages one connection may bring; a fresh one costs three round trips. */
const MESSAGES_PER_CONNECTION = 500;
const CONNECT_MS = 5_000;
/** What Node calls a certificate that nobody vouches for, or that names another host. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|^ERR_TLS/;

type Turn = () => void;

interface Pooled {
  readonly connection: SmtpConnection;
  carried: number;
  idleSince: number;
}

/** A pool of connections to one SMTP server. */
export class SmtpTransport implements Transport {
  readonly provider = 'smtp';
  private readonly idle: Pooled[] = [];
  /** Those that wait for a connection, of campaigns apart. */
  private readonly waiting = { urgent: [] as Turn[], patient: [] as Turn[] };
  private open = 0;
  private readonly outage = new Outage('smtp');
  private readonly ahead = new Prefetch();
  private closed = false;
  private readonly reaper: NodeJS.Timeout;

  constructor(private readonly options: SmtpTransportOptions) {
    // eslint-disable-next-line house/registered-work -- closes connections that lie idle
    this.reaper = setInterval(() => this.closeIdle(Date.now() - IDLE_MS), IDLE_MS / 2);
    this.reaper.unref();
  }

  capacity(): number {
    return this.closed ? 0 : this.outage.capacity(this.options.maxConnections * this.ahead.perConnection);
  }

  async handOff(message: OutgoingMessage, lease: Lease): Promise<HandOff> {
    const probe = this.outage.present;
    if (!(await this.slot(lease, message.patient))) return { outcome: 'released' };
    return this.handOffInSlot(message, lease, probe);
  }

  close(): Promise<void> {
    this.closed = true;
    clearInterval(this.reaper);
    this.closeIdle(Infinity);
    this.options.close?.();
    return Promise.resolve();
  }

  private async handOffInSlot(message: OutgoingMessage, lease: Lease, probe: boolean): Promise<HandOff> {
    try {
      // eslint-disable-next-line house/no-endless-turns -- a lease ends within seconds, and each turn ends a connection that lay idle
      for (;;) {
        if (lease.over) return { outcome: 'released' };
        const pooled = this.takeIdle() ?? (await this.connect(lease));
        if ('outcome' in pooled) return this.blames(probe) && !lease.over ? pooled : { outcome: 'released' };
        const fresh = pooled.carried === 0;
        pooled.carried += 1;
        const began = performance.now();
        const { handOff, reusable, untouched } = await deliver(pooled.connection, message, lease);
        this.ahead.took(performance.now() - began);
        if (reusable) this.putBack(pooled);
        else pooled.connection.quit();
        // The server had closed a connection that lay idle: nothing was said, another one is taken.
        if (untouched && !fresh) continue;
        return this.concluded(handOff, untouched, probe);
      }
    } finally {
      this.giveSlot();
    }
  }

  /** What the end of a delivery says of the server. */
  private concluded(handOff: HandOff, untouched: boolean, probe: boolean): HandOff {
    if (handOff.outcome === 'misconfigured') {
      this.outage.failed(handOff.stage ?? 'delivery', 0, handOff.code);
      return this.blames(probe) ? handOff : { outcome: 'released' };
    }
    if (untouched && handOff.code === undefined) this.outage.failed('delivery');
    else this.outage.over();
    return handOff;
  }

  /**
   * An outage costs an attempt to the message that found it and to those that try whether it is over; the others, on
   * their way at that moment, go back to wait.
   */
  private blames(probe: boolean): boolean {
    return probe || this.outage.justFound;
  }

  /** Waits for one of the connections the pool may have. @returns false when the lease ended first */
  private async slot(lease: Lease, patient = false): Promise<boolean> {
    if (this.open < this.options.maxConnections) {
      this.open += 1;
      return true;
    }
    const queue = patient ? this.waiting.patient : this.waiting.urgent;
    return new Promise<boolean>((resolve) => {
      const turn: Turn = () => {
        clearTimeout(timer);
        resolve(true);
      };
      const giveUp = (): void => {
        queue.splice(queue.indexOf(turn), 1);
        resolve(false);
      };
      const timer = setTimeout(giveUp, Math.max(0, lease.remaining()));
      queue.push(turn);
    });
  }

  /** Hands the slot on to whoever waits longest, the patient last, or back to the pool. */
  private giveSlot(): void {
    const next = this.waiting.urgent.shift() ?? this.waiting.patient.shift();
    if (next) next();
    else this.open -= 1;
  }

  private takeIdle(): Pooled | undefined {
    for (let pooled = this.idle.pop(); pooled; pooled = this.idle.pop()) {
      if (pooled.connection.alive) return pooled;
    }
    return undefined;
  }

  private putBack(pooled: Pooled): void {
    if (this.closed || pooled.carried >= MESSAGES_PER_CONNECTION) {
      pooled.connection.quit();
      return;
    }
    pooled.idleSince = Date.now();
    this.idle.push(pooled);
  }

  /** @returns how the message ends that found that there is no connection to be had */
  private async connect(lease: Lease, mayRepeat = true): Promise<Pooled | HandOff> {
    const { server, tokens } = this.options;
    const accessToken = await this.accessToken();
    if (typeof accessToken === 'object') {
      const { stage = 'token', retryAfterMs, code } = accessToken;
      if (!lease.over) this.outage.failed(stage, retryAfterMs, code);
      return accessToken;
    }
    const within = Lease.from(performance.now(), Math.min(CONNECT_MS, lease.remaining()));
    try {
      const address = await this.options.resolve(server.host);
      const connection = await SmtpConnection.open(
        { ...server, address, clientName: clientName(), ...(accessToken ? { accessToken } : {}) },
        within,
      );
      return { connection, carried: 0, idleSince: Date.now() };
    } catch (error) {
      const fault = faultOf(error);
      if (tokens && accessToken && fault?.outcome === 'misconfigured' && fault.stage === 'AUTH') {
        // It may be over before its time: another one is asked for, once.
        tokens.forget(accessToken);
        if (mayRepeat && !lease.over) return this.connect(lease, false);
      }
      if (!lease.over) this.outage.failed(fault?.stage ?? 'connection', 0, fault?.code);
      return fault ?? { outcome: 'deferred' };
    }
  }

  /** Undefined where the server takes a password, or nothing. */
  private async accessToken(): Promise<string | HandOff | undefined> {
    try {
      return await this.options.tokens?.get();
    } catch {
      // A key that signs nothing, as with other providers: it would be the same for any message.
      return { outcome: 'misconfigured', stage: 'token' };
    }
  }

  private closeIdle(before: number): void {
    const kept = this.idle.filter(({ idleSince }) => idleSince > before);
    this.idle.filter(({ idleSince }) => idleSince <= before).forEach(({ connection }) => connection.quit());
    this.idle.splice(0, this.idle.length, ...kept);
  }
}

/** What about the settings is wrong, where the server, or its certificate, says that something is. */
function faultOf(error: unknown): HandOff | undefined {
  if (error instanceof SmtpSyntaxError) return { outcome: 'misconfigured', stage: 'greeting' };
  if (error instanceof SmtpRefusal) {
    const { stage, code } = error;
    const passing = code !== undefined && code < 500;
    return {
      outcome: passing ? 'deferred' : 'misconfigured',
      stage,
      ...(code === undefined ? {} : { code }),
    };
  }
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  return CERTIFICATE.test(code) ? { outcome: 'misconfigured', stage: 'TLS' } : undefined;
}

/** RFC 5321 §4.1.3: a client without a name of its own says its address as a literal. */
function clientName(): string {
  const name = hostname();
  return /^[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(name) ? name : '[127.0.0.1]';
}
