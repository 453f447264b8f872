import { ConcurrencyLimit, networkOf } from '@customer-platform/config';
import { CLASSES, type RouteClass } from './route-classes.js';

/** No limit is lower: who is asked so little is not crowded, however slow. */
export const LEAST = 32;
/** Windows that are borne before anything is refused: a crowd of 128 for half a second, one of 64 for four. */
const PATIENCE = 20;
/** Part of a room that is filled at most by what is never refused. */
const OF_ESSENTIALS = 0.5;
/** Beyond the limit by so much a network is let in that has less than its part. */
const FOR_SMALL_NETWORKS = 1.25;
/** A turn of the event loop may take so long, in milliseconds. */
const TOLERABLE_TURN_MS = 50;

/** A request that its module has not begun to answer. */
export class Pending {
  private found: string | undefined;

  constructor(
    readonly route: RouteClass,
    private readonly address: string,
    readonly since: number,
    readonly isQuiet: boolean,
    /** Ends it, if its module has not heard of it yet. Whether it did. */
    readonly giveUp: () => boolean,
  ) {}

  get network(): string {
    return (this.found ??= networkOf(this.address, 24));
  }
}

/**
 * Limits how many requests a module is asked at once, by how long it takes to answer: beyond that they are refused at once,
 * by their class, and those of networks that have less than their part last.
 */
export class Admission {
  private readonly pending = new Set<Pending>();
  /** Those that are pending too, and of a class that is never refused. */
  private readonly essentials = new Set<Pending>();
  /** Pending requests by rank. */
  private readonly crowds: [number, number, number] = [0, 0, 0];
  private readonly concurrency: ConcurrencyLimit<RouteClass>;

  constructor(
    private readonly now: () => number,
    /** Runs this in the event loop's next turn. */
    nextTurn?: (run: () => void) => void,
  ) {
    const rules = {
      least: LEAST,
      patience: PATIENCE,
      tolerableMs: (route: RouteClass) => CLASSES[route].tolerableMs,
      tolerableTurnMs: TOLERABLE_TURN_MS,
      crowd: () => this.crowd,
      begun: () => this.relieve(),
    };
    this.concurrency = new ConcurrencyLimit(rules, now, nextTurn);
  }

  /** Requests that there may be at once; undefined while there is no limit. */
  get limit(): number | undefined {
    return this.concurrency.current;
  }

  /** Requests that are not being answered yet. */
  get waiting(): number {
    return this.pending.size + this.essentials.size;
  }

  /** Tells whether there is room for one more of this class. */
  admits(route: RouteClass, address: string): boolean {
    this.concurrency.look();
    const { part, rank } = CLASSES[route];
    const { limit } = this;
    if (limit === undefined || part === undefined) return true;
    const room = limit * part;
    const crowd = this.crowdIn(room, rank);
    if (crowd < room) return true;
    if (crowd < room * FOR_SMALL_NETWORKS && this.hasLessThanItsPart(address, room)) return true;
    this.concurrency.refused();
    return false;
  }

  /** The module is asked, or will be when its turn comes. */
  begin(route: RouteClass, address: string, giveUp: () => boolean): Pending {
    const one = new Pending(route, address, this.now(), this.concurrency.isQuiet, giveUp);
    this.those(route).add(one);
    this.crowds[CLASSES[route].rank as 0 | 1 | 2] += 1;
    this.concurrency.entered();
    return one;
  }

  /** The module begins to answer. */
  answered(one: Pending): void {
    if (!this.leave(one)) return;
    this.concurrency.answered(one.route, this.now() - one.since, one.isQuiet);
  }

  /** It is asked no more; may be told again. Whether it was pending. */
  leave(one: Pending): boolean {
    if (!this.those(one.route).delete(one)) return false;
    this.crowds[CLASSES[one.route].rank as 0 | 1 | 2] -= 1;
    return true;
  }

  /** The module was not there: when it comes back it is new. */
  away(): void {
    this.concurrency.away();
  }

  private those(route: RouteClass): Set<Pending> {
    return CLASSES[route].part === undefined ? this.essentials : this.pending;
  }

  /** Leaves out files: the time that they take says nothing of others. */
  private get crowd(): number {
    return this.crowdUpTo(1);
  }

  private crowdUpTo(rank: number): number {
    let sum = 0;
    for (let at = 0; at <= rank; at += 1) sum += this.crowds[at as 0 | 1 | 2];
    return sum;
  }

  /** Those that fill the room: however many are never refused, they leave some of it to others. */
  private crowdIn(room: number, rank = 1): number {
    return this.crowdUpTo(rank) - Math.max(0, this.essentials.size - room * OF_ESSENTIALS);
  }

  /** Counted only when it decides. */
  private hasLessThanItsPart(address: string, room: number): boolean {
    const left = room - Math.min(this.essentials.size, room * OF_ESSENTIALS);
    const own = networkOf(address, 24);
    const networks = new Map([[own, 0]]);
    for (const { network } of this.pending) networks.set(network, (networks.get(network) ?? 0) + 1);
    return (networks.get(own) ?? 0) < left / networks.size;
  }

  /** Those that have waited longest for their turn go: they are late already. */
  private relieve(): void {
    for (const one of this.pending) {
      const { limit } = this;
      if (limit === undefined || this.crowdIn(limit) <= limit) return;
      if (one.giveUp()) this.leave(one);
    }
  }
}
