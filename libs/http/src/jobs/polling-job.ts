import { Problem } from '@customer-platform/problem-json';
import { Gauge } from 'prom-client';
import { runForNobody } from '../observe/correlation.js';
import { log } from '../observe/log.js';
import { metrics } from '../observe/metrics.js';
import { yieldLoop } from '../reading/event-loop.js';
import { backgroundWork, type BackgroundWork } from './background-work.js';
import { JOB_LABEL } from './job-label.js';
import { Pace, type Quiet } from './idle-backoff.js';

/** Of its pace, so that the instances of a module do not look at the same moment. */
const JITTER = 0.2;
const LONGEST_PAUSE_MS = 30_000;
/** Of failures in a row that pass by themselves, every so many is told: the first after about half a minute. */
const SAY_EVERY = 5;

const lastPass = new Gauge({
  name: 'job_last_pass_timestamp_seconds',
  help: 'When a job last came on: went through what waited, or did some of it; at first, when it started',
  labelNames: [JOB_LABEL],
  registers: [metrics],
});
const longestRest = new Gauge({
  name: 'job_pace_seconds',
  help: 'How long a job rests at most from one pass to the next: one that has not come on for much longer stands still',
  labelNames: [JOB_LABEL],
  registers: [metrics],
});

/** What a job is made of. */
export interface PollingJobOptions extends Pick<BackgroundWork, 'name' | 'takes'> {
  /** From the end of one pass to the beginning of the next that nobody asks for, as long as there is work. */
  readonly everyMs: number;
  /** How it slows down where passes say that they found nothing; default: to two seconds after half a minute. */
  readonly quiet?: Quiet;
  /** After failures it rests no longer than this; default 30,000. */
  readonly longestPauseMs?: number;
  /** Goes through what waits. Asks `stopping` between two items. False says that nothing waited. */
  readonly pass: () => Promise<unknown>;
  /** Between 0 and 1; default `Math.random`. */
  readonly random?: () => number;
}

/**
 * Work that is looked for again and again: one pass at a time, at once when it is woken, and after failures of a whole
 * pass with growing pauses. A failing item is the pass's own matter: see `ItemBackoff`.
 */
export class PollingJob {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private readonly ending = new AbortController();
  private readonly pace: Pace;
  private woken = false;
  private failures = 0;

  constructor(private readonly options: PollingJobOptions) {
    this.pace = new Pace(options.everyMs, options.quiet);
    const { name, takes } = options;
    backgroundWork.note({ name, takes, wake: () => this.wake() });
  }

  /** The process is ending: a pass begins nothing more. */
  get stopping(): boolean {
    return this.ending.signal.aborted;
  }

  /** Aborts when the process is ending, for steps of a pass that are too long to be waited for. */
  get signal(): AbortSignal {
    return this.ending.signal;
  }

  /** Looks now, or after so many milliseconds, and from then on by itself. */
  start(afterMs = 0): void {
    longestRest.set({ [JOB_LABEL]: this.options.name }, this.pace.longestMs / 1_000);
    // A job that never comes through must be seen too.
    this.progressed();
    if (afterMs === 0) this.look();
    else this.lookIn(afterMs);
  }

  /** Some of the work is done: for a pass that goes on for as long as something waits, which may be always. */
  progressed(): void {
    lastPass.set({ [JOB_LABEL]: this.options.name }, Date.now() / 1_000);
  }

  /**
   * Something waits: looks at once, or once more when the pass that is going on has ended. While it pauses after a
   * failure it pauses on: an outage is not asked about at every call.
   */
  wake(): void {
    this.pace.busy();
    if (this.running) this.woken = true;
    else if (this.failures === 0) this.look();
  }

  /** Does one piece after the other until none is left or the process is ending. @returns whether there was any */
  async drain(piece: () => Promise<boolean>): Promise<boolean> {
    let any = false;
    // eslint-disable-next-line house/no-endless-turns, house/registered-work -- it ends where nothing is left, and with its process
    while (!this.stopping && (await piece())) {
      any = true;
      this.failures = 0;
      this.progressed();
      // What waits all the time must leave the loop to others.
      await yieldLoop();
    }
    return any;
  }

  /** Waits for the pass that is going on. */
  async stop(): Promise<void> {
    this.ending.abort();
    clearTimeout(this.timer);
    await this.running;
  }

  private look(): void {
    if (this.stopping || this.running) return;
    clearTimeout(this.timer);
    this.woken = true;
    // Woken by a request, it is not that request's work.
    this.running = runForNobody(() => this.run()).finally(() => {
      this.running = undefined;
      this.rest();
    });
  }

  private async run(): Promise<void> {
    const { pass } = this.options;
    while (this.woken && !this.stopping) {
      this.woken = false;
      try {
        if ((await pass()) !== false) this.pace.busy();
        this.failures = 0;
        this.progressed();
      } catch (error) {
        this.failures += 1;
        this.woken = false;
        // What is given up because the process ends is no failure.
        if (!this.stopping || !passesByItself(error)) this.tell(error);
      }
    }
  }

  private tell(error: unknown): void {
    const said = { err: error, job: this.options.name, failures: this.failures };
    if (!passesByItself(error)) log.error(said, 'A job could not go on; it tries again');
    else if (this.failures % SAY_EVERY === 0)
      log.warn(
        said,
        'A job has not come on for a while, though what it fails of should pass; it tries again',
      );
  }

  private rest(): void {
    if (this.stopping) return;
    const { longestPauseMs = LONGEST_PAUSE_MS, random = Math.random } = this.options;
    const pause =
      this.failures === 0
        ? this.pace.restMs
        : Math.min(500 * 2 ** Math.min(this.failures, 10), longestPauseMs);
    this.lookIn(pause * (1 + JITTER * (random() - 0.5)));
  }

  private lookIn(ms: number): void {
    // eslint-disable-next-line house/registered-work -- this is the job that is known
    this.timer = setTimeout(() => this.look(), ms);
    this.timer.unref();
  }
}

/** What answers 503: something that the work needs is away, or others were in its way. */
function passesByItself(error: unknown): boolean {
  return error instanceof Problem && error.status === 503;
}
