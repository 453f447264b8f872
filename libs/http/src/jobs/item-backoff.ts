import { Counter, Gauge } from 'prom-client';
import { log } from '../observe/log.js';
import { metrics } from '../observe/metrics.js';
import { JOB_LABEL } from './job-label.js';

/** The first wait after a failure; each further one is twice as long. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 5 * 60_000;
/** So many failures in a row say that it does not pass by itself. */
const ATTEMPTS = 5;
/** An item that was not tried again for so long after its wait is gone, or another process has done it. */
const FORGOTTEN_AFTER_MS = 2 * LONGEST_WAIT_MS;
/** Beyond it those that failed longest ago are forgotten, and tried at once again. */
const MOST_REMEMBERED = 10_000;

const failures = new Counter({
  name: 'job_failures_total',
  help: 'Failures of single items of a job (an organization, a row)',
  labelNames: [JOB_LABEL],
  registers: [metrics],
});
/** Of each job the items that failed. */
const ofJobs = new Map<string, ItemBackoff>();
new Gauge({
  name: 'job_items_set_aside',
  help: 'Items of a job that have failed several times in a row; each is still tried every few minutes',
  labelNames: [JOB_LABEL],
  registers: [metrics],
  collect() {
    for (const [job, backoff] of ofJobs) this.set({ [JOB_LABEL]: job }, backoff.aside());
  },
});

interface Failure {
  readonly attempts: number;
  readonly until: number;
}

/**
 * What a job knows of items that fail, so that one of them holds up no other: it waits twice as long after each
 * failure, is counted and told as set aside after five, and goes on being tried every five minutes. Nothing is lost:
 * the items stay where the job finds them. Each process has its own; another may be the one that can.
 */
export class ItemBackoff {
  private readonly items = new Map<string, Failure>();

  /**
   * @param job as metrics and log lines call it
   * @param forgottenAfterMs how long after its wait an item that is not tried again is forgotten: longer than the job's pace
   */
  constructor(
    private readonly job: string,
    private readonly clock: { now(): Date },
    private readonly forgottenAfterMs = FORGOTTEN_AFTER_MS,
  ) {
    ofJobs.set(job, this);
    failures.inc({ [JOB_LABEL]: job }, 0);
  }

  /** Whether the item is to be left alone for now. */
  waits(item: string): boolean {
    const failure = this.items.get(item);
    return failure !== undefined && failure.until > this.clock.now().getTime();
  }

  /** All items that are to be left alone for now. */
  waiting(): string[] {
    return [...this.items.keys()].filter((item) => this.waits(item));
  }

  /** All items whose last try failed, also those whose wait is over. */
  failing(): string[] {
    return [...this.items.keys()];
  }

  /**
   * Notes a failure: also one that may pass by itself, or an item that always runs into a time limit would be the first
   * of every pass.
   * @returns how often in a row the item has failed
   */
  failed(item: string, error: unknown): number {
    this.forget();
    const attempts = this.attempts(item) + 1;
    const wait = Math.min(FIRST_WAIT_MS * 2 ** (attempts - 1), LONGEST_WAIT_MS);
    this.items.delete(item);
    this.items.set(item, { attempts, until: this.clock.now().getTime() + wait });
    for (const oldest of this.items.keys()) {
      if (this.items.size <= MOST_REMEMBERED) break;
      this.items.delete(oldest);
    }
    failures.inc({ [JOB_LABEL]: this.job });
    const said = { err: error, job: this.job, item, attempts };
    if (attempts === ATTEMPTS)
      log.error(said, 'An item of a job is set aside; it is tried every few minutes');
    else log.warn(said, 'An item of a job failed; the others go on');
    return attempts;
  }

  /** How often in a row the item has failed; 0 once that is forgotten. */
  attempts(item: string): number {
    return this.items.get(item)?.attempts ?? 0;
  }

  /** Forgets the failures of an item: it came through, or is no more. */
  passed(item: string): void {
    this.items.delete(item);
  }

  /** Whether so many failures in a row make an item one that is set aside. */
  static isAside(attempts: number): boolean {
    return attempts >= ATTEMPTS;
  }

  /** How many items are set aside. */
  aside(): number {
    this.forget();
    return [...this.items.values()].filter(({ attempts }) => ItemBackoff.isAside(attempts)).length;
  }

  private forget(): void {
    const past = this.clock.now().getTime() - this.forgottenAfterMs;
    for (const [item, { until }] of this.items) if (until <= past) this.items.delete(item);
  }
}
