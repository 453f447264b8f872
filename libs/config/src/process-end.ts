import type { Server } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { destroyConnections } from './open-connections.js';

/** What is still answered when all is drained has so long: with up to 3 s before, all is over within ten. */
const GRACE_MS = 6_000;
/** Whatever hangs: nothing may keep the process beyond ten seconds. */
const DEADLINE_MS = 9_500;

interface EndLog {
  info: (said: object | string, text?: string) => void;
  fatal: (said: object, text: string) => void;
}

/** The servers of a process: its own, and that of its operations. */
interface Served {
  readonly running: { drain: () => unknown; close: (graceMs: number) => Promise<unknown> };
  readonly operations: Server;
}

/**
 * Ends a process that has no framework within ten seconds of SIGTERM or SIGINT: not ready, requests answered for `drainMs`
 * on connections that end with the answer, then closed.
 */
export class ProcessEnd {
  private begun = false;
  private served: Served | undefined;

  constructor(
    private readonly log: EndLog,
    private readonly drainMs: number,
  ) {}

  get isDraining(): boolean {
    return this.begun;
  }

  /** Hears the signals from here on. */
  of(served: Served): void {
    this.served = served;
    process.once('SIGTERM', () => this.begin('SIGTERM'));
    process.once('SIGINT', () => this.begin('SIGINT'));
  }

  /** Begins it, once. */
  begin(reason: string): void {
    if (this.begun) return;
    this.begun = true;
    this.log.info({ signal: reason }, 'draining');
    setTimeout(() => process.exit(1), DEADLINE_MS).unref();
    this.stop().catch((error: unknown) => {
      this.log.fatal({ err: error }, 'could not end in order');
      process.exit(1);
    });
  }

  private async stop(): Promise<void> {
    this.served?.running.drain();
    await pause(this.drainMs);
    await this.served?.running.close(GRACE_MS);
    this.served?.operations.close();
    if (this.served) destroyConnections(this.served.operations);
    this.log.info('stopped');
  }
}

/** Reads the configuration; a bad environment is one sentence on stderr, and the end. */
export function readOrExit<Config>(read: () => Config): Config {
  try {
    return read();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(1);
  }
}
