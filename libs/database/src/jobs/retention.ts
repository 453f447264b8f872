import type { Provider } from '@nestjs/common';
import { ItemBackoff, WorkerJob } from '@customer-platform/http';
import { Clock } from '../clock.js';
import { Database } from '../database.js';
import { isAway } from '../errors.js';

const EVERY_MS = 10 * 60_000;
/** Of one transaction, so that none is long; unless a table has rows that take more with them. */
const ROWS_AT_ONCE = 5_000;
/** So long at most a sweep looks for the rows that fail: what has its time meanwhile waits for the next. */
const MOST_LOOKED_MS = 5 * 60_000;

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
  /** The table has no organizations. */
  readonly ofNobody?: true;
}

/** Rows, by where they lie, of which some fail. */
interface Suspects {
  readonly organizationId: string | null;
  readonly places: readonly string[];
}

/**
 * Removes the rows of a table that have had their time, or empties them, of all organizations, in steps. Several instances do it
 * side by side; a row that somebody holds is left to the next pass. Where a step fails the organizations that it lies in are
 * found, and looked through by halves once all others have had their turn, until nothing is found that can be removed, or for a
 * while in each sweep: each row that fails may take 15 s. Runs where PROCESS_ROLE is not api. A step that is going on when the process ends is given up: it may take 15 s, and
 * a process has less to end in.
 */
export class Retention extends WorkerJob {
  private readonly statement: string;
  private readonly found: string;
  private readonly apart: string;
  private readonly backoff: ItemBackoff;
  /** Rows, by where they lie, that failed alone: those that were tried longest ago come first. */
  private readonly failed = new Set<string>();
  private readonly suspects: Suspects[] = [];
  private fault: unknown;
  private readonly rowsAtOnce: number;
  private readonly lookedMs: number;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly options: RetentionOptions,
  ) {
    const { name, table, where, oldestBy, everyMs = EVERY_MS, rowsAtOnce = ROWS_AT_ONCE, set } = options;
    super({ name, takes: `rows of ${table}`, everyMs });
    this.rowsAtOnce = rowsAtOnce;
    this.lookedMs = Math.min(everyMs, MOST_LOOKED_MS);
    this.backoff = new ItemBackoff(name, clock, 3 * everyMs);
    const change = set === undefined ? `DELETE FROM ${table}` : `UPDATE ${table} SET ${set}`;
    const those = (which: string, order: string): string => `
      ${change} WHERE ctid = ANY (ARRAY(
        SELECT old.ctid FROM ${table} AS old WHERE ${where} AND ${which} ${order} FOR UPDATE OF old SKIP LOCKED))
      RETURNING 1`;
    const first = `${oldestBy === undefined ? '' : `ORDER BY old.${oldestBy}`} LIMIT ${String(rowsAtOnce)}`;
    const [organization, ofOthers] = options.ofNobody
      ? ['NULL::uuid', 'cardinality($3::uuid[]) = 0']
      : ['old.organization_id', 'old.organization_id <> ALL ($3::uuid[])'];
    const others = `old.ctid <> ALL ($2::tid[]) AND ${ofOthers}`;
    this.statement = those(others, first);
    this.apart = those('old.ctid = ANY ($2::tid[])', '');
    this.found = `
      SELECT old.ctid::text AS at, ${organization} AS "organizationId" FROM ${table} AS old WHERE ${where} AND ${others} ${first}
         FOR UPDATE OF old SKIP LOCKED`;
  }

  protected override pass(): Promise<number> {
    return this.sweep();
  }

  /** Removes all that has had its time, until the process ends. @returns how many rows went */
  async sweep(): Promise<number> {
    const before = new Date(this.clock.now().getTime() - this.options.keptMs);
    let until: number | undefined;
    let known: readonly string[] = [...this.failed];
    let removed = 0;
    try {
      for (let isLeft = true; isLeft;) {
        removed += await this.steps(before);
        // Behind those that were left out of the steps lie others of their organizations.
        isLeft = this.suspects.length > 0;
        until ??= performance.now() + this.lookedMs;
        removed += await this.lookThrough(before, known, until);
        isLeft &&= this.suspects.length === 0 && !this.job.stopping && performance.now() < until;
        known = [];
      }
      if (!this.isFailing) this.backoff.passed(this.options.table);
    } finally {
      // Told once, however many they are, and also where the sweep does not come to its end.
      if (this.isFailing) this.backoff.failed(this.options.table, this.fault);
    }
    return removed;
  }

  private get isFailing(): boolean {
    return this.failed.size > 0 || this.suspects.length > 0;
  }

  private async steps(before: Date): Promise<number> {
    let removed = 0;
    for (let step = this.rowsAtOnce; step === this.rowsAtOnce && !this.job.stopping;) {
      const gone = await this.step(before);
      step = gone.looked;
      removed += gone.removed;
      this.job.progressed();
    }
    return removed;
  }

  /** One of a step may fail for ever: then each organization's rows are tried by themselves, so that the others' go. */
  private async step(before: Date): Promise<{ looked: number; removed: number }> {
    const suspected = [...new Set(this.suspects.map(({ organizationId }) => organizationId))];
    const which = [before, [...this.failed], suspected];
    try {
      const removed = await this.change(this.statement, which);
      return { looked: removed, removed };
    } catch (error) {
      this.endIfAway(error);
      const rows = await this.database.acrossOrganizations((tx) =>
        tx.query<{ at: string; organizationId: string | null }>(this.found, which),
      );
      const known = this.failed.size + this.suspects.length;
      let removed = 0;
      for (const [organizationId, own] of Map.groupBy(rows, (row) => row.organizationId))
        removed += await this.changeApart(before, { organizationId, places: own.map(({ at }) => at) });
      // Where nothing was found out either, others have the rows: they are left to the next pass.
      const isFound = removed + this.failed.size + this.suspects.length > known;
      return { looked: isFound ? rows.length : 0, removed };
    }
  }

  /** Those of which some fail, one half after the other, then those that failed before, for as long as there is time. */
  private async lookThrough(before: Date, known: readonly string[], until: number): Promise<number> {
    const isOver = (): boolean => this.job.stopping || performance.now() >= until;
    let removed = 0;
    for (let some = this.suspects.shift(); some; some = isOver() ? undefined : this.suspects.shift()) {
      removed += await this.changeApart(before, some);
      this.job.progressed();
    }
    if (known.length === 0 || isOver()) return removed;
    try {
      return removed + (await this.changeThose(before, known));
    } catch (error) {
      this.endIfAway(error);
    }
    for (const place of known) {
      if (isOver()) break;
      this.failed.delete(place);
      removed += await this.changeApart(before, { organizationId: null, places: [place] });
      this.job.progressed();
    }
    return removed;
  }

  private async changeApart(before: Date, { organizationId, places }: Suspects): Promise<number> {
    try {
      return await this.changeThose(before, places);
    } catch (error) {
      this.endIfAway(error);
      this.fault = error;
      const [place = ''] = places;
      const middle = places.length >> 1;
      if (places.length === 1) this.failed.add(place);
      else
        for (const half of [places.slice(0, middle), places.slice(middle)])
          this.suspects.push({ organizationId, places: half });
      return 0;
    }
  }

  private async changeThose(before: Date, places: readonly string[]): Promise<number> {
    const removed = await this.change(this.apart, [before, places]);
    for (const place of places) this.failed.delete(place);
    return removed;
  }

  private async change(statement: string, values: readonly unknown[]): Promise<number> {
    const { signal } = this.job;
    const gone = await this.database.acrossOrganizations((tx) => tx.query(statement, [...values]), {
      signal,
    });
    return gone.length;
  }

  /** @throws the error where there is no use in looking for a row that is at fault */
  private endIfAway(error: unknown): void {
    if (this.job.stopping || isAway(error)) throw error;
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
