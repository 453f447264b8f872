import type { Transaction } from '@customer-platform/database';

/*
 * Who locks several things of objects takes them in this order, and what is of one kind in the order of ids:
 *
 * 1. contacts (`ContactReferences`, `ContactFollower`), then the jobs of contacts whose records are on their way
 * 2. the organization's definitions (`holdDefinitions`)
 * 3. a definition: shared by those who write by it (`keepDefinitions`), alone by who changes it and by erasures
 * 4. the job of an index; who works on one has it first, and waits for no definition (`keepIfFree`)
 * 5. records, so that rows may come to refer to them meanwhile; alone only to remove one
 * 6. the records that it comes to refer to, so that none is purged meanwhile
 * 7. unique values of one record: by name where they are several (`derived-rows.ts`), then their claims
 * 8. counts, the definition's row (the end of building an index)
 *
 * Who has a definition for itself has its records, their values and counts, too.
 */

const SHARED = `
  SELECT pg_advisory_xact_lock_shared(hashtextextended(key, 0))
    FROM (SELECT key FROM unnest($1::text[]) AS key ORDER BY key) AS sorted`;
const IF_FREE = 'SELECT pg_try_advisory_xact_lock_shared(hashtextextended($1, 0)) AS kept';
const EXCLUSIVE = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))';
const ALL_EXCLUSIVE = `
  SELECT pg_advisory_xact_lock(hashtextextended(key, 0))
    FROM (SELECT key FROM unnest($1::text[]) AS key ORDER BY key) AS sorted`;

const ofOne = (tx: Transaction, id: string): string => `object-definition:${tx.organizationId}:${id}`;

/**
 * Keeps definitions as they are until the transaction ends, beside any number of others who do; what they are is to be
 * read in a later statement. An advisory lock stands in one queue: whoever changes a definition waits for those who are
 * under way, and those who come later wait for it. Shared locks of the row would let new ones pass for ever.
 */
export async function keepDefinitions(tx: Transaction, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await tx.prepared(SHARED, [[...new Set(ids)].map((id) => ofOne(tx, id))]);
}

/** The same of one, without waiting. @returns false while somebody has it alone, or waits for that */
export async function keepIfFree(tx: Transaction, id: string): Promise<boolean> {
  const [row] = await tx.query<{ kept: boolean }>(IF_FREE, [ofOne(tx, id)]);
  return row?.kept === true;
}

/** Waits for all who write by the definition, and has others wait until the transaction ends. */
export async function holdDefinition(tx: Transaction, id: string): Promise<void> {
  await holdSeveral(tx, [id]);
}

/** The same of several. */
export async function holdSeveral(tx: Transaction, ids: readonly string[]): Promise<void> {
  await tx.query(ALL_EXCLUSIVE, [[...new Set(ids)].map((id) => ofOne(tx, id))]);
}

/** Changes of an organization's definitions take turns: what one refers to is not purged meanwhile. */
export async function holdDefinitions(tx: Transaction): Promise<void> {
  await tx.query(EXCLUSIVE, [`object-definitions:${tx.organizationId}`]);
}
