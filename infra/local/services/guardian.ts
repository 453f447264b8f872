import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

/** The apps end before the databases and the broker that they use. */
export type Stage = 'app' | 'service';
const STAGE_NUMBER: Record<Stage, number> = { app: 1, service: 2 };

interface Guarded {
  pid: number;
  signal: NodeJS.Signals;
  stage: Stage;
}

/**
 * A small shell process of its own session that ends what it guards when this process is gone, kill -9 included:
 * neither Postgres nor Java watches its parent, and Node programs do so only if each of them is told to.
 */
export class Guardian {
  private shell: ChildProcess | undefined;
  private readonly guarded = new Map<number, Guarded>();
  private folder: string | undefined;
  private released = false;

  constructor() {
    this.launch();
  }

  get pid(): number | undefined {
    return this.shell?.pid;
  }

  /** From now on `pid` gets `signal`, later KILL, once this process is gone. */
  guard(pid: number, signal: NodeJS.Signals, stage: Stage): void {
    this.guarded.set(pid, { pid, signal, stage });
    this.tell(`+ ${pid} ${signal.slice(3)} ${STAGE_NUMBER[stage]}`);
  }

  /** `pid` has ended; its number may soon be another process's. */
  forget(pid: number): void {
    if (this.guarded.delete(pid)) this.tell(`- ${pid}`);
  }

  /** Has `folder`, a temporary one, removed when everything has ended. */
  removeAtEnd(folder: string): void {
    this.folder = folder;
    this.tell(`d ${folder}`);
  }

  /** Ends the guardian; resolves when it is gone. What it still guards is ended by it. */
  async release(): Promise<void> {
    this.released = true;
    const { shell } = this;
    if (!shell || shell.exitCode !== null || shell.signalCode !== null) return;
    shell.ref();
    const gone = new Promise<void>((resolve) => shell.once('exit', () => resolve()));
    shell.stdin?.end();
    await gone;
  }

  private launch(): void {
    const shell = spawn('/bin/sh', [join(import.meta.dirname, 'guardian.sh')], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    // A write races with the guardian's death now and then; its exit starts the next one.
    shell.stdin?.on('error', () => undefined);
    shell.once('exit', () => {
      if (!this.released) this.launch();
    });
    shell.unref();
    this.shell = shell;
    if (this.folder !== undefined) this.tell(`d ${this.folder}`);
    for (const { pid, signal, stage } of this.guarded.values()) {
      this.tell(`+ ${pid} ${signal.slice(3)} ${STAGE_NUMBER[stage]}`);
    }
  }

  private tell(line: string): void {
    this.shell?.stdin?.write(`${line}\n`);
  }
}
