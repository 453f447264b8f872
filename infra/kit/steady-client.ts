import { randomUUID } from 'node:crypto';
import type { Platform } from './platform.ts';

/** What the client was promised: the ids of the events that were answered 202, by idempotency key. */
export interface ClientLog {
  accepted: Map<string, string>;
  purchases: Set<string>;
  /** Answers other than 202 and broken connections, by kind; each was tried again. */
  hiccups: Map<string, number>;
  /** Each attempt: when it was over and how long it took, in milliseconds, and the event's id where it was a 202, or what else it was. */
  attempts: { at: number; ms: number; id?: string; hiccup?: string }[];
  /** How many were not made because too many were open. */
  notSent: number;
}

const CONTACTS = 200;
/** One event in this many is a purchase, which earns points and sends a mail. */
const PURCHASE_EVERY = 5;

/**
 * A backend that loses nothing: sends single events at a steady rate, and each again, with the same key, until it is
 * answered 202.
 */
export class SteadyClient {
  readonly log: ClientLog = {
    accepted: new Map(),
    purchases: new Set(),
    hiccups: new Map(),
    attempts: [],
    notSent: 0,
  };
  private readonly run = randomUUID().slice(0, 8);
  private readonly open = new Set<Promise<void>>();
  private timer: NodeJS.Timeout | undefined;
  private made = 0;
  private stopped = false;
  private readonly platform: Platform;

  constructor(platform: Platform) {
    this.platform = platform;
  }

  /** Makes the contacts known, with an address each. */
  async introduce(): Promise<void> {
    for (let i = 0; i < CONTACTS; i += 1) {
      await this.post('/v1/core/identify', {
        external_id: this.contact(i),
        idempotency_key: `${this.run}-hello-${i}`,
        occurred_at: new Date().toISOString(),
        traits: { email: `${this.contact(i)}@example.com` },
      });
    }
  }

  /** While `atMost` are open, none is begun: a machine that is too slow for the rate is not buried under it. */
  start(perSecond: number, atMost = Infinity): void {
    const began = performance.now();
    this.timer = setInterval(() => {
      const due = Math.floor(((performance.now() - began) / 1000) * perSecond);
      for (; this.made < due; this.made += 1) {
        if (this.open.size < atMost) this.begin(this.made);
        else this.log.notSent += 1;
      }
    }, 10);
  }

  /** Stops making events and waits until each that was made has its 202. */
  async finish(): Promise<void> {
    clearInterval(this.timer);
    this.stopped = true;
    await Promise.all(this.open);
  }

  get waiting(): number {
    return this.open.size;
  }

  private begin(n: number): void {
    const sending = this.send(n).finally(() => this.open.delete(sending));
    this.open.add(sending);
  }

  private async send(n: number): Promise<void> {
    const purchase = n % PURCHASE_EVERY === 0;
    const key = `${this.run}-${n}`;
    const id = await this.post('/v1/core/track', {
      event: purchase ? 'purchase_completed' : 'page_viewed',
      external_id: this.contact(n),
      idempotency_key: key,
      occurred_at: new Date().toISOString(),
      properties: { amount: 12_990, currency: 'CLP', invoice_id: key },
    });
    this.log.accepted.set(key, id);
    if (purchase) this.log.purchases.add(id);
  }

  private async post(path: string, body: object): Promise<string> {
    for (let pause = 50; ; pause = Math.min(pause * 2, 1_000)) {
      const began = performance.now();
      const outcome = await this.attempt(path, body);
      this.log.attempts.push({ at: Date.now(), ms: performance.now() - began, ...outcome });
      if ('id' in outcome) return outcome.id;
      this.log.hiccups.set(outcome.hiccup, (this.log.hiccups.get(outcome.hiccup) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, pause * (this.stopped ? 0.5 : 1)));
    }
  }

  private async attempt(path: string, body: object): Promise<{ id: string } | { hiccup: string }> {
    try {
      const answer = await fetch(this.platform.base_url + path, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${this.platform.ingestion_key}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(10_000),
      });
      const parsed = (await answer.json()) as { event_id?: string; code?: string };
      if (answer.status === 202 && parsed.event_id !== undefined) return { id: parsed.event_id };
      return { hiccup: `${answer.status} ${parsed.code ?? ''}` };
    } catch {
      return { hiccup: 'connection broken' };
    }
  }

  private contact(n: number): string {
    return `chaos-${this.run}-${n % CONTACTS}`;
  }
}
