import { afterLocks, type Clock, type Transaction } from '@customer-platform/database';
import { lockOrigins } from './subjects.js';

const REFS = `SELECT subject_ref FROM subjects WHERE organization_id = $1 AND origin_contact_id = ANY($2::uuid[])`;

const ORIGINS = `SELECT origin_contact_id AS id FROM subjects WHERE organization_id = $1 AND contact_id = ANY($2::uuid[])`;

/**
 * A tombstone says how much there is without a name, so that totals before and after can be compared. Its rows are those
 * posted under the ref, of which each has a link, its points those of the ref's lots: a debit may have taken from the lots
 * of other refs alone, and have its row here and no line.
 */
const BURY = `
  INSERT INTO tombstones (organization_id, subject_ref, erased_at, transactions, points)
  SELECT $1, given.subject_ref, $3, posted.count, lined.points
    FROM unnest($2::uuid[]) AS given (subject_ref)
   CROSS JOIN LATERAL (
     SELECT count(*) AS count FROM links
      WHERE organization_id = $1 AND subject_ref = given.subject_ref) AS posted
   CROSS JOIN LATERAL (
     SELECT count(*) AS count, coalesce(sum(points), 0) AS points FROM lines
      WHERE organization_id = $1 AND subject_ref = given.subject_ref) AS lined
   WHERE posted.count > 0 OR lined.count > 0
  RETURNING transactions`;

/** A ref that never had points leaves nothing at all. */
const DROP_EMPTY = `
  DELETE FROM balances WHERE organization_id = $1 AND subject_ref = ANY($2::uuid[])
     AND NOT EXISTS (SELECT 1 FROM tombstones t
                      WHERE t.organization_id = balances.organization_id AND t.subject_ref = balances.subject_ref)`;

/**
 * Cuts every tie between these contacts and the rows of the ledger that were posted under their refs, whomever these
 * belong to by what is known of merges; the rows stay, and their lots still expire. Answers how many rows have lost their
 * name.
 */
export async function eraseSubjects(
  tx: Transaction,
  contactIds: readonly string[],
  clock: Clock,
): Promise<number> {
  // Also a contact without points gets a ref here, for a moment: whoever opens one for it waits, and finds it erased.
  const [, now] = await afterLocks(clock, lockOrigins(tx, contactIds));
  const rows = await tx.query<{ subject_ref: string }>(REFS, [tx.organizationId, contactIds]);
  const refs = rows.map(({ subject_ref: ref }) => ref);
  const buried = await tx.query<{ transactions: string }>(BURY, [tx.organizationId, refs, now]);
  await tx.query('DELETE FROM links WHERE organization_id = $1 AND subject_ref = ANY($2::uuid[])', [
    tx.organizationId,
    refs,
  ]);
  await tx.query('DELETE FROM subjects WHERE organization_id = $1 AND subject_ref = ANY($2::uuid[])', [
    tx.organizationId,
    refs,
  ]);
  await tx.query(DROP_EMPTY, [tx.organizationId, refs]);
  return buried.reduce((sum, { transactions }) => sum + Number(transactions), 0);
}

/** These contacts, and those on whose refs they have points. */
export async function originsOf(tx: Transaction, contactIds: readonly string[]): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(ORIGINS, [tx.organizationId, contactIds]);
  return [...new Set([...contactIds, ...rows.map(({ id }) => id)])];
}
