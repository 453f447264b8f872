import { retryAfterMs } from '@customer-platform/outbound';
import {
  answerHeader,
  type HandOff,
  type HttpAnswer,
  type HttpPost,
  type HttpResult,
  type HttpSpeaker,
  type HttpTransportConfig,
  type OutgoingMessage,
  type SpeakerTools,
} from '../../../providers/transport-config.js';
import { Prefetch } from '../prefetch.js';
import { Outage } from '../outage.js';
import { Lease, type Transport } from '../transport.js';

/** Requests that are made one by one, each within a lease. */
export interface Exchange {
  post(request: HttpPost, lease: Lease): Promise<HttpResult>;
  close(): void;
}

/** Said by the provider itself, which has taken nothing: too early, too many, its own failure, not now. */
const LATER: ReadonlySet<number> = new Set([408, 425, 429, 500, 503]);
/** The key, the account, the address of the API or the proxy before it is wrong: it would refuse any message. */
const ACCOUNT: ReadonlySet<number> = new Set([401, 402, 403, 404, 405, 407]);
/** No request can be made of the settings: nothing has left. */
const UNMADE: HandOff = { outcome: 'misconfigured', stage: 'request' };
/** What is no message may take so long, whoever waits for it. */
const TOKEN_MS = 5_000;

/** What asks for tokens by an exchange. */
export function toolsOf(exchange: Exchange): SpeakerTools {
  return {
    post: (request) => exchange.post(request, Lease.from(performance.now(), TOKEN_MS)),
    now: () => new Date(),
  };
}

/** Hands messages to a provider by HTTP. */
export class HttpTransport implements Transport {
  readonly provider: string;
  private readonly exchange: Exchange;
  private readonly speaker: HttpSpeaker;
  private readonly outage: Outage;
  private readonly ahead = new Prefetch();
  private closed = false;

  constructor(
    private readonly options: {
      readonly provider: string;
      readonly way: Pick<HttpTransportConfig, 'speaker' | 'eachElsewhere'>;
      readonly exchange: Exchange;
      readonly maxConnections: number;
    },
  ) {
    this.provider = options.provider;
    this.exchange = options.exchange;
    this.outage = new Outage(this.provider);
    this.speaker = options.way.speaker(toolsOf(options.exchange));
  }

  capacity(): number {
    return this.closed ? 0 : this.outage.capacity(this.options.maxConnections * this.ahead.perConnection);
  }

  async handOff(message: OutgoingMessage, lease: Lease): Promise<HandOff> {
    // What one recipient's server does says nothing of the others'.
    if (this.options.way.eachElsewhere) return this.exchanged(message, lease, true);
    const probing = this.outage.present;
    const handOff = await this.exchanged(message, lease, true);
    if (handOff.outcome === 'released' || handOff.outcome === 'unknown') return handOff;
    if (!concernsAll(handOff)) {
      this.outage.over();
      return handOff;
    }
    this.outage.failed(handOff.stage ?? 'request', handOff.retryAfterMs, handOff.code);
    return this.outage.justFound || probing ? handOff : { outcome: 'released' };
  }

  close(): Promise<void> {
    this.closed = true;
    this.exchange.close();
    return Promise.resolve();
  }

  private async exchanged(message: OutgoingMessage, lease: Lease, mayRepeat: boolean): Promise<HandOff> {
    const request = await this.requestOf(message);
    if ('outcome' in request) return lease.over ? { outcome: 'released' } : request;
    const began = performance.now();
    const result = await this.exchange.post(request, lease);
    this.ahead.took(performance.now() - began);
    if (result.kind === 'cut') return { outcome: 'unknown' };
    if (result.kind === 'unsent') return this.unsent(result);
    if (result.kind === 'invalid') return this.invalid();
    const said = this.verdict(result);
    if (said !== 'again') return said;
    return mayRepeat
      ? this.exchanged(message, lease, false)
      : { outcome: 'misconfigured', stage: 'request', code: result.status };
  }

  /** A key that signs nothing, or whatever else is wrong with the account: it would be the same for any message. */
  private async requestOf(message: OutgoingMessage): Promise<HttpPost | HandOff> {
    try {
      return await this.speaker.request(message);
    } catch {
      return UNMADE;
    }
  }

  /** Where each recipient has a server of its own, what is wrong may be of its making. */
  private invalid(): HandOff {
    return this.options.way.eachElsewhere ? { outcome: 'bounced' } : UNMADE;
  }

  private unsent({ late, refused }: { readonly late: boolean; readonly refused?: boolean }): HandOff {
    if (late) return { outcome: 'released' };
    // The recipient's own address leads where nobody may be sent to: it is none.
    if (refused && this.options.way.eachElsewhere) return { outcome: 'bounced', recipientGone: true };
    return { outcome: 'deferred', stage: 'connection', throttled: true };
  }

  /** The provider's own word about the message counts more than its status. */
  private verdict(answer: HttpAnswer): HandOff | 'again' {
    const { status } = answer;
    const said = this.speaker.read(answer);
    if (said === 'again') return said;
    const wish = retryAfterMs(answerHeader(answer, 'retry-after'), new Date());
    const wished = wish > 0 ? { retryAfterMs: wish } : {};
    if (said) return waits(said) ? { ...wished, ...said } : said;
    if (LATER.has(status)) return { outcome: 'deferred', code: status, ...wished };
    // Something before the provider speaks, and does not know whether the provider has taken the message.
    if (status > 500) return { outcome: 'unknown', code: status };
    if (ACCOUNT.has(status) || (status >= 300 && status < 400))
      return { outcome: 'misconfigured', stage: 'request', code: status, ...wished };
    return { outcome: 'bounced', code: status };
  }
}

function waits({ outcome }: HandOff): boolean {
  return outcome === 'deferred' || outcome === 'misconfigured';
}

/** Whether the answer would have been the same for every message: others need not be told it, too. */
function concernsAll({ outcome, retryAfterMs: wish, throttled }: HandOff): boolean {
  return (
    outcome === 'misconfigured' || (outcome === 'deferred' && (wish !== undefined || throttled === true))
  );
}
