import type { Provider } from '@nestjs/common';
import { WorkerJob } from '@customer-platform/http';
import { Clock } from '../clock.js';
import { Database } from '../database.js';

const EVERY_MS = 10 * 60_000;
/** Of one transaction, so that none is long; unless a table has rows that take more with them. */
const ROWS_AT_ONCE = 5_000;

/** Which rows of a table have had their time. */
export interface RetentionOptions {
  /** Its name in metrics and log lines. */
  readonly name: string;
  readonly table: string;
  /** SQL over the table as `old`: whether a row goes. `$1` is the instant before which it has to lie. */
  readonly where: string;
  /** The column by whose index the oldest come first. */
  readonly oldestBy?: string;
  /** How long a row is kept from that instant on, in milliseconds. */
  readonly keptMs: number;
  readonly everyMs?: number;
  /** How many rows go in one transaction; 5,000 unless given. */
  readonly rowsAtOnce?: number;
  /** SQL of what is set instead, where the row stays; `where` holds for it no more then. */
  readonly set?: string;
}

/**
 * Removes the rows of a table that have had their time, or empties them, of all organizations, in steps. Several instances do it
 * side by side; a row that somebody holds is left to the next pass. Runs where PROCESS_ROLE is not api. A step that is
 * going on when the process ends is given up: it may take 15 s, and a process has less to end in.
 */
export class Retention extends WorkerJob {
  private readonly statement: string;
  private readonly rowsAtOnce: number;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly options: RetentionOptions,
  ) {
    const { name, table, where, oldestBy, everyMs = EVERY_MS, rowsAtOnce = ROWS_AT_ONCE, set } = options;
    super({ name, everyMs });
    this.rowsAtOnce = rowsAtOnce;
    this.statement = `
      ${set === undefined ? `DELETE FROM ${table}` : `UPDATE ${table} SET ${set}`} WHERE ctid = ANY (ARRAY(
        SELECT old.ctid FROM ${table} AS old WHERE ${where}
         ${oldestBy === undefined ? '' : `ORDER BY old.${oldestBy}`}
         LIMIT ${String(rowsAtOnce)} FOR UPDATE OF old SKIP LOCKED))
      RETURNING 1`;
  }

  protected override pass(): Promise<number> {
    return this.sweep();
  }

  /** Removes all that has had its time, until the process ends. @returns how many rows went */
  async sweep(): Promise<number> {
    const before = new Date(this.clock.now().getTime() - this.options.keptMs);
    let removed = 0;
    for (let step = this.rowsAtOnce; step === this.rowsAtOnce && !this.job.stopping; removed += step) {
      const gone = await this.database.acrossOrganizations((tx) => tx.query(this.statement, [before]), {
        signal: this.job.signal,
      });
      step = gone.length;
      this.job.progressed();
    }
    return removed;
  }
}

/** A {@link Retention} as a module's provider: it runs by itself for as long as the application does. */
export function retentionOf(options: RetentionOptions): Provider {
  return {
    provide: Symbol(options.name),
    useFactory: (database: Database, clock: Clock) => new Retention(database, clock, options),
    inject: [Database, Clock],
  };
}
