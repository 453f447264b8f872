import { networkOf } from '@customer-platform/config';
import { Problem } from '@customer-platform/problem-json';
import { RegistryUnavailable, UnknownCredential } from './authorization-source.js';
import type { Monotonic } from './monotonic.js';

/** How much the registry is asked about credentials that were never seen good here. */
interface StrangerLimits {
  /** Look-ups at the same time; as many connections carry them (`HttpAuthorizationSource`). */
  readonly running: number;
  /** Look-ups that wait for one of those to end. */
  readonly waiting: number;
  /** No look-up waits longer for its turn, in milliseconds. */
  readonly patience: number;
  /** Look-ups that found nothing, of one address: so many at once, and so many more each second. */
  readonly ofOne: Allowance;
  /** Of all addresses together. */
  readonly ofAll: Allowance;
}

interface Allowance {
  readonly burst: number;
  readonly perSecond: number;
}

/** Enough for a process that starts among 10,000 organizations: what is found costs none of the allowance. */
export const STRANGER_LIMITS: StrangerLimits = {
  running: 8,
  waiting: 1_000,
  patience: 500,
  ofOne: { burst: 50, perSecond: 10 },
  ofAll: { burst: 400, perSecond: 100 },
};

/** Addresses whose allowance is remembered; who is dropped for others begins anew, within that of all. */
const ADDRESSES = 10_000;

/** What is left of an allowance. */
class Bucket {
  /** When it was last charged; what never was comes before all that were. */
  chargedAt = -Infinity;
  private held: number;
  private at: number;

  constructor(
    private readonly allowance: Allowance,
    private readonly clock: Monotonic,
  ) {
    this.held = allowance.burst;
    this.at = clock.now();
  }

  get left(): number {
    const now = this.clock.now();
    const { burst, perSecond } = this.allowance;
    this.held = Math.min(burst, this.held + ((now - this.at) * perSecond) / 1_000);
    this.at = now;
    return this.held;
  }

  take(): void {
    this.held = Math.max(0, this.left - 1);
    this.chargedAt = this.at;
  }
}

/** How often it is looked whether the allowance of all has something again, in milliseconds. */
const LOOK_EVERY_MS = 10;

/** A look-up that waits for its turn. */
interface Waiter {
  readonly begin: () => void;
  readonly refuse: (error: Error) => void;
}

/**
 * The look-ups of credentials never seen good here: random keys cost whoever sends them a refusal, and the registry a
 * bounded number of questions, while known credentials are refreshed on a lane of their own. What counts against an
 * address and against all are look-ups that found nothing: a process that starts asks for as many good ones as come.
 *
 * What all have is shared in turns: the network that was charged longest ago comes first, so that those who use it up
 * wait for whoever has sent no bad one.
 */
export class StrangerLane {
  private readonly all: Bucket;
  private readonly buckets = new Map<string, Bucket>();
  /** Those that wait, of each network the eldest first. */
  private readonly queues = new Map<Bucket, Set<Waiter>>();
  private readonly unnamed: Bucket;
  private waiting = 0;
  private running = 0;
  private look: NodeJS.Timeout | undefined;

  constructor(
    private readonly clock: Monotonic,
    private readonly limits: StrangerLimits = STRANGER_LIMITS,
  ) {
    this.all = new Bucket(limits.ofAll, clock);
    this.unnamed = new Bucket(limits.ofAll, clock);
  }

  /**
   * Asks when it is the caller's turn.
   * @throws Problem `rate_limited` when the address has asked for too many that are none, RegistryUnavailable when its
   *   turn did not come in time or too many wait, and what `ask` throws
   */
  async run<T>(address: string | undefined, ask: () => Promise<T>): Promise<T> {
    const bucket = this.bucketOf(address);
    demandLeft(bucket);
    if (this.waiting === 0 && this.hasPlace) this.running += 1;
    else await this.turn(bucket);
    try {
      demandLeft(bucket); // those before may have used up what there was
      return await ask();
    } catch (error) {
      if (error instanceof UnknownCredential) for (const charged of [bucket, this.all]) charged.take();
      throw error;
    } finally {
      this.running -= 1;
      this.passOn();
    }
  }

  /** Each of those that run may find nothing: they never cost more than there is. */
  private get hasPlace(): boolean {
    return this.running < this.limits.running && this.all.left - this.running >= 1;
  }

  /** Resolves when one of the places is the caller's. */
  private async turn(bucket: Bucket): Promise<void> {
    if (this.waiting >= this.limits.waiting) this.makeRoomFor(bucket);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { begin: resolve, refuse: reject };
    const timer = setTimeout(() => {
      this.leave(bucket, waiter);
      reject(new RegistryUnavailable('The look-up waited too long for its turn'));
    }, this.limits.patience);
    const queue = this.queues.get(bucket);
    if (queue) queue.add(waiter);
    else this.queues.set(bucket, new Set([waiter]));
    this.waiting += 1;
    this.passOn();
    await promise.finally(() => clearTimeout(timer));
  }

  /** Who fills the queue alone gives up its youngest. @throws RegistryUnavailable where nobody has more there */
  private makeRoomFor(bucket: Bucket): void {
    const refusal = new RegistryUnavailable('Too many look-ups wait');
    let longest: readonly [Bucket, Set<Waiter>] | undefined;
    for (const entry of this.queues) if (entry[1].size > (longest?.[1].size ?? 0)) longest = entry;
    if (!longest || longest[1].size <= (this.queues.get(bucket)?.size ?? 0) + 1) throw refusal;
    const youngest = [...longest[1]].at(-1);
    if (!youngest) throw refusal;
    this.leave(longest[0], youngest);
    youngest.refuse(refusal);
  }

  private leave(bucket: Bucket, waiter: Waiter): void {
    const queue = this.queues.get(bucket);
    if (!queue?.delete(waiter)) return;
    this.waiting -= 1;
    if (queue.size === 0) this.queues.delete(bucket);
  }

  /** Begins what there are places for. */
  private passOn(): void {
    while (this.waiting > 0 && this.hasPlace) {
      const [bucket, waiter] = this.next();
      this.leave(bucket, waiter);
      this.running += 1;
      waiter.begin();
    }
    if (this.waiting === 0 || this.running > 0 || this.look) return;
    // Nothing runs whose end would be heard: what is waited for is the allowance.
    // eslint-disable-next-line house/registered-work -- who waits in memory, each with a patience of its own
    this.look = setTimeout(() => {
      this.look = undefined;
      this.passOn();
    }, LOOK_EVERY_MS).unref();
  }

  private next(): readonly [Bucket, Waiter] {
    let first: Bucket | undefined;
    for (const bucket of this.queues.keys())
      if (first === undefined || bucket.chargedAt < first.chargedAt) first = bucket;
    const [waiter] = (first && this.queues.get(first)) ?? [];
    if (first === undefined || waiter === undefined) throw new Error('Nobody waits for a turn');
    return [first, waiter];
  }

  private bucketOf(address: string | undefined): Bucket {
    if (address === undefined) return this.unnamed;
    const network = networkOf(address, 32);
    const known = this.buckets.get(network);
    const bucket = known ?? new Bucket(this.limits.ofOne, this.clock);
    this.buckets.delete(network); // to the end: the eldest is the longest silent
    this.buckets.set(network, bucket);
    const [eldest] = this.buckets.keys();
    if (this.buckets.size > ADDRESSES && eldest !== undefined) this.buckets.delete(eldest);
    return bucket;
  }
}

function demandLeft(bucket: Bucket): void {
  if (bucket.left >= 1) return;
  const detail = 'Too many unknown credentials came from this address.';
  throw new Problem('rate_limited', { detail, headers: { 'Retry-After': '1' } });
}
