import type { Keyed } from './layers.js';

/** How often an event stalls alone, while others come through, before it is given up. */
export const STALLS = 3;
/**
 * Where nothing of its own type comes that would prove it at fault, it is given up all the same once it has stalled alone
 * so often, over so long: sooner where anything else came through in between, for then it is no outage of all.
 */
export const UNPROVEN = {
  besideOthers: { stalls: 10, ms: 10 * 60_000 },
  alone: { stalls: 20, ms: 60 * 60_000 },
} as const;
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
  /** As `count` and `passes`, with others of whatever type. */
  countBesideAny: number;
  passesOfAny: number;
  /** When it stalled first. */
  readonly since: number;
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
  private runs = 0;
  /** What is delivered again because of one that stalls: that it comes through once more proves less. */
  private readonly repeated = new Set<string>();

  /** @param now milliseconds that only grow */
  constructor(
    private readonly idOf: (event: T) => string,
    private readonly now: () => number = () => performance.now(),
  ) {}

  has(event: T): boolean {
    return this.stalled.has(this.idOf(event));
  }

  /** Notes that it stalled alone; returns how often it did. */
  note(event: T): number {
    const id = this.idOf(event);
    const { runs, fresh } = this.passesOf(event.type);
    const stall = this.stalled.get(id) ?? this.first(fresh);
    stall.times += 1;
    if (runs > stall.passes) stall.count += 1;
    if (this.runs > stall.passesOfAny) stall.countBesideAny += 1;
    stall.passes = runs;
    stall.passesOfAny = this.runs;
    this.stalled.set(id, stall);
    if (this.stalled.size > MOST_STALLED) dropOldest(this.stalled);
    return stall.times;
  }

  /**
   * Whether it is at fault itself: it stalled often enough, and events that had not been delivered before did not. Or
   * whether it has been waited for such proof for too long.
   */
  isAtFault(event: T): boolean {
    const stall = this.stalled.get(this.idOf(event));
    if (!stall) return false;
    if (stall.count >= STALLS && this.passesOf(event.type).fresh > stall.fresh) return true;
    const { besideOthers, alone } = UNPROVEN;
    const forMs = this.now() - stall.since;
    return (
      (stall.countBesideAny >= besideOthers.stalls && forMs >= besideOthers.ms) ||
      (stall.times >= alone.stalls && forMs >= alone.ms)
    );
  }

  /** A run had its effect. */
  passed(run: readonly T[]): void {
    const [first] = run;
    if (!first) return;
    const passes = this.passesOf(first.type);
    passes.runs += 1;
    this.runs += 1;
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

  private first(fresh: number): Stall {
    const never = { times: 0, count: 0, passes: -1, countBesideAny: 0, passesOfAny: -1 };
    return { ...never, fresh, since: this.now() };
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
