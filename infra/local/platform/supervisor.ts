import type { Child, Ending } from '../services/child.ts';
import { fullDiskSentence } from '../requirements.mjs';

/** Something to keep alive. */
export interface Ward {
  /** As a person calls it. */
  name: string;
  /** Starts it: hands over the process as soon as there is one, resolves when it serves. */
  start: (began: (child: Child) => void) => Promise<unknown>;
}

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;
/** Who has run this long died of something new; it is started at once again. */
const STEADY_MS = 30_000;
/** What comes up while everything ends has nothing to lose. */
const LATE_PATIENCE_MS = 1_000;

interface SupervisorOptions {
  /** Says what happened by itself. */
  note: (line: string) => void;
  /** A process was started or has ended: for the record of what runs. */
  changed?: (running: ReadonlyMap<string, Child>) => void;
}

/** Keeps processes alive: what ends by itself is started again, and its end is said. */
export class Supervisor {
  private readonly running = new Map<string, Child>();
  private readonly note: (line: string) => void;
  private readonly changed: (running: ReadonlyMap<string, Child>) => void;
  private readonly pauses = new Set<() => void>();
  private readonly attending = new Set<Promise<void>>();
  private stopping = false;

  constructor({ note, changed = () => undefined }: SupervisorOptions) {
    this.note = note;
    this.changed = changed;
  }

  /** Starts it for the first time. @throws what its start throws; only what once ran is started again. */
  async keep(ward: Ward): Promise<void> {
    const child = await this.start(ward);
    const task = this.keepAlive(ward, child).finally(() => this.attending.delete(task));
    this.attending.add(task);
  }

  /** Ends these at the same time, after `patience` ms by force; resolves when they are gone. */
  async stop(names: Iterable<string>, patience: number): Promise<void> {
    this.stopAttending();
    await Promise.all(
      [...names].map(async (name) => {
        const ending = await this.running.get(name)?.stop(patience);
        if (ending?.signal === 'SIGKILL') this.note(`${name} did not end by itself and was killed.`);
      }),
    );
  }

  /** From now on nothing is started again. */
  stopAttending(): void {
    this.stopping = true;
    for (const wake of this.pauses) wake();
  }

  /** Resolves when every restart that was under way is over. */
  async settled(): Promise<void> {
    await Promise.all(this.attending);
  }

  /** Tells every process that runs. */
  signal(names: Iterable<string>, signal: NodeJS.Signals): void {
    for (const name of names) this.running.get(name)?.signal(signal);
  }

  pidOf(name: string): number | undefined {
    return this.running.get(name)?.pid;
  }

  private async start(ward: Ward): Promise<Child> {
    let child: Child | undefined;
    await ward.start((process) => {
      child = process;
      this.took(ward, process);
    });
    if (!child) throw new Error(`${ward.name} started no process.`);
    return child;
  }

  private took(ward: Ward, child: Child): void {
    this.running.set(ward.name, child);
    this.changed(this.running);
    void child.ended.then(() => {
      if (this.running.get(ward.name) === child) this.running.delete(ward.name);
      this.changed(this.running);
    });
    if (this.stopping) void child.stop(LATE_PATIENCE_MS);
  }

  private async keepAlive(ward: Ward, first: Child): Promise<void> {
    let child = first;
    let pause = FIRST_PAUSE_MS;
    for (;;) {
      const since = performance.now();
      const ending = await child.ended;
      if (this.stopping) return;
      if (performance.now() - since > STEADY_MS) pause = FIRST_PAUSE_MS;
      this.note(`${ward.name} ended by itself (${describe(ending)}); it is started again. Log: ${child.log}`);
      const died = performance.now();
      const next = await this.startAgain(ward, pause);
      if (!next) return;
      child = next;
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
      this.note(`${ward.name} is back after ${((performance.now() - died) / 1000).toFixed(1)} s.`);
    }
  }

  private async startAgain(ward: Ward, firstPause: number): Promise<Child | undefined> {
    let pause = firstPause;
    for (;;) {
      await this.rest(pause);
      if (this.stopping) return undefined;
      try {
        return await this.start(ward);
      } catch (error) {
        if (this.stopping) return undefined;
        pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
        const reason = fullDiskSentence(error) ?? (error as Error).message;
        this.note(`${ward.name} did not start; the next try is in ${(pause / 1000).toFixed(1)} s. ${reason}`);
      }
    }
  }

  /** A pause that a stop ends. */
  private rest(ms: number): Promise<void> {
    if (this.stopping) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.pauses.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      this.pauses.add(wake);
    });
  }
}

function describe({ code, signal }: Ending): string {
  return signal === null ? `exit code ${code ?? '?'}` : signal;
}
