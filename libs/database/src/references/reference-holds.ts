import { Inject, Injectable } from '@nestjs/common';
import { Database } from '../database.js';
import { newId } from '../ids.js';
import type { ReferenceCount } from '../resources/constraints.js';
import type { Transaction, WorkerTransaction } from '../transaction.js';
import { REFERENCES_OPTIONS, type ReferencesModuleOptions } from './references.options.js';

/** A row of another module whose owner is about to remove it. */
export interface HeldResource {
  organizationId: string;
  /** `<module>.<resource>` as in the permission: `core.contacts`. */
  resource: string;
  id: string;
}

/** Contract §9: new references are held back so long at most. */
export const LONGEST_HOLD_MS = 10_000;
/** A writer that is still under way after this long makes the hold fail, and with it the purge. */
const LOCK_PATIENCE_MS = 1_500;

const LOCK = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))';
const LOCK_SHARED = 'SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0))';

/** In one order for all who lock several. */
const LOCK_ALL_SHARED = `
  SELECT pg_advisory_xact_lock_shared(hashtextextended(key, 0))
    FROM (SELECT key FROM unnest($1::text[]) AS key ORDER BY key) AS sorted`;

const HELD = `
  SELECT referenced_id AS id FROM reference_holds
   WHERE organization_id = $1 AND referenced_id = ANY($3::uuid[]) AND resource = $2 AND held_until > clock_timestamp()`;

const HOLD = `
  INSERT INTO reference_holds (organization_id, hold_id, resource, referenced_id, held_until)
  VALUES ($1, $2, $3, $4, clock_timestamp() + make_interval(secs => $5::numeric / 1000))
  ON CONFLICT (organization_id, hold_id) DO NOTHING`;

/**
 * What keeps a purge in another module from passing a reference that is being written here. A writer takes a shared
 * lock and looks for holds in a later statement; a hold is written under the exclusive lock. So either the hold counts
 * what the writer wrote, or the writer sees the hold.
 */
@Injectable()
export class ReferenceHolds {
  constructor(
    private readonly database: Database,
    @Inject(REFERENCES_OPTIONS) private readonly options: ReferencesModuleOptions,
  ) {}

  /**
   * Which of these ids new references are held back from. To be asked in the transaction that writes the reference,
   * before it does. The owner has seen the row soft-deleted, so a held id is to be treated as a deleted one.
   */
  async held(tx: Transaction, resource: string, ids: readonly string[]): Promise<Set<string>> {
    if (ids.length === 0) return new Set();
    await tx.query(LOCK_SHARED, [lockOf(tx.organizationId, resource)]);
    const rows = await tx.query<{ id: string }>(HELD, [tx.organizationId, resource, [...new Set(ids)]]);
    return new Set(rows.map(({ id }) => id));
  }

  /**
   * Waits for those who take away what they hold in these organizations, and has others wait until the transaction
   * ends: what they took away can be seen from here on.
   */
  async share(tx: WorkerTransaction, resource: string, organizationIds: readonly string[]): Promise<void> {
    await tx.query(LOCK_ALL_SHARED, [organizationIds.map((id) => lockOf(id, resource))]);
  }

  /**
   * Counts the rows of this module that point to the resource, and holds back new ones if there are none.
   * @throws a passing Postgres failure when writers are under way for too long
   */
  async countAndHold(held: HeldResource, holdId: string, holdMs: number): Promise<ReferenceCount[]> {
    return this.database.inOrganization(held, async (tx) => {
      await tx.query(`SELECT set_config('lock_timeout', $1, true)`, [String(LOCK_PATIENCE_MS)]);
      await tx.query(LOCK, [lockOf(held.organizationId, held.resource)]);
      const references = await this.count(tx, held.resource, held.id);
      if (references.every(({ count }) => count === 0)) await this.write(tx, held, holdId, holdMs);
      return references;
    });
  }

  /** Counts the rows of this module that point to the resource, as the transaction sees them. */
  async count(tx: Transaction, resource: string, id: string): Promise<ReferenceCount[]> {
    const references: ReferenceCount[] = [];
    for (const source of this.referencesTo(resource)) {
      const [row] = await tx.query<{ count: number }>(source.count, [tx.organizationId, id]);
      references.push({
        module: this.options.module,
        resource: source.resource,
        count: Number(row?.count ?? 0),
      });
    }
    return references;
  }

  /**
   * Holds new references back from now on, and waits for those who are writing one: what they wrote can be seen then.
   * For a module that takes its own rows away in this transaction, however many there are.
   */
  async hold(tx: Transaction, resource: string, id: string): Promise<void> {
    await tx.query(LOCK, [lockOf(tx.organizationId, resource)]);
    await this.write(tx, { organizationId: tx.organizationId, resource, id }, newId(), LONGEST_HOLD_MS);
  }

  /** Ends a hold early: the purge did not come about. */
  async release(organizationId: string, holdId: string): Promise<void> {
    await this.database.inOrganization({ organizationId }, (tx) =>
      tx.query('DELETE FROM reference_holds WHERE organization_id = $1 AND hold_id = $2', [
        organizationId,
        holdId,
      ]),
    );
  }

  private referencesTo(resource: string) {
    return (this.options.references ?? []).filter(({ to }) => to === resource);
  }

  private async write(tx: Transaction, held: HeldResource, holdId: string, holdMs: number): Promise<void> {
    if (this.referencesTo(held.resource).length === 0) return;
    const ms = Math.min(holdMs, LONGEST_HOLD_MS);
    await tx.query(
      'DELETE FROM reference_holds WHERE organization_id = $1 AND held_until <= clock_timestamp()',
      [held.organizationId],
    );
    await tx.query(HOLD, [held.organizationId, holdId, held.resource, held.id, ms]);
  }
}

function lockOf(organizationId: string, resource: string): string {
  return `references:${organizationId}:${resource}`;
}
