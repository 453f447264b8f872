import { plainAddress } from '@customer-platform/config';
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
  private left: number;
  private at: number;

  constructor(
    private readonly allowance: Allowance,
    private readonly clock: Monotonic,
  ) {
    this.left = allowance.burst;
    this.at = clock.now();
  }

  get isEmpty(): boolean {
    const now = this.clock.now();
    const { burst, perSecond } = this.allowance;
    this.left = Math.min(burst, this.left + ((now - this.at) * perSecond) / 1_000);
    this.at = now;
    return this.left < 1;
  }

  take(): void {
    this.left = Math.max(0, this.left - 1);
  }
}

/**
 * The look-ups of credentials never seen good here: random keys cost whoever sends them a refusal, and the registry a
 * bounded number of questions, while known credentials are refreshed on a lane of their own. What counts against an
 * address and against all are look-ups that found nothing: a process that starts asks for as many good ones as come.
 */
export class StrangerLane {
  private readonly all: Bucket;
  private readonly buckets = new Map<string, Bucket>();
  private readonly waiting = new Set<() => void>();
  private running = 0;

  constructor(
    private readonly clock: Monotonic,
    private readonly limits: StrangerLimits = STRANGER_LIMITS,
  ) {
    this.all = new Bucket(limits.ofAll, clock);
  }

  /**
   * Asks when it is the caller's turn.
   * @throws Problem `rate_limited` when the address has asked for too many that are none, RegistryUnavailable when all
   *   together have or too many wait, and what `ask` throws
   */
  async run<T>(address: string | undefined, ask: () => Promise<T>): Promise<T> {
    const bucket = this.bucketOf(address);
    this.demandLeft(bucket);
    if (this.running < this.limits.running) this.running += 1;
    else await this.turn();
    try {
      this.demandLeft(bucket); // those before may have used up what there was
      return await ask();
    } catch (error) {
      if (error instanceof UnknownCredential) for (const charged of [bucket, this.all]) charged?.take();
      throw error;
    } finally {
      this.passOn();
    }
  }

  private demandLeft(bucket: Bucket | undefined): void {
    if (bucket?.isEmpty) {
      const detail = 'Too many unknown credentials came from this address.';
      throw new Problem('rate_limited', { detail, headers: { 'Retry-After': '1' } });
    }
    if (this.all.isEmpty) throw new RegistryUnavailable('Too many unknown credentials were asked for');
  }

  /** Resolves when one of the places is the caller's. */
  private async turn(): Promise<void> {
    const { waiting, patience } = this.limits;
    if (this.waiting.size >= waiting) throw new RegistryUnavailable('Too many look-ups wait');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      this.waiting.delete(resolve);
      reject(new RegistryUnavailable('The look-up waited too long for its turn'));
    }, patience);
    this.waiting.add(resolve);
    await promise.finally(() => clearTimeout(timer));
  }

  /** A place goes to whoever waits longest: it is never free in between. */
  private passOn(): void {
    const [next] = this.waiting;
    if (next === undefined) {
      this.running -= 1;
      return;
    }
    this.waiting.delete(next);
    next();
  }

  private bucketOf(address: string | undefined): Bucket | undefined {
    if (address === undefined) return undefined;
    const network = networkOf(address);
    const known = this.buckets.get(network);
    const bucket = known ?? new Bucket(this.limits.ofOne, this.clock);
    this.buckets.delete(network); // to the end: the eldest is the longest silent
    this.buckets.set(network, bucket);
    const [eldest] = this.buckets.keys();
    if (this.buckets.size > ADDRESSES && eldest !== undefined) this.buckets.delete(eldest);
    return bucket;
  }
}

/** An IPv4 address, or the /64 of an IPv6 address, which is what one subscriber is given at least. */
export function networkOf(address: string): string {
  const plain = plainAddress(address);
  if (!plain.includes(':')) return plain;
  const [head = '', tail] = plain.toLowerCase().split('%', 1).join('').split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - first.length - last.length);
  const groups = [...first, ...Array<string>(zeros).fill('0'), ...last];
  return groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':');
}
