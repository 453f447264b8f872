import { retryAfterMs } from '@customer-platform/outbound';
import { Ahead } from '../ahead.js';
import { Outage } from '../outage.js';
import type { HandOff, Lease, OutgoingMessage, Transport } from '../transport.js';
import { HttpExchange, type HttpPost, type HttpResult, type ResolveHost } from './http-exchange.js';

type HttpAnswer = Extract<HttpResult, { readonly kind: 'answered' }>;

/** How one provider is spoken to. */
export interface HttpProvider {
  readonly name: string;
  /** The request of a message; what changes with each attempt, such as a signature, is made here. */
  post(message: OutgoingMessage): HttpPost;
  /** What a 2xx or a refusal for good says; everything else is the same for all. */
  read(status: number, body: string): HandOff;
}

/** Said by the provider itself, which has taken nothing: too early, too many, its own failure, not now. */
const LATER: ReadonlySet<number> = new Set([408, 425, 429, 500, 503]);
/** The key, the account, the address of the API or the proxy before it is wrong: it would refuse any message. */
const ACCOUNT: ReadonlySet<number> = new Set([401, 402, 403, 404, 405, 407]);

/** Hands messages to a provider by HTTP. */
export class HttpTransport implements Transport {
  readonly provider: string;
  private readonly exchange: HttpExchange;
  private readonly outage: Outage;
  private readonly ahead = new Ahead();
  private closed = false;

  constructor(
    private readonly options: {
      readonly provider: HttpProvider;
      readonly resolve: ResolveHost;
      readonly maxConnections: number;
    },
  ) {
    this.provider = options.provider.name;
    this.exchange = new HttpExchange(options.resolve, options.maxConnections);
    this.outage = new Outage(this.provider);
  }

  capacity(): number {
    return this.closed ? 0 : this.outage.capacity(this.options.maxConnections * this.ahead.perConnection);
  }

  async handOff(message: OutgoingMessage, lease: Lease): Promise<HandOff> {
    const probing = this.outage.present;
    const began = performance.now();
    const result = await this.exchange.post(this.options.provider.post(message), lease);
    this.ahead.took(performance.now() - began);
    if (result.kind === 'cut') return { outcome: 'unknown' };
    if (result.kind === 'unsent') {
      if (result.late) return { outcome: 'released' };
      this.outage.failed('connection');
      return { outcome: this.outage.justFound || probing ? 'deferred' : 'released' };
    }
    const handOff = this.verdict(result);
    if (!concernsAll(handOff)) {
      this.outage.over();
      return handOff;
    }
    this.outage.failed('request', handOff.retryAfterMs, result.status);
    return this.outage.justFound || probing ? handOff : { outcome: 'released' };
  }

  close(): Promise<void> {
    this.closed = true;
    this.exchange.close();
    return Promise.resolve();
  }

  private verdict({ status, body, retryAfter }: HttpAnswer): HandOff {
    const wish = retryAfterMs(retryAfter, new Date());
    const common = { code: status, ...(wish > 0 ? { retryAfterMs: wish } : {}) };
    if (LATER.has(status)) return { outcome: 'deferred', ...common };
    // Something before the provider speaks, and does not know whether the provider has taken the message.
    if (status > 500) return { outcome: 'unknown', code: status };
    const said = this.options.provider.read(status, body);
    // A provider's own word about the recipient counts more than its status.
    const ofAccount = ACCOUNT.has(status) || (status >= 300 && status < 400);
    return ofAccount && !said.recipientGone
      ? { outcome: 'misconfigured', stage: 'request', ...common }
      : said;
  }
}

/** Whether the answer would have been the same for every message: others need not be told it, too. */
function concernsAll({ outcome, retryAfterMs: wish }: HandOff): boolean {
  return outcome === 'misconfigured' || (outcome === 'deferred' && wish !== undefined);
}
