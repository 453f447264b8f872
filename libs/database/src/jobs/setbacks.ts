import { log, metrics } from '@customer-platform/http';
import { Counter, Gauge } from 'prom-client';
import type { Clock } from '../clock.js';
import { JOB_LABEL } from './job-label.js';

/** The first wait after a failure; each further one is twice as long. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 5 * 60_000;
/** So many failures in a row say that it does not pass by itself. */
const ATTEMPTS = 5;
/** Beyond it those that failed longest ago are forgotten, and tried at once again. */
const MOST_REMEMBERED = 10_000;

const failures = new Counter({
  name: 'job_failures_total',
  help: 'Failures of single items of a job (an organization, a row)',
  labelNames: [JOB_LABEL],
  registers: [metrics],
});
const setAside = new Gauge({
  name: 'job_items_set_aside',
  help: 'Items of a job that have failed several times in a row; each is still tried every few minutes',
  labelNames: [JOB_LABEL],
  registers: [metrics],
});

interface Setback {
  readonly attempts: number;
  readonly until: number;
}

/**
 * What a job knows of items that fail, so that one of them holds up no other: it waits twice as long after each
 * failure, is counted and told as set aside after five, and goes on being tried every five minutes. Nothing is lost:
 * the items stay where the job finds them. Each process has its own; another may be the one that can.
 */
export class Setbacks {
  private readonly items = new Map<string, Setback>();

  /** @param job as metrics and log lines call it */
  constructor(
    private readonly job: string,
    private readonly clock: Pick<Clock, 'now'>,
  ) {
    setAside.set({ [JOB_LABEL]: job }, 0);
    failures.inc({ [JOB_LABEL]: job }, 0);
  }

  /** Whether the item is to be left alone for now. */
  waits(item: string): boolean {
    const setback = this.items.get(item);
    return setback !== undefined && setback.until > this.clock.now().getTime();
  }

  /** All items that are to be left alone for now. */
  waiting(): string[] {
    return [...this.items.keys()].filter((item) => this.waits(item));
  }

  /**
   * Notes a failure: also one that may pass by itself, or an item that always runs into a time limit would be the first
   * of every pass.
   * @returns how often in a row the item has failed
   */
  failed(item: string, error: unknown): number {
    const attempts = (this.items.get(item)?.attempts ?? 0) + 1;
    const wait = Math.min(FIRST_WAIT_MS * 2 ** (attempts - 1), LONGEST_WAIT_MS);
    this.items.delete(item);
    this.items.set(item, { attempts, until: this.clock.now().getTime() + wait });
    for (const oldest of this.items.keys()) {
      if (this.items.size <= MOST_REMEMBERED) break;
      this.items.delete(oldest);
    }
    failures.inc({ [JOB_LABEL]: this.job });
    this.count();
    const said = { err: error, job: this.job, item, attempts };
    if (attempts === ATTEMPTS)
      log.error(said, 'An item of a job is set aside; it is tried every few minutes');
    else log.warn(said, 'An item of a job failed; the others go on');
    return attempts;
  }

  /** Forgets the failures of an item: it came through, or is no more. */
  passed(item: string): void {
    if (this.items.delete(item)) this.count();
  }

  /** Whether so many failures in a row make an item one that is set aside. */
  static isAside(attempts: number): boolean {
    return attempts >= ATTEMPTS;
  }

  private count(): void {
    let aside = 0;
    for (const { attempts } of this.items.values()) if (Setbacks.isAside(attempts)) aside += 1;
    setAside.set({ [JOB_LABEL]: this.job }, aside);
  }
}
