import type { Transaction } from '@customer-platform/database';

const SHARED = `
  SELECT pg_advisory_xact_lock_shared(hashtextextended(key, 0))
    FROM (SELECT key FROM unnest($1::text[]) AS key ORDER BY key) AS sorted`;
const EXCLUSIVE = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))';

const ofOne = (tx: Transaction, id: string): string => `object-definition:${tx.organizationId}:${id}`;

/**
 * Keeps definitions as they are until the transaction ends, beside any number of others who do; what they are is to be
 * read in a later statement. An advisory lock stands in one queue: whoever changes a definition waits for those who are
 * under way, and those who come later wait for it. Shared locks of the row would let new ones pass for ever.
 */
export async function keepDefinitions(tx: Transaction, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await tx.prepared(SHARED, [[...new Set(ids)].map((id) => ofOne(tx, id))]);
}

/** Waits for all who write by the definition, and has others wait until the transaction ends. */
export async function holdDefinition(tx: Transaction, id: string): Promise<void> {
  await tx.query(EXCLUSIVE, [ofOne(tx, id)]);
}

/** Changes of an organization's definitions take turns: what one refers to is not purged meanwhile. */
export async function holdDefinitions(tx: Transaction): Promise<void> {
  await tx.query(EXCLUSIVE, [`object-definitions:${tx.organizationId}`]);
}
