import { networkOf } from '@customer-platform/config';
import { AnswerTimes } from './answer-times.js';
import { CLASSES, type RouteClass } from './route-classes.js';

/** No limit is lower: who is asked so little is not crowded, however slow. */
export const LEAST = 32;
/** Requests at once up to which an answer tells what the module takes in quiet. */
const QUIET = LEAST / 2;

/** Milliseconds between two looks at a limit, where a module answers often enough to tell. */
const WINDOW_MS = 100;
const LONGEST_WINDOW_MS = 1_000;
const FEWEST_ANSWERS = 5;

/**
 * Windows that are borne before anything is refused, each weighed by the third power of its crowd, four times at most.
 * A crowd of 128 is borne for half a second, one of 64 for four: it waits, but never long.
 */
const PATIENCE = 20;
const HEAVIEST = 4;
const HEAVIEST_FROM = 4 * LEAST;
/** A module that was away or has just been met compiles what it runs: nothing is refused for so long. */
const QUIET_MS = 5_000;
/** Milliseconds without a need for it after which there is no limit. */
const CALM_MS = 2_000;
/** Part of a room that is filled at most by what is never refused. */
const OF_ESSENTIALS = 0.5;
/** A limit is reached, and worth raising, from this part of it on. */
const REACHED = 0.8;
const RAISE = 1.1;
const STEEPEST = 0.5;
/** Beyond the limit by so much a network is let in that has less than its part. */
const FOR_SMALL_NETWORKS = 1.25;
/** A turn of the event loop may take so long, in milliseconds. */
const TOLERABLE_TURN_MS = 50;
/** Windows at `LEAST` for which a module may be slow; then it is by its nature, not by the crowd. */
const WINDOWS_AT_LEAST = 10;

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
 * Limits how many requests a module is asked at once, by how long it takes to answer: where more of them only make all of
 * them slow, they are refused at once. The limit is a gradient: each window it is multiplied by what is tolerable over what
 * was measured (as Envoy's adaptive concurrency and Netflix's concurrency-limits do). There is none until a module has been
 * slow under a crowd that does not shrink, and none any more once nobody has come up to it for a while.
 */
export class Admission {
  private most: number | undefined;
  private readonly pending = new Set<Pending>();
  /** Those that are pending too, and of a class that is never refused. */
  private readonly essentials = new Set<Pending>();
  /** Pending requests by rank. */
  private readonly crowds: [number, number, number] = [0, 0, 0];
  private readonly times = new AnswerTimes();
  private quietUntil: number | undefined;
  private strain = 0;
  private calmMs = 0;
  private windowsAtLeast = 0;
  private window = { began: 0, crowd: 0, peak: 0, refused: 0, turnMs: 0, watches: false };

  constructor(
    private readonly now: () => number,
    /** Runs this in the event loop's next turn. */
    private readonly nextTurn: (run: () => void) => void = setImmediate,
  ) {}

  /** Requests that there may be at once; undefined while there is no limit. */
  get limit(): number | undefined {
    return this.most;
  }

  /** Requests that are not being answered yet. */
  get waiting(): number {
    return this.pending.size + this.essentials.size;
  }

  /** Tells whether there is room for one more of this class. */
  admits(route: RouteClass, address: string): boolean {
    this.quietUntil ??= this.now() + QUIET_MS;
    this.look();
    const { part, rank } = CLASSES[route];
    if (this.most === undefined || part === undefined) return true;
    const room = this.most * part;
    const crowd = this.crowdIn(room, rank);
    if (crowd < room) return true;
    if (crowd < room * FOR_SMALL_NETWORKS && this.hasLessThanItsPart(address, room)) return true;
    this.window.refused += 1;
    return false;
  }

  /** The module is asked, or will be when its turn comes. */
  begin(route: RouteClass, address: string, giveUp: () => boolean): Pending {
    const one = new Pending(route, address, this.now(), this.crowd < QUIET, giveUp);
    this.those(route).add(one);
    this.crowds[CLASSES[route].rank as 0 | 1 | 2] += 1;
    this.window.peak = Math.max(this.window.peak, this.crowd);
    this.watchTurns();
    return one;
  }

  /** The module begins to answer. */
  answered(one: Pending): void {
    if (!this.leave(one)) return;
    this.times.add(one.route, this.now() - one.since, one.isQuiet);
    this.look();
  }

  /** It is asked no more; may be told again. Whether it was pending. */
  leave(one: Pending): boolean {
    if (!this.those(one.route).delete(one)) return false;
    this.crowds[CLASSES[one.route].rank as 0 | 1 | 2] -= 1;
    return true;
  }

  /** The module was not there: when it comes back it is new. */
  away(): void {
    this.quietUntil = this.now() + QUIET_MS;
    this.endLimit();
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

  /** A turn is measured once in a window, and only in a crowd. */
  private watchTurns(): void {
    const { window } = this;
    if (window.watches || this.crowd <= LEAST) return;
    window.watches = true;
    const asked = this.now();
    this.nextTurn(() => (this.window.turnMs = Math.max(this.window.turnMs, this.now() - asked)));
  }

  private look(): void {
    const now = this.now();
    const lasted = now - this.window.began;
    if (lasted < WINDOW_MS || (this.times.count < FEWEST_ANSWERS && lasted < LONGEST_WINDOW_MS)) return;
    const { peak, refused } = this.window;
    const gradient = this.gradient();
    // Nobody came for so long.
    if (lasted >= CALM_MS) this.endLimit();
    else if (this.most === undefined) this.watch(gradient, Math.min(lasted, LONGEST_WINDOW_MS) / WINDOW_MS);
    else this.adapt(this.most, gradient, { peak, refused, lasted });
    this.times.clear();
    const { crowd } = this;
    this.window = { began: now, crowd, peak: crowd, refused: 0, turnMs: 0, watches: false };
  }

  /** Returns the tolerable time over the measured one: below 1 where the module, or this process, is too slow. */
  private gradient(): number {
    const ofTurns = this.window.turnMs > 0 ? TOLERABLE_TURN_MS / this.window.turnMs : Infinity;
    return Math.min(this.times.gradient(FEWEST_ANSWERS), ofTurns);
  }

  private watch(gradient: number, windows: number): void {
    const { peak, crowd } = this.window;
    if (peak <= LEAST || gradient >= 1 || this.now() < (this.quietUntil ?? 0)) return void (this.strain = 0);
    const weight = HEAVIEST * Math.min(1, peak / HEAVIEST_FROM) ** 3;
    // Many that came at once are borne: they become fewer. So are those that a pause held up, which is over.
    if (this.crowd >= crowd) this.strain += weight * (this.strain === 0 ? 1 : windows);
    if (this.strain < PATIENCE) return;
    this.setLimit(peak * gradient);
    this.relieve();
  }

  private adapt(
    most: number,
    gradient: number,
    { peak, refused, lasted }: { peak: number; refused: number; lasted: number },
  ): void {
    const isReached = refused > 0 || peak >= most * REACHED;
    this.calmMs = isReached ? 0 : this.calmMs + lasted;
    if (this.calmMs >= CALM_MS) return this.endLimit();
    if (gradient < 1) this.setLimit(most * Math.max(STEEPEST, gradient));
    else if (isReached) this.setLimit(Math.min(most * RAISE, most * gradient));
    this.windowsAtLeast = gradient < 1 && most === LEAST ? this.windowsAtLeast + 1 : 0;
    if (this.windowsAtLeast < WINDOWS_AT_LEAST) return;
    this.windowsAtLeast = 0;
    this.times.bear(FEWEST_ANSWERS);
  }

  private setLimit(most: number): void {
    this.most = Math.max(LEAST, most);
  }

  private endLimit(): void {
    this.most = undefined;
    this.strain = this.calmMs = this.windowsAtLeast = 0;
  }

  /** Those that have waited longest for their turn go: they are late already. */
  private relieve(): void {
    for (const one of this.pending) {
      if (this.most === undefined || this.crowdIn(this.most) <= this.most) return;
      if (one.giveUp()) this.leave(one);
    }
  }
}
