import { log, SteadyLoop } from '@customer-platform/http';
import type { AuthorizationSource } from './authorization-source.js';
import type { CredentialCache } from './credential-cache.js';
import type { Monotonic } from './monotonic.js';
import type { ChangesPage } from './protocol.js';

/** The paces of the feed, in milliseconds (identity.md §8). */
interface FeedPace {
  /** From the beginning of one read to the beginning of the next while requests come. */
  readonly every: number;
  /** The same once none has come for {@link FeedPace.quietAfter}. */
  readonly quietEvery: number;
  /** How long after the last request it reads on as while they come. */
  readonly quietAfter: number;
  /** A read that has not ended by then has failed. */
  readonly timeout: number;
  /** A cached credential permits while the last good read began at most so long ago. */
  readonly fresh: number;
}

/**
 * 250 + 500 = 750: one read of the longest length allowed does not interrupt freshness. Where nobody asks, nobody
 * needs to be fresh: the first request after a quiet time asks the registry itself, and has the feed read again.
 */
export const FEED_PACE: FeedPace = {
  every: 250,
  quietEvery: 5_000,
  quietAfter: 30_000,
  timeout: 500,
  fresh: 750,
};

/**
 * Reads which organizations' rights have changed and outdates their cached credentials. It keeps the promise that a
 * change committed before the last good read began has been applied here.
 */
export class ChangeFeed {
  private cursor: string | undefined;
  private lastGoodBegan = -Infinity;
  private askedAt: number;
  private round = 0;
  private downSince: number | undefined;
  private stopped = false;
  private wake: (() => void) | undefined;
  private loop: Promise<void> | undefined;
  private readonly turns = new SteadyLoop({ name: 'rights-changes', takes: null });

  constructor(
    private readonly source: AuthorizationSource,
    private readonly cache: CredentialCache,
    private readonly clock: Monotonic,
    private readonly pace: FeedPace = FEED_PACE,
  ) {
    this.askedAt = clock.now();
  }

  /** When the last good read began; minus infinity before the first. */
  get goodAt(): number {
    return this.lastGoodBegan;
  }

  /** Whether cached credentials may permit now. That it is asked keeps the feed at its pace, and wakes it where it rests. */
  isFresh(now: number): boolean {
    const wasQuiet = this.isQuiet(now);
    this.askedAt = now;
    if (wasQuiet) this.wake?.();
    return now - this.lastGoodBegan <= this.pace.fresh;
  }

  private isQuiet(now: number): boolean {
    return now - this.askedAt >= this.pace.quietAfter;
  }

  /** Whether the registry did not answer the last read: a cheap sign of an outage. */
  get isDown(): boolean {
    return this.downSince !== undefined;
  }

  /**
   * Which uninterrupted run of reads this is; 0 before the first good one. An answer may be kept only if the same
   * run was on when it was asked for: changes between it and a run's first read are in no read.
   */
  get run(): number {
    return this.round;
  }

  start(): void {
    this.loop ??= this.turns.run(
      () => this.stopped,
      () => this.readOn(),
    );
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.wake?.();
    await this.loop;
  }

  /** One read; the loop makes them, a test may. False if the registry did not answer, which is noted. */
  async read(): Promise<boolean> {
    const began = this.clock.now();
    try {
      this.apply(await this.source.changes(this.cursor, this.pace.timeout));
    } catch (error) {
      this.noteFailure(error);
      return false;
    }
    this.lastGoodBegan = began;
    this.noteAnswer();
    return true;
  }

  private apply(page: ChangesPage): void {
    if (page.reset) this.cache.outdateAll();
    const now = this.clock.now();
    for (const { organization_id: organizationId, epoch } of page.changes) {
      this.cache.raise(organizationId, epoch, now);
    }
    this.cache.trim();
    if (page.reset || this.cursor === undefined) this.round += 1;
    this.cursor = page.cursor;
  }

  private async readOn(): Promise<void> {
    const began = this.clock.now();
    await this.read();
    const now = this.clock.now();
    const every = this.isQuiet(now) ? this.pace.quietEvery : this.pace.every;
    await this.rest(every - (now - began));
  }

  private async rest(milliseconds: number): Promise<void> {
    if (this.stopped || milliseconds <= 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.wake = resolve;
    const timer = setTimeout(resolve, milliseconds).unref();
    await promise;
    clearTimeout(timer);
  }

  private noteAnswer(): void {
    if (this.downSince === undefined) return;
    const outageMs = Math.round(this.clock.now() - this.downSince);
    this.downSince = undefined;
    log.info({ outageMs }, 'The authorization registry answers again');
  }

  private noteFailure(error: unknown): void {
    if (this.downSince !== undefined) return;
    this.downSince = this.clock.now();
    log.warn({ err: error }, 'The authorization registry does not answer');
  }
}
