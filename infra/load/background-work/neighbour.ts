import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Caller } from '@customer-platform/testing';
import { localMail } from '@customer-platform/kit/channel-settings.ts';
import { percentile } from '@customer-platform/kit/percentile.ts';
import { Sink } from '@customer-platform/kit/sink.ts';

const PER_SECOND = 10;
/** A mail that has not come by then is lost. */
const LOST_AFTER_MS = 30_000;

/** How another organization's mail went. */
interface MailTimes {
  sent: number;
  /** Milliseconds from the call to the mail server. */
  p50: number;
  p95: number;
  max: number;
  /** Answered otherwise than 202, or never come. */
  missing: number;
}

/** Another organization, whose mail goes on: ten a second, each to an address of its own, to a mail server of ours. */
export class Neighbour {
  private readonly began = new Map<string, number>();
  private going = true;
  private refused = 0;
  private sending: Promise<void> | undefined;

  private readonly api: Caller;
  private readonly sink: Sink;

  private constructor(api: Caller, sink: Sink) {
    this.api = api;
    this.sink = sink;
  }

  static async begin(api: Caller): Promise<Neighbour> {
    const sink = new Sink(0);
    const channels = { email: localMail(await sink.listen()) };
    const { status } = await api.call('PUT', '/v1/messaging/channel-settings', { body: { channels } });
    if (status !== 200) throw new Error(`The neighbour’s channel settings were answered ${status}.`);
    const neighbour = new Neighbour(api, sink);
    neighbour.sending = neighbour.goOn();
    return neighbour;
  }

  /** Times of the mail that was asked for since this was asked last, once it has come. */
  async take(): Promise<MailTimes> {
    const asked = [...this.began];
    const refused = this.refused;
    this.refused = 0;
    const giveUpAt = performance.now() + LOST_AFTER_MS;
    const came = (): Map<string, number> =>
      new Map(this.sink.handOffs.map(({ address, at }) => [address, at]));
    while (performance.now() < giveUpAt && !asked.every(([address]) => came().has(address))) await pause(100);
    const arrivals = came();
    for (const [address] of asked) this.began.delete(address);
    const times = asked
      .flatMap(([address, at]) => (arrivals.get(address) ?? NaN) - at)
      .filter((time) => !Number.isNaN(time));
    const at = (share: number): number => percentile(times, share);
    return {
      sent: asked.length,
      p50: at(0.5),
      p95: at(0.95),
      max: at(1),
      missing: asked.length - times.length + refused,
    };
  }

  async end(): Promise<void> {
    this.going = false;
    await this.sending;
    await this.sink.close();
  }

  private async goOn(): Promise<void> {
    const under = new Set<Promise<void>>();
    for (; this.going; await pause(1_000 / PER_SECOND)) {
      const call = this.send().finally(() => under.delete(call));
      under.add(call);
    }
    await Promise.all(under);
  }

  /** As a caller does whose service dies under it: again, with the same key. */
  private async send(): Promise<void> {
    const address = `${randomUUID()}@example.com`;
    this.began.set(address, performance.now());
    const body = {
      channel: 'email',
      recipient: { address },
      content: { subject: 'Hello', text: 'Hello.' },
      category: 'transactional',
    };
    const headers = { 'idempotency-key': address };
    const giveUpAt = performance.now() + LOST_AFTER_MS;
    for (; performance.now() < giveUpAt; await pause(50)) {
      const answer = await this.api.post('/v1/messaging/sends', body, headers).catch((error: Error) => {
        if (error.name === 'TypeError') return undefined; // nobody listens for a moment
        throw error;
      });
      if (answer?.status === 202) return;
    }
    this.began.delete(address);
    this.refused += 1;
  }
}
