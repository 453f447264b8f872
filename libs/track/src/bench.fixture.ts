import { surroundings } from './environment.js';
import { Receiver } from './receiver.fixture.js';
import { MemoryStore, type Store } from './store.js';
import { type Drop, Tracker, type TrackerOptions } from './tracker.js';
import type { Failure } from './sender.js';

/** A tracker of a test: time stands still until the test moves it. */
export class TestTracker {
  now = Date.parse('2026-11-21T09:30:00.000Z');
  /** What `random` answers. */
  random = 0.5;
  readonly drops: Drop[] = [];
  readonly failures: Failure[] = [];
  readonly tracker: Tracker;
  private readonly timers = new Set<{ at: number; work: () => void }>();

  constructor(
    readonly receiver: Receiver,
    options: Partial<TrackerOptions> = {},
    readonly store: Store = new MemoryStore(),
    isPage = false,
  ) {
    const environment = {
      ...surroundings(store),
      isPage,
      now: () => this.now,
      random: () => this.random,
      later: (ms: number, work: () => void) => {
        const timer = { at: this.now + ms, work };
        this.timers.add(timer);
        return () => this.timers.delete(timer);
      },
    };
    const told = {
      onDrop: (drop: Drop) => this.drops.push(drop),
      onFailure: (failure: Failure) => this.failures.push(failure),
    };
    const usual = { url: receiver.url, key: 'cpk_live_test', externalId: 'person-1', ...told };
    this.tracker = new Tracker({ ...usual, ...options }, environment);
  }

  /** Milliseconds from now at which something is to happen, soonest first. */
  get due(): number[] {
    return [...this.timers].map(({ at }) => at - this.now).sort((one, other) => one - other);
  }

  /** Resolves when all that was queued has been answered. */
  async emptied(): Promise<void> {
    while (this.tracker.counts.queued > 0) await new Promise(setImmediate);
  }

  /** Lets time pass; what becomes due begins. */
  pass(ms: number): void {
    this.now += ms;
    for (const timer of [...this.timers].sort((one, other) => one.at - other.at)) {
      if (timer.at > this.now || !this.timers.delete(timer)) continue;
      timer.work();
    }
  }
}
