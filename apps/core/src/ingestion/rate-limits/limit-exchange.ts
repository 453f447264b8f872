import { randomUUID } from 'node:crypto';
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import { readConfig, serviceConfig } from '@customer-platform/config';
import { log, metrics } from '@customer-platform/http';
import { INSTANCE_SECONDS, mostDebtOf, type LimitStore } from './limit-store.js';
import { SharedBuckets } from './shared-buckets.js';

/** The injection token of the one {@link LimitStore}. */
export const LIMIT_STORE = Symbol('LIMIT_STORE');

/** From one exchange to the next, where there is something to exchange. */
const EVERY_MS = 250;
/** Where something runs short it comes earlier, but not before so long … */
const SOON_MS = 25;
/** … so often in a row, and then once in so long: eight a second in all, however many tenants are near their limits. */
const MOST_HURRIES = 4;
const HURRY_EVERY_MS = 125;
/** From one failure to the next try. */
const RETRY_MS = 1_000;
const BEAT_EVERY_MS = 5_000;
const SWEEP_EVERY_MS = 60_000;
/** The most buckets of one exchange; what is beyond comes right after it. */
const MOST_BUCKETS = 5_000;
/** How long an ending process waits for its leases to be taken back. */
const STOP_MS = 1_000;

const exchanges = new Counter({
  name: 'rate_limit_exchanges_total',
  help: 'Exchanges of rate limits with what the instances share, by outcome: answered, failed',
  labelNames: ['outcome'],
  registers: [metrics],
});
const exchanged = new Counter({
  name: 'rate_limit_buckets_exchanged_total',
  help: 'Rate limits of keys and organizations in these exchanges',
  registers: [metrics],
});
const observed = new Set<SharedBuckets>();
new Gauge({
  name: 'rate_limit_store_away_seconds',
  help: 'For how long what the instances share of rate limits has not answered; 0 while it does',
  registers: [metrics],
  collect() {
    this.set(Math.max(0, ...[...observed].map(({ secondsAway }) => secondsAway)));
  },
});
const counted = new Gauge({
  name: 'rate_limit_instances',
  help: 'Instances that share the rate limits, as this one knows',
  registers: [metrics],
});

/**
 * Exchanges with the store what requests have used of the limits and what they will need, for all organizations at once
 * and one exchange at a time. Requests never wait for it: while the store does not answer they go on with the share that
 * this instance had. Runs where requests are served: PROCESS_ROLE is not worker.
 */
@Injectable()
export class LimitExchange implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly id = randomUUID();
  private timer: NodeJS.Timeout | undefined;
  private dueAt = Infinity;
  private running: Promise<void> | undefined;
  private hurried = false;
  /** How often it may still come early, as of then. */
  private hurries = MOST_HURRIES;
  private hurriesAt = performance.now();
  private failing = false;
  private ended = false;
  private beatAt = -Infinity;
  /** Since when the store has answered. */
  private reachedAt = performance.now();
  private sweptAt = -Infinity;

  constructor(
    private readonly buckets: SharedBuckets,
    @Inject(LIMIT_STORE) private readonly store: LimitStore,
  ) {}

  onApplicationBootstrap(): void {
    if (readConfig(serviceConfig).PROCESS_ROLE === 'worker') return;
    this.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.stop();
  }

  /** Says that this instance is there, and exchanges from now on. */
  start(): void {
    observed.add(this.buckets);
    this.buckets.listen((short) => {
      this.hurried ||= short;
      this.schedule(short ? this.soon() : EVERY_MS);
    });
    this.schedule(0);
  }

  /** Gives back what is leased, unless the store is slow to take it, and ends. */
  async stop(): Promise<void> {
    this.ended = true;
    observed.delete(this.buckets);
    clearTimeout(this.timer);
    this.timer = undefined;
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, STOP_MS);
    await Promise.race([late, this.leave()]);
    clearTimeout(timer);
    await this.store.close();
  }

  private async leave(): Promise<void> {
    await this.running;
    if (this.failing || this.beatAt === -Infinity) return;
    try {
      const requests = this.buckets.last();
      if (requests.length > 0) await this.store.exchange(requests, mostDebtOf(this.buckets.instances));
      await this.store.leave(this.id);
    } catch (error) {
      log.warn({ err: error }, 'What was leased of the rate limits could not be given back');
    }
  }

  /** Runs in so many milliseconds unless it does before. While the store fails it is not asked more often for that. */
  private schedule(inMs: number): void {
    if (this.ended || this.running || (this.failing && this.timer)) return;
    const dueAt = performance.now() + inMs;
    if (this.timer && this.dueAt <= dueAt) return;
    clearTimeout(this.timer);
    this.dueAt = dueAt;
    // eslint-disable-next-line house/registered-work -- buckets in memory, which a round exchanges all together
    this.timer = setTimeout(() => this.run(), inMs);
    this.timer.unref();
  }

  private run(): void {
    this.timer = undefined;
    if (this.hurried) this.hurries = this.hurriesLeft() - 1;
    this.hurried = false;
    this.running = this.round().finally(() => {
      this.running = undefined;
      this.schedule(this.pause());
    });
  }

  private pause(): number {
    if (this.failing) return RETRY_MS;
    if (this.hurried) return this.soon();
    return this.buckets.isActive ? EVERY_MS : BEAT_EVERY_MS;
  }

  private soon(): number {
    this.hurries = this.hurriesLeft();
    return Math.min(EVERY_MS, Math.max(SOON_MS, (1 - this.hurries) * HURRY_EVERY_MS));
  }

  private hurriesLeft(): number {
    const now = performance.now();
    const gained = (now - this.hurriesAt) / HURRY_EVERY_MS;
    this.hurriesAt = now;
    return Math.min(MOST_HURRIES, this.hurries + gained);
  }

  private async round(): Promise<void> {
    this.buckets.waiting();
    try {
      await this.beat();
      await this.exchange();
      this.buckets.answered();
      if (this.failing) {
        log.info('Rate limits are shared again');
        this.reachedAt = performance.now();
      }
      this.failing = false;
    } catch (error) {
      exchanges.inc({ outcome: 'failed' });
      if (!this.failing)
        log.warn({ err: error }, 'Rate limits cannot be shared; each instance goes on with its share');
      this.failing = true;
      this.reachedAt = Infinity;
    }
  }

  private async beat(): Promise<void> {
    const now = performance.now();
    if (now - this.beatAt < BEAT_EVERY_MS - EVERY_MS) return;
    const living = await this.store.beat(this.id);
    // A store that was away has forgotten instances which have not come back to it yet.
    const forgotten = now - this.reachedAt < INSTANCE_SECONDS * 1_000;
    this.buckets.instances = forgotten ? Math.max(living, this.buckets.instances) : living;
    this.beatAt = now;
    counted.set(this.buckets.instances);
    if (now - this.sweptAt < SWEEP_EVERY_MS) return;
    await this.store.sweep();
    this.sweptAt = now;
  }

  private async exchange(): Promise<void> {
    let asked: number;
    do {
      const asking = this.buckets.ask(MOST_BUCKETS);
      if (asking.requests.length === 0) return;
      const mostDebt = mostDebtOf(this.buckets.instances);
      this.buckets.settle(asking, await this.store.exchange(asking.requests, mostDebt));
      exchanges.inc({ outcome: 'answered' });
      asked = asking.requests.length;
      exchanged.inc(asked);
    } while (asked === MOST_BUCKETS);
  }
}
