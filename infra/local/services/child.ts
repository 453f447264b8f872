import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Guardian, Stage } from './guardian.ts';
import { yieldWith } from './niceness.ts';
import { startFailure } from './start-failure.ts';

interface ChildOptions {
  /** What the process is called in sentences to a person. */
  name: string;
  command: string;
  args: string[];
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  uid?: number;
  gid?: number;
  /** 0 to 19: the nicer, the more it leaves to others when all processors are busy. */
  niceness?: number;
  /** Standard output and error are appended here by the process itself, so nothing is lost when its parent dies. */
  log: string;
  /** What asks it to end in an orderly way. */
  stopSignal: NodeJS.Signals;
  stage: Stage;
  guardian: Guardian;
}

export interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A started process in a session of its own: Ctrl-C in the terminal reaches only the one that starts it. */
export class Child {
  readonly name: string;
  readonly log: string;
  readonly pid: number;
  /** What its command line holds, beyond the name of an interpreter. */
  readonly mark: string;
  /** Resolves when the process has ended; never rejects. */
  readonly ended: Promise<Ending>;
  private readonly process: ChildProcess;
  private readonly stopSignal: NodeJS.Signals;
  private readonly logFrom: number;
  private over = false;

  private constructor(process: ChildProcess, pid: number, options: ChildOptions, logFrom: number) {
    this.name = options.name;
    this.log = options.log;
    this.mark = options.args.join(' ');
    this.pid = pid;
    this.process = process;
    this.stopSignal = options.stopSignal;
    this.logFrom = logFrom;
    options.guardian.guard(pid, options.stopSignal, options.stage);
    this.ended = new Promise((resolve) => {
      process.once('exit', (code, signal) => {
        this.over = true;
        options.guardian.forget(pid);
        resolve({ code, signal });
      });
    });
  }

  /** @throws Error when the program cannot be run at all. */
  static async start(options: ChildOptions): Promise<Child> {
    mkdirSync(dirname(options.log), { recursive: true });
    const log = openSync(options.log, 'a');
    try {
      const logFrom = statSync(options.log).size;
      const process = spawn(options.command, options.args, {
        detached: true,
        stdio: ['ignore', log, log],
        env: options.env,
        cwd: options.cwd,
        ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.gid }),
      });
      await new Promise<void>((resolve, reject) => {
        process.once('spawn', resolve);
        process.once('error', (cause) => {
          reject(new Error(`${options.name} cannot be started: ${cause.message}.`, { cause }));
        });
      });
      const child = new Child(process, process.pid as number, options, logFrom);
      // Before it has threads or children, which inherit it.
      if (options.niceness !== undefined && child.running) yieldWith(child, options.niceness);
      return child;
    } finally {
      closeSync(log);
    }
  }

  get running(): boolean {
    return !this.over;
  }

  /** A no-op once it has ended. */
  signal(signal: NodeJS.Signals): void {
    if (this.running) this.process.kill(signal);
  }

  /** Asks it to end and, after `patience` ms, ends it. Resolves when it is gone. */
  async stop(patience: number): Promise<Ending> {
    this.signal(this.stopSignal);
    const impatience = setTimeout(() => this.process.kill('SIGKILL'), patience);
    try {
      return await this.ended;
    } finally {
      clearTimeout(impatience);
    }
  }

  /** The last lines that this very process has logged. */
  lastWords(lines = 8): string {
    const text = readTail(this.log, this.logFrom);
    return text.trimEnd().split('\n').slice(-lines).join('\n');
  }
}

const TAIL_BYTES = 16_384;

function readTail(file: string, from: number): string {
  const { size } = statSync(file);
  if (size < from) return readFileSync(file, 'utf8').slice(-TAIL_BYTES);
  const start = Math.max(from, size - TAIL_BYTES);
  const buffer = Buffer.alloc(size - start);
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, buffer, 0, buffer.length, start);
  } finally {
    closeSync(descriptor);
  }
  return buffer.toString('utf8');
}

/** Waits for `ready`, asked again and again, unless the process ends first. @throws Error with its last words. */
export async function waitUntilReady(
  child: Child,
  ready: () => Promise<boolean>,
  seconds: number,
): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  while (child.running) {
    if (await ready()) return;
    if (Date.now() > deadline) {
      await child.stop(2_000);
      throw new Error(`${child.name} did not get ready within ${seconds} s; its log is ${child.log}.`);
    }
    await Promise.race([child.ended, new Promise((resolve) => setTimeout(resolve, 50))]);
  }
  const { code, signal } = await child.ended;
  throw new Error(startFailure(child.name, signal ?? `code ${code ?? '?'}`, child.lastWords(), child.log));
}
