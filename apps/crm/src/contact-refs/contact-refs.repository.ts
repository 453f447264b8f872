import { Injectable } from '@nestjs/common';
import type { Transaction } from '@customer-platform/database';
import type { ContactRef, ContactState } from './contact-ref.js';

const WRITE = `
  INSERT INTO contact_refs (organization_id, id, state, merged_into, version)
  SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::int[])
  ON CONFLICT (organization_id, id) DO UPDATE
     SET state = EXCLUDED.state, merged_into = EXCLUDED.merged_into, version = EXCLUDED.version, updated_at = now()
   WHERE contact_refs.version < EXCLUDED.version AND contact_refs.state <> 'erased'`;

/** Whatever its version: from an erasure there is no way back. */
const ERASE = `
  INSERT INTO contact_refs (organization_id, id, state, merged_into, version) VALUES ($1, $2, 'erased', NULL, 0)
  ON CONFLICT (organization_id, id) DO UPDATE SET state = 'erased', merged_into = NULL, updated_at = now()`;

/** No chain of merges is longer: each contact takes at most 100 others, and rings cannot be (core.md §4). */
const LONGEST_CHAIN = 100;

const FOLLOW = `
  WITH RECURSIVE chain AS (
    SELECT id AS asked, id, state, merged_into, 0 AS step
      FROM contact_refs WHERE organization_id = $1 AND id = ANY ($2::uuid[])
    UNION ALL
    SELECT chain.asked, next.id, next.state, next.merged_into, chain.step + 1
      FROM chain JOIN contact_refs AS next ON next.organization_id = $1 AND next.id = chain.merged_into
     WHERE chain.state = 'merged' AND chain.step < ${String(LONGEST_CHAIN)})
  SELECT DISTINCT ON (asked) asked, id, state, merged_into FROM chain ORDER BY asked, step DESC`;

/** Not FOR SHARE: sharers that keep coming would hold up a merge or an erasure for as long as they come. */
const KEEP_ACTIVE = `
  SELECT id FROM contact_refs WHERE organization_id = $1 AND id = ANY($2::uuid[]) AND state = 'active'
   ORDER BY id FOR NO KEY UPDATE`;

/** The end of a contact's chain of merges, as far as it is known here. */
export interface ChainEnd {
  readonly asked: string;
  readonly id: string;
  readonly state: ContactState;
  /** Set where the chain goes on to a contact that is not known here yet. */
  readonly merged_into: string | null;
}

/** The table `contact_refs`. */
@Injectable()
export class ContactRefsRepository {
  /** Writes what is newer than what is there; an older version never overwrites a newer, and none an erasure. */
  async write(tx: Transaction, refs: readonly ContactRef[]): Promise<void> {
    const { organizationId } = tx;
    await this.writeAll(
      tx,
      refs.map((ref) => ({ ...ref, organizationId })),
    );
  }

  /** As `write`, of several organizations in a worker's transaction. */
  async writeAll(
    tx: Transaction,
    refs: readonly (ContactRef & { readonly organizationId: string })[],
  ): Promise<void> {
    if (refs.length === 0) return;
    const newest = new Map<string, (typeof refs)[number]>();
    for (const ref of refs) {
      const name = `${ref.organizationId} ${ref.id}`;
      if ((newest.get(name)?.version ?? -1) < ref.version) newest.set(name, ref);
    }
    // In one order for all, so that two writers of the same contacts wait instead of deadlocking.
    const rows = [...newest].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, ref]) => ref);
    await tx.prepared(WRITE, [
      rows.map(({ organizationId }) => organizationId),
      rows.map(({ id }) => id),
      rows.map(({ state }) => state),
      rows.map(({ mergedInto }) => mergedInto),
      rows.map(({ version }) => version),
    ]);
  }

  /** Marks a contact as erased; waits for whoever writes a row that belongs to it. */
  async markErased(tx: Transaction, id: string): Promise<void> {
    await tx.query(ERASE, [tx.organizationId, id]);
  }

  /** Follows each id through its merges. Ids that are not known are left out. */
  async follow(tx: Transaction, ids: readonly string[]): Promise<ChainEnd[]> {
    return tx.query<ChainEnd>(FOLLOW, [tx.organizationId, ids]);
  }

  /**
   * Keeps active contacts from being merged, deleted or erased here until the transaction ends, and answers which they
   * are: not those that are no longer active after waiting for whoever changes them. Locks in one order for all.
   */
  async keepActive(tx: Transaction, ids: readonly string[]): Promise<Set<string>> {
    const rows = await tx.query<{ id: string }>(KEEP_ACTIVE, [tx.organizationId, ids]);
    return new Set(rows.map(({ id }) => id));
  }
}
