import { fork, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { InLane } from './fair-queue.js';
import type { RenderFailureReason, RenderJob, RenderReply } from '../../vocabulary/rendering/render-job.js';
import type { RenderProfile } from './render-profile.js';

const START_LIMIT_MS = 15_000;
/** Linux counts a process's time in hundredths of a second. */
const TICK_MS = 10;
/** Times what a question may take at all: after that, a process that nobody stopped ends itself. */
const ALONE = 2;

/** A question to the process and what to do with its answer. */
export interface Question extends InLane {
  readonly job: RenderJob;
  /** Milliseconds of CPU it took, once it is answered. */
  cost?: number;
  tries: number;
  settle(reply: RenderReply): void;
  /** Nobody knows what the template gives: no process has come to an end with it. */
  fail(error: Error): void;
}

/** How a process ended: who asked last is blamed or given another try, the others always are. */
export interface Ending {
  readonly blamed: Question | undefined;
  readonly reason: RenderFailureReason | undefined;
  readonly untouched: readonly Question[];
}

/**
 * One process of a profile with the questions it has been sent, oldest first. The oldest one runs against the
 * profile's clock; the process is killed when that runs out, and ends by itself when its heap is full.
 */
export class RenderProcess {
  private readonly child: ChildProcess;
  private readonly asked: Question[] = [];
  private ready = false;
  private timer: NodeJS.Timeout | undefined;
  private cpuBefore = 0;
  private startedAt = 0;
  private verdict: RenderFailureReason | undefined;

  constructor(
    private readonly profile: RenderProfile,
    private readonly onIdle: () => void,
    private readonly onEnd: (process: RenderProcess, ending: Ending) => void,
  ) {
    this.child = fork(profile.child, [String(profile.wallMilliseconds * ALONE)], {
      env: {},
      execArgv: [
        `--max-old-space-size=${profile.heapMiB}`,
        '--stack-size=800',
        '--no-warnings',
        '--permission',
        '--allow-fs-read=*',
      ],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.child.on('message', (message: 'ready' | RenderReply) => this.receive(message));
    this.child.on('error', () => this.kill());
    this.child.on('exit', (_code, signal) => this.ended(signal));
    this.watch(START_LIMIT_MS);
  }

  /** How many questions wait for an answer. */
  get load(): number {
    return this.asked.length;
  }

  /** How many of one tenant's. */
  loadOf(tenant: string): number {
    return this.asked.filter((question) => question.tenant === tenant).length;
  }

  /** Of the process, to find it by; undefined when it could not be started. */
  get pid(): number | undefined {
    return this.child.pid;
  }

  ask(question: Question): void {
    this.asked.push(question);
    question.tries += 1;
    if (this.ready) this.send(question);
  }

  /** Ends the process at once; unanswered questions come back through `onEnd`. */
  kill(): void {
    this.child.kill('SIGKILL');
  }

  private send(question: Question): void {
    this.child.send(question.job, () => undefined);
    if (this.asked[0] === question) this.watchOldest();
  }

  private receive(message: 'ready' | RenderReply): void {
    if (message === 'ready') {
      this.ready = true;
      clearTimeout(this.timer);
      this.asked.forEach((question) => this.send(question));
      return;
    }
    const question = this.asked.shift();
    if (question) question.cost = message.cpu - this.cpuBefore;
    this.cpuBefore = message.cpu;
    this.watchOldest();
    question?.settle(message);
    this.onIdle();
  }

  private watchOldest(): void {
    clearTimeout(this.timer);
    this.startedAt = performance.now();
    if (this.asked.length > 0) this.watch(this.profile.milliseconds);
  }

  private watch(milliseconds: number): void {
    clearTimeout(this.timer);
    // An answer may already lie in the pipe when this process itself was busy: read before judging.
    // eslint-disable-next-line house/registered-work -- the time limit of one rendering
    this.timer = setTimeout(() => setImmediate(() => setImmediate(() => this.judge())), milliseconds);
    this.timer.unref();
  }

  private judge(): void {
    const elapsed = performance.now() - this.startedAt;
    if (this.ready && this.asked.length === 0) return;
    // A timer may ring a fraction of a millisecond early: were it not set again, nothing would end this one.
    if (this.ready && elapsed < this.profile.milliseconds) {
      this.watch(Math.ceil(this.profile.milliseconds - elapsed));
      return;
    }
    const isOver = this.ready && this.cpuUsed() >= this.profile.milliseconds * 0.8;
    if (this.ready && !isOver && elapsed < this.profile.wallMilliseconds) {
      this.watch(50);
      return;
    }
    // A starved machine is stopped as well: another process may have more luck, and the template is not blamed.
    if (isOver) this.verdict = limit(`The template did not end within ${this.profile.milliseconds} ms.`);
    this.kill();
  }

  private ended(signal: NodeJS.Signals | null): void {
    clearTimeout(this.timer);
    if (!this.verdict && signal === 'SIGABRT')
      this.verdict = limit(`The template needs more than ${this.profile.heapMiB} MiB.`);
    const [blamed, ...untouched] = this.asked;
    this.onEnd(this, { blamed, reason: this.verdict, untouched });
  }

  private cpuUsed(): number {
    const pid = this.child.pid;
    if (pid === undefined) return Infinity;
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      return (Number(fields[11]) + Number(fields[12])) * TICK_MS - this.cpuBefore;
    } catch {
      // Not Linux, or the process has just ended: the wall clock decides.
      return Infinity;
    }
  }
}

function limit(detail: string): RenderFailureReason {
  return { code: 'render_limit_exceeded', part: null, detail };
}
