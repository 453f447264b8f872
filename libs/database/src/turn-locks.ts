import type { Transaction } from './transaction.js';

const SHARED = `
  SELECT pg_advisory_xact_lock_shared(hashtextextended(name, 0))
    FROM (SELECT name FROM unnest($1::text[]) AS name ORDER BY name) AS sorted`;
const ALONE = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))';

/**
 * Keeps what the names stand for as it is until the transaction ends, beside any number of others who do; what it is is to
 * be read in a later statement. In one queue with who changes it: whoever comes later waits behind a change that waits,
 * where shared locks of a row (`FOR SHARE`) would let new ones pass it for ever.
 */
export async function keepInTurn(tx: Transaction, names: readonly string[]): Promise<void> {
  if (names.length > 0) await tx.prepared(SHARED, [[...new Set(names)]]);
}

/** Waits for all who keep it, and has others wait until the transaction ends. */
export async function holdInTurn(tx: Transaction, name: string): Promise<void> {
  await tx.query(ALONE, [name]);
}
