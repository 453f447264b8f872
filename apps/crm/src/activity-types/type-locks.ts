import type { Transaction } from '@customer-platform/database';

const SHARED = 'SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0))';
const EXCLUSIVE = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))';

const ofOne = (tx: Transaction, id: string): string => `activity-type:${tx.organizationId}:${id}`;

/**
 * Keeps a type as it is until the transaction ends, beside any number of others who write activities of it; what it is is
 * to be read in a later statement. In one queue with those who change it: shared locks of its row would let new ones pass
 * for ever.
 */
export async function keepType(tx: Transaction, id: string): Promise<void> {
  await tx.prepared(SHARED, [ofOne(tx, id)]);
}

/** Waits for all who write activities of the type, and has others wait until the transaction ends. */
export async function holdType(tx: Transaction, id: string): Promise<void> {
  await tx.query(EXCLUSIVE, [ofOne(tx, id)]);
}
