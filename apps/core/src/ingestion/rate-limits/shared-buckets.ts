import type { LimitAnswer, LimitRequest } from './limit-store.js';
import { SharedBucket, type Surroundings } from './shared-bucket.js';

/** A store that has not answered for so long is away: its answers are not waited for any longer. */
const AWAY_AFTER_MS = 1_000;
/** How often buckets that nobody uses any longer are looked for. */
const SWEEP_EVERY_MS = 10_000;

/** What is to be exchanged with the store, and the buckets that asked. */
interface Asking {
  readonly sentAt: number;
  readonly requests: LimitRequest[];
  readonly buckets: SharedBucket[];
}

/** This instance's parts of all buckets, kept in memory, and what they have to exchange with the store. */
export class SharedBuckets {
  private readonly around = { instances: 1, storeIsAway: false };
  private readonly buckets = new Map<string, SharedBucket>();
  /** Those that may have something to exchange, the longest waiting first. */
  private readonly active = new Set<SharedBucket>();
  private waitingSince: number | undefined;
  private sweptAt = 0;
  private listener: (short: boolean) => void = () => undefined;

  /** @param now milliseconds that only grow */
  constructor(readonly now: () => number) {}

  /** Instances that share the limits, this one included. */
  get instances(): number {
    return this.around.instances;
  }

  set instances(count: number) {
    this.around.instances = count;
  }

  /** Calls `listener` when there may be something to exchange; `short`: before long it will be needed. */
  listen(listener: (short: boolean) => void): void {
    this.listener = listener;
  }

  /** A bucket as it is now, at this rate. */
  bucket(organizationId: string, id: string, perSecond: number, now: number): SharedBucket {
    if (now - this.sweptAt >= SWEEP_EVERY_MS) this.sweep(now);
    const around = this.surroundings(now);
    let bucket = this.buckets.get(id);
    if (!bucket) {
      bucket = new SharedBucket(organizationId, id, perSecond, now, around);
      this.buckets.set(id, bucket);
    }
    bucket.fill(now, perSecond, around);
    return bucket;
  }

  /** @param demand what would pass were there enough in it, of which `count` do */
  spend(bucket: SharedBucket, count: number, demand: number): void {
    bucket.spend(count, demand);
    const short = bucket.isShort(this.around);
    if (bucket.isActive && !short) return;
    bucket.isActive = true;
    this.active.add(bucket);
    this.listener(short);
  }

  /** What is left of a bucket, as far as is known here. */
  left(bucket: SharedBucket, now: number): number {
    return bucket.left(now, this.around);
  }

  /** Whether anything may have to be exchanged. */
  get isActive(): boolean {
    return this.active.size > 0;
  }

  /** What is to be exchanged now, of the longest waiting first and of no more than `most` of them. */
  ask(most: number): Asking {
    const now = this.now();
    const around = this.surroundings(now);
    const asking: Asking = { sentAt: now, requests: [], buckets: [] };
    for (const bucket of this.active) {
      if (asking.requests.length >= most) break;
      const request = bucket.ask(now, around);
      if (request) {
        asking.requests.push(request);
        asking.buckets.push(bucket);
      } else if (bucket.isSettled) {
        bucket.isActive = false;
        this.active.delete(bucket);
      }
    }
    for (const bucket of asking.buckets) {
      this.active.delete(bucket);
      this.active.add(bucket);
    }
    return asking;
  }

  /** What is to be exchanged by an instance that ends. */
  last(): LimitRequest[] {
    return [...this.active].map((bucket) => bucket.last()).filter((request) => request !== undefined);
  }

  /** Takes the answers, in the order of the requests. */
  settle({ sentAt, requests, buckets }: Asking, answers: readonly LimitAnswer[]): void {
    const around = this.surroundings(this.now());
    for (const [index, request] of requests.entries()) {
      const answer = answers[index];
      if (answer) buckets[index]?.settle(request, answer, sentAt, around);
    }
  }

  /** The store is being asked, and has not answered yet. */
  waiting(): void {
    this.waitingSince ??= this.now();
  }

  /** The store has answered. */
  answered(): void {
    this.waitingSince = undefined;
  }

  /** Seconds for which the store has not answered, once that is longer than it may take; otherwise 0. */
  get secondsAway(): number {
    const now = this.now();
    return this.isAway(now) ? (now - (this.waitingSince ?? now)) / 1000 : 0;
  }

  private surroundings(now: number): Surroundings {
    this.around.storeIsAway = this.isAway(now);
    return this.around;
  }

  private isAway(now: number): boolean {
    return this.waitingSince !== undefined && now - this.waitingSince > AWAY_AFTER_MS;
  }

  private sweep(now: number): void {
    this.sweptAt = now;
    for (const [id, bucket] of this.buckets) if (bucket.isForgotten(now)) this.buckets.delete(id);
  }
}
