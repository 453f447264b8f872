/** What an instance has to say of one bucket, and what it wishes of it. */
export interface LimitRequest {
  /** Whose bucket: of an organization, or of one of its keys. */
  readonly organizationId: string;
  /** The organization's id or the key's. */
  readonly id: string;
  readonly perSecond: number;
  /** The most tokens that the bucket holds. */
  readonly capacity: number;
  /** Spent and not paid for yet; below zero: leased before and given back. */
  readonly owed: number;
  /** Tokens to lease, a whole number. */
  readonly wanted: number;
}

/** What became of a {@link LimitRequest}. */
export interface LimitAnswer {
  /** Leased: as many whole tokens of those wanted as there were. */
  readonly granted: number;
  /** What is left after that; below zero where more was spent than there was. */
  readonly balance: number;
}

/**
 * Where the instances of core share their limits. Every bucket fills at its rate by the store's own clock; one that the
 * store does not know is full. All methods reject where the store does not answer.
 */
export interface LimitStore {
  /**
   * The answers, in the order of the requests; each bucket is named once.
   * @param mostDebt see {@link mostDebtOf}
   */
  exchange(requests: readonly LimitRequest[], mostDebt: number): Promise<LimitAnswer[]>;
  /** Says that this instance lives, for {@link INSTANCE_SECONDS}. @returns how many do, itself included */
  beat(instanceId: string): Promise<number>;
  /** This instance ends. */
  leave(instanceId: string): Promise<void>;
  /** Forgets buckets that are full again. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

const LEAST_DEBT = 5;
/** Of what a bucket holds, so much may one instance have saved up: a second's worth of two. */
const SAVED = 0.5;

/**
 * How many times what a bucket holds it may be short of: a debt that was made at a high limit is not paid for hours at
 * one that has been lowered since. More than so many instances together can spend too much at once: what went beyond it
 * would never be paid for.
 */
export function mostDebtOf(instances: number): number {
  return Math.max(LEAST_DEBT, instances * SAVED);
}

/** An instance that has said nothing for so long counts no more. */
export const INSTANCE_SECONDS = 15;
