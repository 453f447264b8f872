import { metrics } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { Counter } from 'prom-client';
import { Demand } from './demand.js';

/** Requests at once that are never too many, however long they take. */
const LEAST = 16;
const WINDOW_MS = 100;
const LONGEST_WINDOW_MS = 1_000;
const FEWEST_ANSWERS = 5;
/** Reached before the gateway, which knows no tenants, finds core slow: contract.md §2. */
const TOLERABLE_MS = 30;
const TOLERABLE_TURN_MS = 25;
/** An event may take so many times as long as in quiet, whatever is tolerable. */
const OVER_QUIET = 1.5;
const NEWS = { quick: 0.1, slow: 0.01 };
/** Windows that are borne before anybody is refused, weighed as the gateway does, which bears twice as much. */
const PATIENCE = 10;
const HEAVIEST = 4;
const HEAVIEST_FROM = 128;
/** Windows at `LEAST` for which acceptance may be slow; then it is by its nature, not by the many. */
const WINDOWS_AT_LEAST = 10;
/** Milliseconds after which it is forgotten how much could be done: no pause makes shares small. */
const CAPABLE_MS = 5_000;
/** A process that has just begun compiles what it runs. */
const QUIET_MS = 5_000;
const CALM_MS = 2_000;
const RAISE = 1.1;
const STEEPEST = 0.5;
/** The limit is reached, and worth raising, from this part of it on. */
const REACHED = 0.8;
/** Part of its share that a tenant gets however many others come. */
const SURE = 0.75;

const refusedCounter = new Counter({
  name: 'ingestion_overloaded_total',
  help: 'Ingestion requests refused because their tenant sent more than its share of what could be accepted.',
  registers: [metrics],
});

/** Few at once take so long, in milliseconds: until then the next request of the tenant would hear the same. */
const REFUSES_FOR_MS = 20;

/** Made once: whoever refuses much must not spend much on it. */
const OVERLOADED = new Problem('overloaded', {
  detail: 'More events come than can be accepted in time, and this organization sends more than its share.',
  // The gateway says it again by itself, and keeps it from callers.
  headers: { 'X-Refuses-For': String(REFUSES_FOR_MS) },
});

/** A request that is being accepted. */
interface Accepting {
  readonly tenant: string;
  readonly held: number;
  readonly since: number;
  readonly isQuiet: boolean;
}

/**
 * Refuses the tenants that send more than their share once events are accepted too slowly: what can be accepted is shared
 * so that whoever asks less than an equal part gets all of it, and the others as much as each other. One tenant alone is
 * refused nothing here: that is the gateway's, before it costs.
 */
export class FairShares {
  private readonly demand: Demand;
  /** Requests at once beyond which whoever sends more than its share is refused; undefined while nobody is. */
  private most: number | undefined;
  /** Events a second that a tenant may send whatever others do. */
  private share = Infinity;
  private accepting = 0;
  private times: number[] = [];
  private quietMs: number | undefined;
  private quietUntil: number | undefined;
  private strain = 0;
  private calmMs = 0;
  private windowsAtLeast = 0;
  /** Events a second that can be done. */
  private capable = 0;
  private window = { began: 0, crowd: 0, peak: 0, refused: false, turnMs: 0, watches: false };

  constructor(
    private readonly now: () => number,
    private readonly nextTurn: (run: () => void) => void = setImmediate,
  ) {
    this.demand = new Demand(now);
  }

  /** Requests that may be accepted at once before shares count; undefined while they do not. */
  get limit(): number | undefined {
    return this.most;
  }

  /**
   * A request of the tenant begins; `end` must be called.
   * @throws Problem `overloaded`
   */
  begin(tenant: string): Accepting {
    const since = this.now();
    this.quietUntil ??= since + QUIET_MS;
    this.look();
    if (this.most !== undefined && this.isBeyondItsShare(tenant, this.most)) {
      this.demand.refuse(tenant);
      this.window.refused = true;
      refusedCounter.inc();
      throw OVERLOADED;
    }
    const isQuiet = this.accepting < LEAST / 2;
    this.accepting += 1;
    this.window.peak = Math.max(this.window.peak, this.accepting);
    this.watchTurn();
    return { tenant, held: this.demand.take(tenant), since, isQuiet };
  }

  /**
   * It is answered. How long acceptance took tells how busy core is; what it cost counts for shares.
   * @param looked events that were judged, those that were refused included
   */
  end({ tenant, held, since, isQuiet }: Accepting, accepted: number, looked: number): void {
    this.accepting -= 1;
    this.demand.settle(tenant, held, looked);
    if (accepted === 0) return;
    const took = this.now() - since;
    this.times.push(took);
    if (isQuiet) {
      const known = this.quietMs ?? took;
      this.quietMs = known + (took < known ? NEWS.quick : NEWS.slow) * (took - known);
    }
    this.look();
  }

  /** Leaves out a tenant that is just at its share, comes again and again, and is too much beyond the limit. */
  private isBeyondItsShare(tenant: string, most: number): boolean {
    const part = Math.max(SURE, most / this.accepting);
    return this.accepting >= most && this.demand.of(tenant) > this.share * part;
  }

  private watchTurn(): void {
    const { window } = this;
    if (window.watches || this.accepting <= LEAST) return;
    window.watches = true;
    const asked = this.now();
    this.nextTurn(() => (this.window.turnMs = Math.max(this.window.turnMs, this.now() - asked)));
  }

  private look(): void {
    const now = this.now();
    const lasted = now - this.window.began;
    if (lasted < WINDOW_MS || (this.times.length < FEWEST_ANSWERS && lasted < LONGEST_WINDOW_MS)) return;
    // Whatever makes a few slow, it is not the many.
    const gradient = this.window.peak > LEAST ? this.gradient() : RAISE;
    this.capable = Math.max(this.demand.done, this.capable * Math.exp(-lasted / CAPABLE_MS));
    // Nobody came for so long.
    if (lasted >= CALM_MS) this.endLimit();
    else if (this.most === undefined) this.watch(gradient, Math.min(lasted, LONGEST_WINDOW_MS) / WINDOW_MS);
    else this.adapt(this.most, gradient, lasted);
    this.times = [];
    const { accepting: crowd } = this;
    this.window = { began: now, crowd, peak: crowd, refused: false, turnMs: 0, watches: false };
  }

  /** Returns the tolerable time over the measured one. */
  private gradient(): number {
    const { turnMs } = this.window;
    const ofTurns = turnMs > 0 ? TOLERABLE_TURN_MS / turnMs : Infinity;
    const { median } = this;
    if (median === undefined) return ofTurns;
    return Math.min(
      ofTurns,
      Math.max(TOLERABLE_MS, OVER_QUIET * (this.quietMs ?? 0)) / Math.max(0.001, median),
    );
  }

  /** Undefined of so few that it tells nothing. */
  private get median(): number | undefined {
    if (this.times.length < FEWEST_ANSWERS) return undefined;
    return this.times.toSorted((one, other) => one - other)[this.times.length >> 1];
  }

  private watch(gradient: number, windows: number): void {
    const { peak, crowd } = this.window;
    if (gradient >= 1 || this.now() < (this.quietUntil ?? 0)) return void (this.strain = 0);
    const weight = HEAVIEST * Math.min(1, peak / HEAVIEST_FROM) ** 3;
    // Many that came at once are borne: they become fewer. So are those that a pause held up, which is over.
    if (this.accepting >= crowd) this.strain += weight * (this.strain === 0 ? 1 : windows);
    if (this.strain >= PATIENCE) this.setLimit(peak * gradient);
  }

  private adapt(most: number, gradient: number, lasted: number): void {
    const { refused, peak } = this.window;
    const isReached = refused || peak >= most * REACHED;
    this.calmMs = isReached ? 0 : this.calmMs + lasted;
    if (this.calmMs >= CALM_MS) return this.endLimit();
    const change = Math.max(STEEPEST, Math.min(RAISE, gradient));
    this.setLimit(gradient < 1 || isReached ? most * change : most);
    this.windowsAtLeast = gradient < 1 && most === LEAST ? this.windowsAtLeast + 1 : 0;
    if (this.windowsAtLeast < WINDOWS_AT_LEAST) return;
    this.windowsAtLeast = 0;
    this.quietMs = Math.max(this.quietMs ?? 0, this.median ?? 0);
  }

  private setLimit(most: number): void {
    this.most = Math.max(LEAST, most);
    this.share = this.demand.shareOf(this.capable);
  }

  private endLimit(): void {
    this.most = undefined;
    this.strain = this.calmMs = this.windowsAtLeast = 0;
  }
}
