import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { PartSource, RenderFailureReason, RenderJob, RenderReply, RenderScope } from './render-job.js';
import { RenderProcess, type Ending, type Question } from './render-process.js';

/** A template that gave no text, for a reason its author can act on. */
export class RenderFailure extends Error {
  constructor(readonly reason: RenderFailureReason) {
    super(reason.detail);
    this.name = 'RenderFailure';
  }
}

const PROCESSES = 2;
/** Questions a process is given ahead, so that it never waits for the way back and forth. */
const AHEAD = 8;
/** A process that died for no reason of the template's is not held against it. */
const TRIES = 3;
const IDLE_MS = 60_000;

type JobBody = RenderJob extends infer Job ? (Job extends RenderJob ? Omit<Job, 'id'> : never) : never;

/**
 * Renders liquid in processes of its own (messaging.md §4): a template that loops, eats memory or grows without end is
 * stopped by 500 ms, 64 MiB and 512 KiB and fails with `render_limit_exceeded`, while its neighbours are rendered.
 * Deterministic: preview and dispatch call the same method and get the same bytes.
 */
@Injectable()
export class Renderer implements OnApplicationShutdown {
  private readonly processes = new Set<RenderProcess>();
  private readonly waiting: Question[] = [];
  private nextId = 1;
  private closed = false;
  private idleTimer: NodeJS.Timeout | undefined;

  /** All parts of one message. @throws RenderFailure */
  async render(
    parts: readonly PartSource[],
    scope: RenderScope,
    strict: boolean,
  ): Promise<Record<string, string>> {
    return this.ask({ kind: 'render', parts, scope, strict });
  }

  /** Parses without rendering. @throws RenderFailure `template_invalid` with the part at fault */
  async check(parts: readonly PartSource[]): Promise<void> {
    await this.ask({ kind: 'check', parts });
  }

  /** The text part derived from an HTML template; liquid in it stays liquid. @throws RenderFailure */
  async deriveText(html: string): Promise<string> {
    return (await this.ask({ kind: 'derive_text', html })).text ?? '';
  }

  onApplicationShutdown(): void {
    this.closed = true;
    clearTimeout(this.idleTimer);
    for (const process of this.processes) process.kill();
  }

  private ask(body: JobBody): Promise<Record<string, string>> {
    return new Promise((resolve, reject) => {
      const job = { ...body, id: this.nextId++ } as RenderJob;
      const settle = (reply: RenderReply): void =>
        'parts' in reply ? resolve({ ...reply.parts }) : reject(new RenderFailure(reply.failure));
      this.waiting.push({ job, tries: 0, settle });
      this.pump();
    });
  }

  private pump(): void {
    while (this.waiting.length > 0 && !this.closed) {
      const process = this.freest();
      if (!process) break;
      const question = this.waiting.shift();
      if (question) process.ask(question);
    }
    this.watchIdleness();
  }

  /** A process with room; a further one is started only when those there are have work ahead. */
  private freest(): RenderProcess | undefined {
    const [freest] = [...this.processes].sort((a, b) => a.load - b.load);
    if (freest && freest.load < AHEAD) return freest;
    return this.processes.size < PROCESSES ? this.start() : undefined;
  }

  private start(): RenderProcess {
    const process = new RenderProcess(
      () => this.pump(),
      (ended, ending) => this.recover(ended, ending),
    );
    this.processes.add(process);
    return process;
  }

  private recover(process: RenderProcess, { blamed, reason, untouched }: Ending): void {
    this.processes.delete(process);
    for (const question of untouched) question.tries -= 1;
    this.waiting.unshift(...untouched);
    if (blamed) this.blame(blamed, reason);
    this.pump();
  }

  private blame(question: Question, reason: RenderFailureReason | undefined): void {
    if (!reason && question.tries < TRIES && !this.closed) {
      this.waiting.unshift(question);
      return;
    }
    const failure = reason ?? {
      code: 'render_failed',
      part: null,
      detail: 'The renderer ended unexpectedly.',
    };
    question.settle({ id: question.job.id, cpu: 0, failure });
  }

  /** An idle platform keeps one renderer, or none after a minute. */
  private watchIdleness(): void {
    clearTimeout(this.idleTimer);
    if (this.closed || this.waiting.length > 0) return;
    this.idleTimer = setTimeout(() => this.retire(), IDLE_MS);
    this.idleTimer.unref();
  }

  private retire(): void {
    for (const process of this.processes) if (process.load === 0) process.kill();
  }
}
