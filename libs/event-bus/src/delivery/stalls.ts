import type { Keyed } from './layers.js';

/** How often an event stalls alone, while others come through, before it is given up. */
export const STALLS = 3;
/** Beyond them those noted longest ago are forgotten: an event that stalls still is noted again. */
const MOST_STALLED = 100;
const MOST_REPEATED = 20_000;

interface Stall {
  times: number;
  /** Of these, the first and those with others coming through since the one before. */
  count: number;
  /** How many runs of its type had come through when it stalled last. */
  passes: number;
  /** How many of them had held an event for the first time, when it stalled first. */
  readonly fresh: number;
}

interface Passes {
  runs: number;
  fresh: number;
}

/**
 * The events of one subscriber that ran alone into what their values may cause as well as an outage, a time limit above
 * all. It is the event's own doing where others of its type come through between its tries; where nothing comes through
 * nothing is proved, and it waits.
 */
export class Stalls<T extends Keyed> {
  private readonly stalled = new Map<string, Stall>();
  private readonly passes = new Map<string, Passes>();
  /** What is delivered again because of one that stalls: that it comes through once more proves less. */
  private readonly repeated = new Set<string>();

  constructor(private readonly idOf: (event: T) => string) {}

  has(event: T): boolean {
    return this.stalled.has(this.idOf(event));
  }

  /** Notes that it stalled alone; returns how often it did. */
  note(event: T): number {
    const id = this.idOf(event);
    const { runs, fresh } = this.passesOf(event.type);
    const stall = this.stalled.get(id) ?? { times: 0, count: 0, passes: -1, fresh };
    stall.times += 1;
    if (runs > stall.passes) stall.count += 1;
    stall.passes = runs;
    this.stalled.set(id, stall);
    if (this.stalled.size > MOST_STALLED) dropOldest(this.stalled);
    return stall.times;
  }

  /** Whether it is at fault itself: it stalled often enough, and events that had not been delivered before did not. */
  isAtFault(event: T): boolean {
    const stall = this.stalled.get(this.idOf(event));
    return stall !== undefined && stall.count >= STALLS && this.passesOf(event.type).fresh > stall.fresh;
  }

  /** A run had its effect. */
  passed(run: readonly T[]): void {
    const [first] = run;
    if (!first) return;
    const passes = this.passesOf(first.type);
    passes.runs += 1;
    if (run.some((event) => !this.repeated.has(this.idOf(event)))) passes.fresh += 1;
    if (this.stalled.size > 0) for (const event of run) this.forget(event);
  }

  /** It is settled, one way or the other. */
  forget(event: T): void {
    this.stalled.delete(this.idOf(event));
    if (this.stalled.size === 0) this.repeated.clear();
  }

  /** These will be delivered again, whether they have had their effect or not. */
  repeat(events: readonly T[]): void {
    for (const event of events) {
      this.repeated.add(this.idOf(event));
      if (this.repeated.size > MOST_REPEATED) dropOldest(this.repeated);
    }
  }

  private passesOf(type: string): Passes {
    const passes = this.passes.get(type) ?? { runs: 0, fresh: 0 };
    this.passes.set(type, passes);
    return passes;
  }
}

function dropOldest(kept: Map<string, unknown> | Set<string>): void {
  const [oldest] = kept.keys();
  if (oldest !== undefined) kept.delete(oldest);
}
