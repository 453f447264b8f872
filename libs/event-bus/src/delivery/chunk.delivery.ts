import { log } from '@customer-platform/http';
import { isInfrastructureError, mayBeOfOneEvent, mayBeOfItsValues } from '../errors.js';
import { layered, type Keyed } from './layers.js';
import { Stalls } from './stalls.js';

/** What a chunk is delivered to. */
export interface Receiver<T extends Keyed> {
  /** Takes a run of one type: all of it, or, by a throw, none. */
  handle(type: string, run: readonly T[]): Promise<void>;
  /** Takes an event that failed for the last time, for good. */
  giveUp(event: T, failure: { error: unknown; attempts: number }): Promise<void>;
  /** Waits; throws when the consumption ends meanwhile. */
  pause(ms: number): Promise<void>;
}

/** What is delivered: a part is what is read by itself, a partition; an owner is an organization. */
export interface Delivered extends Keyed {
  readonly part?: string;
  readonly owner?: string;
}

/** How often an event is tried alone before it is given up. */
export const ATTEMPTS = 3;
/** How often a run is tried before its parts are, where one of its events may be what it fails for. */
export const TRIES_TOGETHER = 3;
/**
 * So many events of an owner may stall alone in a round, and as many of those known to: each takes a time limit, and others
 * wait for the next round.
 */
export const MOST_STALLS = 5;
const POISON_PAUSE_MS = [100, 500];
/** An outage is told when it begins and then at every fifteenth try, about every half minute. */
const SAY_EVERY = 15;
const OUTAGE_PAUSE_MS = [100, 250, 500, 1_000, 2_000];

interface Failure {
  readonly error: unknown;
  /** Whether it says nothing of the events by itself. */
  readonly transient: boolean;
}

/**
 * Delivers one chunk. Order per key holds throughout. An event at fault holds back only later events of its own key,
 * which wait with it for the next round; the pause between rounds is one for all of them. So does an event that alone
 * runs into a time limit, once all others had their effect.
 */
export class ChunkDelivery<T extends Delivered> {
  private readonly attempts = new Map<T, number>();
  private held = new Set<string>();
  private later = new Set<T>();
  /** Keys whose first event stalled in this round. */
  private stuck = new Set<string>();
  /** How often something stalled since anything came through. */
  private inARow = 0;
  /** By owner, how many of its events stalled alone: in this round those not known to, then those that are. */
  private stalledOf = new Map<string | undefined, number>();

  constructor(
    private readonly receiver: Receiver<T>,
    private readonly stalls: Stalls<T>,
  ) {}

  /**
   * Resolves when every event has had its effect or has been given up, but for those returned: they wait for events that
   * stalled, and are to be delivered again, with what else has come by then. Throws only what `pause` throws.
   */
  async deliver(events: readonly T[]): Promise<readonly T[]> {
    let waiting = events;
    for (let round = 0; waiting.length > 0; round += 1) {
      if (round > 0)
        await this.receiver.pause(POISON_PAUSE_MS[Math.min(round, POISON_PAUSE_MS.length) - 1] ?? 0);
      this.held = new Set();
      this.later = new Set();
      this.stuck = new Set();
      const { free, suspects } = this.apart(waiting);
      this.stalledOf = new Map();
      for (const run of layered(free)) await this.deliverRun(run);
      this.stalledOf = new Map();
      for (const suspect of suspects) await this.deliverRun([suspect], 1);
      waiting = waiting.filter((event) => this.later.has(event));
      if (waiting.length > 0 && waiting.every(({ key }) => this.stuck.has(key))) {
        this.stalls.repeat(events);
        return waiting;
      }
    }
    return [];
  }

  /** What stalled before is tried after all others, alone; what follows it by key waits for the next round. */
  private apart(waiting: readonly T[]): { free: readonly T[]; suspects: T[] } {
    const suspects = new Map<string, T>();
    const free: T[] = [];
    for (const event of waiting) {
      if (suspects.has(event.key)) this.later.add(event);
      else if (this.stalls.has(event)) suspects.set(event.key, event);
      else free.push(event);
    }
    return { free, suspects: [...suspects.values()] };
  }

  /** Halves a run that fails until the events at fault stand alone; one that stalls goes by partition, then by event. */
  private async deliverRun(run: readonly T[], tries = TRIES_TOGETHER): Promise<void> {
    const free = run.filter((event) => !this.held.has(event.key));
    for (const event of run) if (this.held.has(event.key)) this.later.add(event);
    const [first] = free;
    if (!first) return;
    if (free.length === 1 && (this.stalledOf.get(first.owner) ?? 0) >= MOST_STALLS) {
      this.stuck.add(first.key);
      this.hold(first);
      return;
    }
    const failure = await this.attempt(() => this.receiver.handle(first.type, free), tries);
    if (!failure) {
      this.inARow = 0;
      this.stalls.passed(free);
      return;
    }
    if (free.length === 1) {
      await (failure.transient ? this.stalled(first, failure.error) : this.failed(first, failure.error));
      return;
    }
    for (const part of failure.transient ? partsOf(free) : halvesOf(free))
      await this.deliverRun(part, failure.transient ? 1 : tries);
  }

  private async failed(event: T, error: unknown): Promise<void> {
    const count = (this.attempts.get(event) ?? 0) + 1;
    this.attempts.set(event, count);
    if (count >= ATTEMPTS) await this.giveUp(event, { error, attempts: count });
    else this.hold(event);
  }

  /** Others go on before it is tried again. */
  private async stalled(event: T, error: unknown): Promise<void> {
    const times = this.stalls.note(event);
    this.countStall(event.owner);
    if (mayBeOfItsValues(error) && this.stalls.isAtFault(event)) {
      await this.giveUp(event, { error, attempts: times });
      return;
    }
    const context = { err: error, type: event.type, times };
    if (this.inARow === 0) log.warn(context, 'An event stalls its consumer; others go on before it');
    this.stuck.add(event.key);
    this.hold(event);
    await this.receiver.pause(outagePause(Math.max(this.inARow, times - 1)));
    this.inARow += 1;
  }

  private countStall(owner: string | undefined): void {
    this.stalledOf.set(owner, (this.stalledOf.get(owner) ?? 0) + 1);
  }

  private hold(event: T): void {
    this.held.add(event.key);
    this.later.add(event);
  }

  /** Giving up is an effect too: it must be kept, however long that takes. */
  private async giveUp(event: T, failure: { error: unknown; attempts: number }): Promise<void> {
    // eslint-disable-next-line house/no-endless-turns -- an outage lasts as long as it lasts; `pause` throws once the consumer ends
    for (let tried = 0; ; tried += 1) {
      const again = await this.attempt(() => this.receiver.giveUp(event, failure));
      if (!again) break;
      log.error({ err: again.error, type: event.type }, 'A failed event could not be given up; trying again');
      await this.receiver.pause(outagePause(tried));
    }
    this.stalls.forget(event);
  }

  /**
   * Runs it, again and again while what it stands on is away; returns an error that is the events' own. What may be an
   * outage or one event's doing is returned after so many tries.
   */
  private async attempt(run: () => Promise<void>, tries = Infinity): Promise<Failure | undefined> {
    let unclear = 0;
    // eslint-disable-next-line house/no-endless-turns -- an outage lasts as long as it lasts; `pause` throws once the consumer ends
    for (let tried = 0; ; tried += 1) {
      try {
        await run();
        return undefined;
      } catch (error) {
        if (!isInfrastructureError(error)) return { error, transient: false };
        if (mayBeOfOneEvent(error)) unclear += 1;
        if (unclear >= tries) return { error, transient: true };
        if (tried % SAY_EVERY === 0) {
          log.warn({ err: error, tried }, 'Something a consumer needs is away; trying again');
        }
        await this.receiver.pause(outagePause(tried));
      }
    }
  }
}

/** By partition where there are several, else by owner, else one by one. */
function partsOf<T extends Delivered>(run: readonly T[]): T[][] {
  for (const by of ['part', 'owner'] as const) {
    const parts = Map.groupBy(run, (event) => event[by]);
    if (parts.size > 1) return [...parts.values()];
  }
  return run.map((event) => [event]);
}

function halvesOf<T>(run: readonly T[]): T[][] {
  const middle = Math.ceil(run.length / 2);
  return [run.slice(0, middle), run.slice(middle)];
}

function outagePause(tried: number): number {
  return OUTAGE_PAUSE_MS[Math.min(tried, OUTAGE_PAUSE_MS.length - 1)] ?? 0;
}
