import type { LimitAnswer, LimitRequest } from './limit-store.js';

/** A burst of so many seconds' worth passes at once. */
export const BURST_SECONDS = 2;

/** So much of a second's tokens an instance leases at most, but for a few. */
const LEASE_SECONDS = 0.25;
/** So few are leased at once whatever the limit, though never more than half a second's: halves of a small batch serve nobody. */
const FEW = 10;
/** More than was asked for in the last interval, for demand that grows. */
const AHEAD = 1.25;
/**
 * Before it has asked, each of this many instances, or fewer where there are fewer, may spend an even part of what the
 * bucket holds. Were it an even part of all, a batch would not pass at one of twelve though nobody else sends.
 */
const MOST_PARTS = 4;
/**
 * An instance saves up a second's worth, of large limits as much as one request holds: requests of that size come so
 * seldom to each of several that a part of the burst would let half of them through, and the rest of the limit to nobody.
 */
const LARGEST_REQUEST = 500;
/** Of a lease that nothing is asked of a few are kept for so long: a request a second would find none otherwise. */
const KEPT_MS = 2_000;
/** Of the burst, shared out among the instances: less than this is not worth a row of the exchange. */
const TRIFLE = 0.01;
/** Of the limit, shared out likewise: who sends less is never counted together, for it costs more than it changes. */
const UNCOUNTED = 0.02;
/** How far a share goes back, in milliseconds. */
const SHARE_MEMORY_MS = 1_000;
/** Without the store an instance goes on with its share, and this much of it: traffic is no even stream. */
const SHARE_ROOM = 1.1;
/** A bucket untouched for so long is full again whatever its rate, and is forgotten. */
const FORGET_AFTER_MS = BURST_SECONDS * 1000 * 5;

/** What all buckets of an instance go by. */
export interface Surroundings {
  /** Instances that share the limits, this one included. */
  readonly instances: number;
  /** Whether the store has not answered for a while. */
  readonly storeIsAway: boolean;
}

/**
 * An instance's part of a token bucket that several instances share. Alone it is the bucket itself. Of several, each
 * gives away what the bucket fills by, divided by their number, and what it knows the bucket to hold, in parts; where
 * that is not enough it leases more. All that is spent is paid to the store afterwards unless it was leased, so that
 * whatever an instance guessed wrong, their sum over time is the limit.
 */
export class SharedBucket {
  /** Whether it is among those that may have something to exchange. */
  isActive = false;
  /** Tokens that may be given away now; below zero while more was spent than there was. */
  private room: number;
  /** Until when `room` has been filled; in the future while what others spent too much is made up for. */
  private filledAt: number;
  /** Leased and not spent; below zero: spent and not paid for. */
  private credit = 0;
  /** What the store held when it answered last. */
  private known: number;
  private knownAt: number;
  private askedAt: number;
  private demand = 0;
  private demandedAt: number;
  private spent = 0;
  /** Tokens a second that were spent here lately. */
  private share = 0;

  constructor(
    private readonly organizationId: string,
    private readonly id: string,
    private perSecond: number,
    now: number,
    around: Surroundings,
  ) {
    this.known = this.capacity;
    this.knownAt = this.filledAt = this.askedAt = this.demandedAt = now;
    this.room = this.part(this.capacity, around);
  }

  /** Whole tokens that pass now. */
  get free(): number {
    return Math.max(0, Math.floor(this.room));
  }

  /** Fills it up to now, at this rate. */
  fill(now: number, perSecond: number, around: Surroundings): void {
    this.perSecond = perSecond;
    const elapsed = now - this.filledAt;
    if (elapsed > 0) {
      const most = this.mostRoom(around);
      if (this.room < most) this.room = Math.min(most, this.room + (elapsed / 1000) * this.fillRate(around));
      this.filledAt = now;
    }
    if (this.room > this.capacity) this.room = this.capacity; // the limit has been lowered
  }

  /** @param demand what would pass were there enough here, of which `count` do */
  spend(count: number, demand: number): void {
    this.room -= count;
    this.credit -= count;
    this.spent += count;
    this.demand += demand;
  }

  /** What is left of the shared bucket, as far as is known here. */
  left(now: number, { instances }: Surroundings): number {
    const filled = this.known + ((now - this.knownAt) / 1000) * this.perSecond + this.credit;
    const left = instances === 1 ? this.room : Math.max(this.room, Math.min(this.capacity, filled));
    return Math.max(0, Math.floor(left));
  }

  /** Whole seconds until another token is there. */
  secondsUntilNext(now: number): number {
    const blocked = Math.max(0, this.filledAt - now) / 1000;
    return Math.max(1, Math.ceil(blocked + (1 - this.room) / this.perSecond));
  }

  /** Whether little is left here of a bucket that may hold more: it should be asked for before it is needed. */
  isShort(around: Surroundings): boolean {
    return around.instances > 1 && this.known >= 1 && this.room < this.part(this.capacity, around) / 4;
  }

  /** What is to be exchanged with the store; undefined where it is not worth it. */
  ask(now: number, around: Surroundings): LimitRequest | undefined {
    const { organizationId, id, perSecond, capacity } = this;
    const elapsed = now - this.askedAt;
    const expected = Math.ceil(this.demand * AHEAD);
    const isScarce = around.instances > 1 && expected > this.part(this.known, around);
    const wanted = isScarce
      ? Math.min(expected, Math.ceil(Math.max(perSecond * LEASE_SECONDS, this.few)))
      : 0;
    this.noteShare(elapsed, around);
    if (around.storeIsAway) this.forgive(now, around);
    this.askedAt = now;
    this.demand = 0;
    const owed = -this.credit + this.kept(expected, now);
    const trifle = Math.max(1, (capacity * TRIFLE) / around.instances);
    if (wanted > 0 || owed < 0 || owed >= trifle) {
      return { organizationId, id, perSecond, capacity, owed, wanted };
    }
    if (owed > 0) {
      this.credit = Math.min(
        0,
        this.credit + ((perSecond * UNCOUNTED) / around.instances) * (elapsed / 1000),
      );
    }
    return undefined;
  }

  /** What an instance that ends has to exchange: it pays, or gives back what it leased, and leases nothing more. */
  last(): LimitRequest | undefined {
    if (this.credit === 0) return undefined;
    const { organizationId, id, perSecond, capacity } = this;
    return { organizationId, id, perSecond, capacity, owed: -this.credit, wanted: 0 };
  }

  /** Takes the answer to a request that was made at `sentAt`; what was spent since is still to be paid for. */
  settle(request: LimitRequest, answer: LimitAnswer, sentAt: number, around: Surroundings): void {
    const { granted, balance } = answer;
    this.fill(sentAt, this.perSecond, around);
    const saved = this.room - Math.max(0, this.credit);
    this.credit += request.owed + granted;
    this.known = balance;
    this.knownAt = sentAt;
    if (around.instances === 1) return; // nobody else spends: what is known here is more exact
    // What was saved up here is still there if the bucket holds it.
    const unasked = Math.max(this.part(balance, around), Math.min(saved, balance));
    this.room = (balance > 0 ? unasked : 0) + this.credit;
    this.filledAt = sentAt + (balance < 0 ? (-balance / this.perSecond) * 1000 : 0);
  }

  /** Whether nothing waits to be exchanged. */
  get isSettled(): boolean {
    return this.credit === 0 && this.demand === 0;
  }

  /** Whether whoever asks next would find it as a new one. */
  isForgotten(now: number): boolean {
    return !this.isActive && now - this.filledAt >= FORGET_AFTER_MS;
  }

  private get capacity(): number {
    return this.perSecond * BURST_SECONDS;
  }

  private get few(): number {
    return Math.min(FEW, Math.ceil(this.perSecond / 2));
  }

  /** What one instance may take of so many tokens unasked. A whole token at least, or none would ever pass. */
  private part(tokens: number, { instances }: Surroundings): number {
    const part = tokens / Math.min(instances, MOST_PARTS);
    return tokens >= 1 ? Math.max(1, part) : part;
  }

  /** What it fills to here. */
  private mostRoom(around: Surroundings): number {
    return Math.max(this.part(this.capacity, around), Math.min(this.perSecond, LARGEST_REQUEST));
  }

  /** What of a lease is not given back though nothing is asked of it. */
  private kept(expected: number, now: number): number {
    if (expected > 0) this.demandedAt = now;
    const isKept = expected === 0 && this.credit > 0 && now - this.demandedAt < KEPT_MS;
    return isKept ? Math.min(this.few, this.credit) : 0;
  }

  private fillRate({ instances, storeIsAway }: Surroundings): number {
    const even = this.perSecond / instances;
    return storeIsAway ? Math.min(this.perSecond, Math.max(even, this.share * SHARE_ROOM)) : even;
  }

  /** The share that counts in an outage is the one from before. */
  private noteShare(elapsed: number, { storeIsAway }: Surroundings): void {
    const { spent } = this;
    this.spent = 0;
    if (elapsed <= 0 || storeIsAway) return;
    const weight = elapsed / (elapsed + SHARE_MEMORY_MS);
    this.share += weight * ((spent / elapsed) * 1000 - this.share);
  }

  /**
   * What was spent in an outage is covered by what the bucket filled by meanwhile, but for what is still missing here:
   * an even part of the burst at most, so that nobody is refused after an outage for having gone on within the limit.
   */
  private forgive(now: number, around: Surroundings): void {
    const most = this.part(this.capacity, around);
    this.fill(now, this.perSecond, around);
    const missing = Math.min(1, Math.max(0, 1 - this.room / most));
    this.credit = Math.max(this.credit, (-missing * this.capacity) / around.instances);
  }
}
