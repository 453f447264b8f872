import { jest } from '@jest/globals';
import { log } from '@customer-platform/http';
import { LimitExchange } from './limit-exchange.js';
import type { LimitAnswer, LimitRequest, LimitStore } from './limit-store.js';
import { RateLimiter, type RateLimits } from './rate-limiter.js';
import { SharedBuckets } from './shared-buckets.js';

/** What the way from an instance to the store is like: its round trip in milliseconds, and whether there is one. */
interface Way {
  roundTripMs: number;
  state: 'open' | 'cut' | 'hangs';
}

/** What a `LimitStore` promises, by the clock of the test: the stores of PostgreSQL and Redis are held against it. */
export class ModelStore {
  private readonly buckets = new Map<string, { balance: number; filledAt: number }>();
  private readonly seen = new Map<string, number>();
  statements = 0;

  exchange(requests: readonly LimitRequest[], mostDebt: number): LimitAnswer[] {
    this.statements += 1;
    return requests.map(({ id, perSecond, capacity, owed, wanted }) => {
      const now = performance.now();
      const bucket = this.buckets.get(id) ?? { balance: capacity, filledAt: now };
      const filled = Math.min(capacity, bucket.balance + ((now - bucket.filledAt) / 1000) * perSecond);
      const left = Math.min(capacity, Math.max(-capacity * mostDebt, filled - owed));
      const granted = Math.max(0, Math.floor(Math.min(wanted, left)));
      this.buckets.set(id, { balance: left - granted, filledAt: now });
      return { granted, balance: left - granted };
    });
  }

  balanceOf(id: string): number {
    return this.buckets.get(id)?.balance ?? NaN;
  }

  /** How many instances live. */
  get living(): number {
    return this.seen.size;
  }

  beat(instanceId: string): number {
    this.seen.set(instanceId, performance.now());
    return [...this.seen.values()].filter((at) => performance.now() - at < 15_000).length;
  }

  leave(instanceId: string): void {
    this.seen.delete(instanceId);
  }

  /** The store as an instance reaches it. */
  by(way: Way): LimitStore {
    const reach = async <T>(act: () => T): Promise<T> => {
      await pause(way.roundTripMs / 2);
      if (way.state === 'hangs') await new Promise(() => undefined);
      if (way.state === 'cut') throw new Error('The store is away');
      const answer = act();
      await pause(way.roundTripMs / 2);
      return answer;
    };
    return {
      exchange: (requests, mostDebt) => reach(() => this.exchange(requests, mostDebt)),
      beat: (id) => reach(() => this.beat(id)),
      leave: (id) => reach(() => this.leave(id)),
      sweep: () => reach(() => undefined),
      close: () => Promise.resolve(),
    };
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** What comes to an instance: so many events a second of a key, in requests of so many. */
export interface Traffic {
  readonly instance: number;
  readonly organizationId: string;
  readonly keyId: string;
  readonly limits: RateLimits;
  readonly perSecond: number;
  readonly batch: number;
}

interface Instance {
  readonly way: Way;
  readonly limiter: RateLimiter;
  readonly exchange: LimitExchange;
}

const STEP_MS = 5;

/** Instances of core that share their limits in one store, in a time that passes when the test says so. */
export class Fleet {
  readonly store = new ModelStore();
  readonly instances: Instance[] = [];

  /** Begins a time of the test's own; `end` gives back the usual one. */
  constructor(count: number, roundTripMs = 2) {
    jest.useFakeTimers();
    log.level = 'silent';
    for (let index = 0; index < count; index += 1) this.add(roundTripMs);
  }

  add(roundTripMs = 2): Instance {
    const way: Way = { roundTripMs, state: 'open' };
    const buckets = new SharedBuckets(() => performance.now());
    const exchange = new LimitExchange(buckets, this.store.by(way));
    const instance = { way, limiter: new RateLimiter(buckets), exchange };
    this.instances.push(instance);
    exchange.start();
    return instance;
  }

  /** Lets time pass. */
  async pass(ms: number): Promise<void> {
    await jest.advanceTimersByTimeAsync(ms);
  }

  /** Lets this traffic come for so long. @returns the events that passed, of each of `traffic` */
  async run(ms: number, traffic: readonly Traffic[]): Promise<number[]> {
    const passed = traffic.map(() => 0);
    const due = traffic.map(({ batch }, index) => (batch * index) / traffic.length);
    for (let at = 0; at < ms; at += STEP_MS) {
      for (const [index, each] of traffic.entries()) {
        due[index] = (due[index] ?? 0) + (each.perSecond * STEP_MS) / 1000;
        for (; (due[index] ?? 0) >= each.batch; due[index] = (due[index] ?? 0) - each.batch) {
          passed[index] = (passed[index] ?? 0) + this.request(each);
        }
      }
      await this.pass(STEP_MS);
    }
    return passed;
  }

  private request({ instance, organizationId, keyId, limits, batch }: Traffic): number {
    const limiter = this.instances[instance]?.limiter;
    return limiter ? limiter.take(keyId, organizationId, batch, limits).granted : 0;
  }

  end(): void {
    jest.clearAllTimers();
    jest.useRealTimers();
  }
}

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
