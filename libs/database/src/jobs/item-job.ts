import {
  ItemBackoff,
  TurnLine,
  WorkerJob,
  type KnownTenants,
  type WorkerJobOptions,
} from '@customer-platform/http';
import type { Clock } from '../clock.js';
import type { Database } from '../database.js';
import { isTransient, ranOut } from '../errors.js';
import type { WorkerTransaction } from '../transaction.js';

/** What an {@link ItemJob} takes: a row of one organization. */
export interface JobItem {
  readonly organization_id: string;
}

/**
 * A job that takes one item after the other, each in one transaction. One that fails is left for a while, as `ItemBackoff`
 * says, and the next is taken. Tenants take turns, and in a tenant its organizations, as `TurnLine` says.
 */
export abstract class ItemJob<Item extends JobItem> extends WorkerJob {
  protected readonly backoff: ItemBackoff;
  private readonly line: TurnLine;

  constructor(
    options: WorkerJobOptions,
    protected readonly database: Database,
    clock: Clock,
    tenants: KnownTenants,
  ) {
    super(options);
    this.line = new TurnLine(tenants);
    this.backoff = new ItemBackoff(options.name, clock);
  }

  /** Does all that can be done now. @returns whether there was anything */
  runAll(): Promise<boolean> {
    return this.job.drain(() => this.runNext());
  }

  /**
   * Does the next item. @returns whether there was one
   * @throws what lies in no item, and what says that the database is away: the others would meet the same
   */
  async runNext(): Promise<boolean> {
    let item: Item | undefined;
    const one = (): Promise<void> =>
      this.database.acrossOrganizations(async (tx) => {
        // Of a transaction that begins anew the item may be another one, or none.
        item = await this.turn(tx);
        if (!item) return;
        await tx.useOrganization(item.organization_id);
        await this.work(tx, item);
      });
    try {
      await this.line.note(() => item?.organization_id, one);
      if (item) this.backoff.passed(this.nameOf(item));
      this.job.progressed();
    } catch (error) {
      if (item) this.backoff.failed(this.nameOf(item), error);
      // What ran out of time or memory may be this item's doing alone, however often.
      if (!item || (isTransient(error) && !ranOut(error))) throw error;
    }
    return item !== undefined;
  }

  private turn(tx: WorkerTransaction): Promise<Item | undefined> {
    const waiting = this.backoff.waiting();
    return this.line.next(
      async () => (await this.owners(tx, waiting)).map(({ organization_id: id }) => id),
      (organizationIds) => this.next(tx, organizationIds, waiting),
    );
  }

  protected override pass(): Promise<unknown> {
    return this.runAll();
  }

  /**
   * Finds all organizations that have an item which can be done now, those that wait longest first. One statement for many
   * items: locks are not asked for.
   * @param waiting names of items that are left alone for now
   */
  protected abstract owners(tx: WorkerTransaction, waiting: readonly string[]): Promise<JobItem[]>;

  /**
   * Finds an item that is free, of the first of these organizations that has one.
   * @param organizationIds in the order of their turns, 50 at most
   * @param waiting names of items that are left alone for now
   */
  protected abstract next(
    tx: WorkerTransaction,
    organizationIds: readonly string[],
    waiting: readonly string[],
  ): Promise<Item | undefined>;

  /** Does it, within its organization. */
  protected abstract work(tx: WorkerTransaction, item: Item): Promise<void>;

  /** As its failures are counted and told by. */
  protected abstract nameOf(item: Item): string;
}
