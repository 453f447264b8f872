import type { Provider } from '@nestjs/common';
import { ItemBackoff, WorkerJob } from '@customer-platform/http';
import { Clock } from '../clock.js';
import { Database } from '../database.js';
import { isDatabaseUnavailable, ranOut } from '../errors.js';

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
 * side by side; a row that somebody holds, or that fails, is left to the next pass. Runs where PROCESS_ROLE is not api. A step that is
 * going on when the process ends is given up: it may take 15 s, and a process has less to end in.
 */
export class Retention extends WorkerJob {
  private readonly statement: string;
  private readonly found: string;
  private readonly apart: string;
  private readonly backoff: ItemBackoff;
  /** Rows, by where they lie, that failed alone in this sweep. */
  private readonly failed = new Set<string>();
  private fault: unknown;
  private readonly rowsAtOnce: number;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly options: RetentionOptions,
  ) {
    const { name, table, where, oldestBy, everyMs = EVERY_MS, rowsAtOnce = ROWS_AT_ONCE, set } = options;
    super({ name, takes: `rows of ${table}`, everyMs });
    this.rowsAtOnce = rowsAtOnce;
    this.backoff = new ItemBackoff(name, clock, 3 * everyMs);
    const change = set === undefined ? `DELETE FROM ${table}` : `UPDATE ${table} SET ${set}`;
    const those = (which: string, order: string): string => `
      ${change} WHERE ctid = ANY (ARRAY(
        SELECT old.ctid FROM ${table} AS old WHERE ${where} AND ${which} ${order} FOR UPDATE OF old SKIP LOCKED))
      RETURNING 1`;
    const first = `${oldestBy === undefined ? '' : `ORDER BY old.${oldestBy}`} LIMIT ${String(rowsAtOnce)}`;
    const others = 'old.ctid <> ALL ($2::tid[])';
    this.statement = those(others, first);
    this.apart = those('old.ctid = ANY ($2::tid[])', '');
    this.found = `
      SELECT old.ctid::text AS at FROM ${table} AS old WHERE ${where} AND ${others} ${first}
         FOR UPDATE OF old SKIP LOCKED`;
  }

  protected override pass(): Promise<number> {
    return this.sweep();
  }

  /** Removes all that has had its time, until the process ends. @returns how many rows went */
  async sweep(): Promise<number> {
    const before = new Date(this.clock.now().getTime() - this.options.keptMs);
    this.failed.clear();
    let removed = 0;
    try {
      for (let step = this.rowsAtOnce; step === this.rowsAtOnce && !this.job.stopping;) {
        const gone = await this.step(before);
        step = gone.looked;
        removed += gone.removed;
        this.job.progressed();
      }
      if (this.failed.size === 0) this.backoff.passed(this.options.table);
    } finally {
      // Told once, however many they are, and also where the sweep does not come to its end.
      if (this.failed.size > 0) this.backoff.failed(this.options.table, this.fault);
    }
    return removed;
  }

  /** One of a step may fail for ever: then those are found that do, so that the others go. */
  private async step(before: Date): Promise<{ looked: number; removed: number }> {
    try {
      const removed = await this.change(this.statement, before, [...this.failed]);
      return { looked: removed, removed };
    } catch (error) {
      if (this.job.stopping || isAway(error)) throw error;
      const rows = await this.database.acrossOrganizations((tx) =>
        tx.query<{ at: string }>(this.found, [before, [...this.failed]]),
      );
      const places = rows.map(({ at }) => at);
      const known = this.failed.size;
      const removed = await this.changeApart(before, places);
      // Where nothing was found out either, others have the rows: they are left to the next pass.
      return { looked: removed + this.failed.size > known ? places.length : 0, removed };
    }
  }

  private async changeApart(before: Date, places: readonly string[]): Promise<number> {
    const [place] = places;
    if (place === undefined) return 0;
    try {
      return await this.change(this.apart, before, places);
    } catch (error) {
      if (this.job.stopping || isAway(error)) throw error;
      if (places.length === 1) {
        this.failed.add(place);
        this.fault = error;
        return 0;
      }
      const middle = places.length >> 1;
      const first = await this.changeApart(before, places.slice(0, middle));
      return first + (await this.changeApart(before, places.slice(middle)));
    }
  }

  private async change(statement: string, before: Date, places: readonly string[]): Promise<number> {
    const { signal } = this.job;
    const gone = await this.database.acrossOrganizations((tx) => tx.query(statement, [before, places]), {
      signal,
    });
    return gone.length;
  }
}

/** The other rows would meet the same. */
function isAway(error: unknown): boolean {
  return isDatabaseUnavailable(error) && !ranOut(error);
}

/** A {@link Retention} as a module's provider: it runs by itself for as long as the application does. */
export function retentionOf(options: RetentionOptions): Provider {
  return {
    provide: Symbol(options.name),
    useFactory: (database: Database, clock: Clock) => new Retention(database, clock, options),
    inject: [Database, Clock],
  };
}
