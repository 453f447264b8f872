import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './platform/modules.ts';
import type { DemoFacts } from './platform/summary.ts';
import { commandLine } from './services/orphans.ts';

const EXIT_SECONDS = 60;

/** `npm start` as a person runs it, in a data folder of its own. */
export class StartedPlatform {
  private readonly npm: ChildProcess;
  private readonly data: string;
  private text = '';
  private code: number | null | undefined;

  constructor(data: string, ...options: string[]) {
    this.data = data;
    this.npm = spawn('npm', ['start', '--silent', '--', '--data', data, ...options], {
      cwd: ROOT,
      // Node's own options of the test run are not for the platform.
      env: { ...process.env, NODE_OPTIONS: '', PLATFORM_DATABASE_URL: '', PLATFORM_KAFKA_BROKERS: '' },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    for (const stream of [this.npm.stdout, this.npm.stderr])
      stream?.on('data', (chunk: Buffer) => (this.text += chunk.toString('utf8')));
    this.npm.once('exit', (code) => (this.code = code));
  }

  get output(): string {
    return this.text;
  }

  get facts(): DemoFacts {
    return JSON.parse(readFileSync(join(this.data, 'demo.json'), 'utf8')) as DemoFacts;
  }

  /** npm itself and all that it has led to. */
  processes(): number[] {
    return descendants(this.npm.pid as number);
  }

  /** The supervisor: the process that all others descend from. */
  supervisor(): number {
    return (JSON.parse(readFileSync(join(this.data, 'supervisor.pid'), 'utf8')) as { pid: number }).pid;
  }

  /** Waits until the output shows it. @throws Error with the output when the process ends or time is up. */
  async shows(pattern: RegExp, seconds: number): Promise<void> {
    const deadline = Date.now() + seconds * 1000;
    while (!pattern.test(this.text)) {
      if (this.code !== undefined || Date.now() > deadline)
        throw new Error(`${String(pattern)} did not show:\n${this.text}`);
      await pause();
    }
  }

  /**
   * Ends it as a process manager does, with SIGTERM to npm, or as Ctrl-C does, with SIGINT to all of the terminal's.
   * npm ends last: no process writes into the data folder any more.
   */
  async end(signal: 'SIGTERM' | 'SIGINT'): Promise<number | null> {
    const pid = this.npm.pid as number;
    if (this.code === undefined) process.kill(signal === 'SIGINT' ? -pid : pid, signal);
    return this.exit();
  }

  /** Waits for its end. @returns the exit code; null after a signal. @throws Error with the output when it goes on */
  async exit(): Promise<number | null> {
    const deadline = Date.now() + EXIT_SECONDS * 1000;
    while (this.code === undefined) {
      if (Date.now() > deadline) throw new Error(`npm start does not end:\n${this.text}`);
      await pause();
    }
    return this.code;
  }
}

/** Those of `pids` that still run after at most `seconds`, by their command lines. */
export async function stillRunning(pids: number[], seconds: number): Promise<string[]> {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const left = pids.map((pid) => commandLine(pid)).filter((line) => line !== undefined);
    if (left.length === 0 || Date.now() > deadline) return left;
    await pause();
  }
}

/** All processes below `root`, itself included, from one look at /proc. */
function descendants(root: number): number[] {
  const parents = new Map<number, number>();
  for (const pid of readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)) {
    const parent = parentOf(pid);
    if (parent !== undefined) parents.set(pid, parent);
  }
  const found = [root];
  for (let index = 0; index < found.length; index += 1) {
    for (const [pid, parent] of parents) if (parent === found[index]) found.push(pid);
  }
  return found;
}

function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined; // it ended in between
  }
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));
