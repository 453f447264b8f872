import { ConcurrencyLimit, REFUSES_FOR } from '@customer-platform/config';
import { metrics } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { Counter } from 'prom-client';
import { Demand } from './demand.js';

/** Requests at once that are never too many, however long they take. */
const LEAST = 16;
/** Reached before the gateway, which knows no tenants, finds core slow: contract.md §2. */
const TOLERABLE_MS = 30;
const TOLERABLE_TURN_MS = 25;
/** Windows that are borne before anybody is refused; the gateway bears twice as much. */
const PATIENCE = 10;
/** Milliseconds after which it is forgotten how much could be done: no pause makes shares small. */
const CAPABLE_MS = 5_000;
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
  headers: { [REFUSES_FOR]: String(REFUSES_FOR_MS) },
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
  private readonly concurrency: ConcurrencyLimit<'events'>;
  /** Events a second that a tenant may send whatever others do. */
  private share = Infinity;
  private accepting = 0;
  /** Events a second that can be done. */
  private capable = 0;

  constructor(
    private readonly now: () => number,
    nextTurn?: (run: () => void) => void,
  ) {
    this.demand = new Demand(now);
    const rules = {
      least: LEAST,
      patience: PATIENCE,
      tolerableMs: () => TOLERABLE_MS,
      tolerableTurnMs: TOLERABLE_TURN_MS,
      slowByNature: true,
      crowd: () => this.accepting,
      looked: (lastedMs: number) => this.divide(lastedMs),
    };
    this.concurrency = new ConcurrencyLimit(rules, now, nextTurn);
  }

  /** Requests that may be accepted at once before shares count; undefined while they do not. */
  get limit(): number | undefined {
    return this.concurrency.current;
  }

  /**
   * A request of the tenant begins; `end` must be called.
   * @throws Problem `overloaded`
   */
  begin(tenant: string): Accepting {
    const since = this.now();
    this.concurrency.look();
    const { limit } = this;
    if (limit !== undefined && this.isBeyondItsShare(tenant, limit)) {
      this.demand.refuse(tenant);
      this.concurrency.refused();
      refusedCounter.inc();
      throw OVERLOADED;
    }
    const { isQuiet } = this.concurrency;
    this.accepting += 1;
    this.concurrency.entered();
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
    this.concurrency.answered('events', this.now() - since, isQuiet);
  }

  /** Leaves out a tenant that is just at its share, comes again and again, and is too much beyond the limit. */
  private isBeyondItsShare(tenant: string, most: number): boolean {
    const part = Math.max(SURE, most / this.accepting);
    return this.accepting >= most && this.demand.of(tenant) > this.share * part;
  }

  private divide(lastedMs: number): void {
    this.capable = Math.max(this.demand.done, this.capable * Math.exp(-lastedMs / CAPABLE_MS));
    if (this.limit !== undefined) this.share = this.demand.shareOf(this.capable);
  }
}
