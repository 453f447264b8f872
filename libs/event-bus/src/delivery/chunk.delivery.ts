import { log } from '@customer-platform/http';
import { isInfrastructureError } from '../errors.js';
import { layered, type Keyed } from './layers.js';

/** What a chunk is delivered to. */
export interface Receiver<T extends Keyed> {
  /** Takes a run of one type: all of it, or, by a throw, none. */
  handle(type: string, run: readonly T[]): Promise<void>;
  /** Takes an event that failed for the last time, for good. */
  giveUp(event: T, failure: { error: unknown; attempts: number }): Promise<void>;
  /** Waits; throws when the consumption ends meanwhile. */
  pause(ms: number): Promise<void>;
}

/** How often an event is tried alone before it is given up. */
export const ATTEMPTS = 3;
const POISON_PAUSE_MS = [100, 500];
/** An outage is told when it begins and then at every fifteenth try, about every half minute. */
const SAY_EVERY = 15;
const OUTAGE_PAUSE_MS = [100, 250, 500, 1_000, 2_000];

/**
 * Delivers one chunk. Order per key holds throughout. An event at fault holds back only later events of its own key,
 * which wait with it for the next round; the pause between rounds is one for all of them.
 */
export class ChunkDelivery<T extends Keyed> {
  private readonly attempts = new Map<T, { error: unknown; count: number }>();
  private held = new Set<string>();
  private later = new Set<T>();

  constructor(private readonly receiver: Receiver<T>) {}

  /** Resolves when every event has had its effect or has been given up. Throws only what `pause` throws. */
  async deliver(events: readonly T[]): Promise<void> {
    let waiting = events;
    for (let round = 0; waiting.length > 0; round += 1) {
      if (round > 0)
        await this.receiver.pause(POISON_PAUSE_MS[Math.min(round, POISON_PAUSE_MS.length) - 1] ?? 0);
      this.held = new Set();
      this.later = new Set();
      for (const run of layered(waiting)) await this.deliverRun(run);
      waiting = waiting.filter((event) => this.later.has(event));
    }
  }

  /** Halves a run that fails until the events at fault stand alone. */
  private async deliverRun(run: readonly T[]): Promise<void> {
    const free = run.filter((event) => !this.held.has(event.key));
    for (const event of run) if (this.held.has(event.key)) this.later.add(event);
    const [first] = free;
    if (!first) return;
    const failure = await this.attempt(() => this.receiver.handle(first.type, free));
    if (!failure) return;
    if (free.length === 1) {
      await this.failed(first, failure.error);
      return;
    }
    const middle = Math.ceil(free.length / 2);
    await this.deliverRun(free.slice(0, middle));
    await this.deliverRun(free.slice(middle));
  }

  private async failed(event: T, error: unknown): Promise<void> {
    const count = (this.attempts.get(event)?.count ?? 0) + 1;
    this.attempts.set(event, { error, count });
    if (count >= ATTEMPTS) await this.giveUp(event, { error, attempts: count });
    else {
      this.held.add(event.key);
      this.later.add(event);
    }
  }

  /** Giving up is an effect too: it must be kept, however long that takes. */
  private async giveUp(event: T, failure: { error: unknown; attempts: number }): Promise<void> {
    for (let tried = 0; ; tried += 1) {
      const again = await this.attempt(() => this.receiver.giveUp(event, failure));
      if (!again) return;
      log.error({ err: again.error, type: event.type }, 'A failed event could not be given up; trying again');
      await this.receiver.pause(outagePause(tried));
    }
  }

  /** Runs it, again and again while what it stands on is away; returns an error that is the events' own. */
  private async attempt(run: () => Promise<void>): Promise<{ error: unknown } | undefined> {
    for (let tried = 0; ; tried += 1) {
      try {
        await run();
        return undefined;
      } catch (error) {
        if (!isInfrastructureError(error)) return { error };
        if (tried % SAY_EVERY === 0) {
          log.warn({ err: error, tried }, 'Something a consumer needs is away; trying again');
        }
        await this.receiver.pause(outagePause(tried));
      }
    }
  }
}

function outagePause(tried: number): number {
  return OUTAGE_PAUSE_MS[Math.min(tried, OUTAGE_PAUSE_MS.length - 1)] ?? 0;
}
