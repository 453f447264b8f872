import { ItemBackoff } from '@customer-platform/http';
import type { Clock } from '../clock.js';
import type { Database } from '../database.js';
import { isDatabaseUnavailable, ranOut } from '../errors.js';
import type { WorkerTransaction } from '../transaction.js';

/** Organizations of one transaction, for the sake of few transactions where many have a little to do. */
const TOGETHER = 50;

/** Does some of what waits in these organizations, at most so many rows of each. @returns how many it took */
type Piece = (
  tx: WorkerTransaction,
  organizationIds: readonly string[],
  rowsOfEach: number,
) => Promise<number>;

/** Which organizations have a row in the table, from one to the next through an index that begins with them. */
const organizationsIn = (table: string): string => `
  WITH RECURSIVE own AS (
    (SELECT organization_id FROM ${table} ORDER BY organization_id LIMIT 1)
    UNION ALL
    SELECT (SELECT next.organization_id FROM ${table} AS next
             WHERE next.organization_id > own.organization_id ORDER BY next.organization_id LIMIT 1)
      FROM own WHERE own.organization_id IS NOT NULL
  )
  SELECT organization_id FROM own WHERE organization_id IS NOT NULL AND organization_id <> ALL($1::uuid[])`;

/**
 * The way through a queue of many small rows: each organization that has any gets its turn in each round, many of them in
 * one transaction. Where that fails each is tried alone, so that one that fails holds up no other; it is told and left for
 * a while.
 */
export class OrganizationTurns {
  private readonly backoff: ItemBackoff;
  private readonly organizations: string;

  /**
   * @param job as metrics and log lines call it
   * @param queue the table, and how many rows of it one transaction takes
   */
  constructor(
    private readonly database: Database,
    clock: Clock,
    job: string,
    private readonly queue: { readonly table: string; readonly rowsAtOnce: number },
  ) {
    this.backoff = new ItemBackoff(job, clock);
    this.organizations = organizationsIn(queue.table);
  }

  /** @returns how many rows were taken; the end is reached where there were none */
  async round(piece: Piece, stopping: () => boolean): Promise<number> {
    const rows = await this.database.acrossOrganizations((tx) =>
      tx.query<{ organization_id: string }>(this.organizations, [this.backoff.waiting()]),
    );
    const ids = rows.map((row) => row.organization_id);
    let taken = 0;
    for (let from = 0; from < ids.length && !stopping(); from += TOGETHER)
      taken += await this.take(piece, ids.slice(from, from + TOGETHER));
    return taken;
  }

  private async take(piece: Piece, ids: readonly string[]): Promise<number> {
    try {
      const rowsOfEach = Math.ceil(this.queue.rowsAtOnce / ids.length);
      const taken = await this.database.acrossOrganizations((tx) => piece(tx, ids, rowsOfEach));
      for (const id of ids) this.backoff.passed(id);
      return taken;
    } catch (error) {
      // The others would meet the same.
      if (isDatabaseUnavailable(error) && !ranOut(error)) throw error;
      const [id] = ids;
      if (ids.length > 1) return await this.takeEach(piece, ids);
      if (id !== undefined) this.backoff.failed(id, error);
      return 0;
    }
  }

  private async takeEach(piece: Piece, ids: readonly string[]): Promise<number> {
    let taken = 0;
    for (const id of ids) taken += await this.take(piece, [id]);
    return taken;
  }
}
