import { afterLocks, bigints, type Clock, type Transaction, uuids } from '@customer-platform/database';
import { lockOrigins } from './subjects.js';

const REFS = `SELECT subject_ref FROM subjects WHERE organization_id = $1 AND origin_contact_id = ANY($2::uuid[])`;

const ORIGINS = `SELECT origin_contact_id AS id FROM subjects WHERE organization_id = $1 AND contact_id = ANY($2::uuid[])`;

/** Rows of one statement: a contact may have millions, and a statement 15 seconds. */
const AT_ONCE = 10_000;

/** Each row under a ref has a link; these go from the newest on. Who is gone is sought by key, whatever the planner believes. */
const CUT = `
  WITH piece AS MATERIALIZED (
    SELECT transaction_id, occurred_at FROM links
     WHERE organization_id = $1 AND subject_ref = $2 AND (occurred_at, transaction_id) < ($3::timestamptz, $4::uuid)
     ORDER BY occurred_at DESC, transaction_id DESC LIMIT ${String(AT_ONCE)}),
  cut AS (
    DELETE FROM links WHERE organization_id = $1 AND transaction_id = ANY(ARRAY(SELECT transaction_id FROM piece))),
  listed AS (
    INSERT INTO tombstone_rows (organization_id, created_at, transaction_id)
    SELECT $1, posted.created_at, piece.transaction_id FROM piece CROSS JOIN LATERAL (
      SELECT created_at FROM transactions WHERE organization_id = $1 AND id = piece.transaction_id OFFSET 0) AS posted
    ON CONFLICT DO NOTHING)
  SELECT count(*) OVER ()::int AS count, occurred_at, transaction_id FROM piece
   ORDER BY occurred_at, transaction_id LIMIT 1`;
const FROM_THE_NEWEST = { occurred_at: 'infinity', transaction_id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };

/**
 * A tombstone says how much there is without a name, so that totals before and after can be compared. Its rows are those
 * posted under the ref, its points those of the ref's lots: a debit may have taken from the lots of other refs alone, and
 * have its row here and no line.
 */
const BURY = `
  INSERT INTO tombstones (organization_id, subject_ref, erased_at, transactions, points)
  SELECT $1, given.subject_ref, $4, given.transactions, lined.points
    FROM unnest($2::uuid[], $3::bigint[]) AS given (subject_ref, transactions)
   CROSS JOIN LATERAL (
     SELECT count(*) AS count, coalesce(sum(points), 0) AS points FROM lines
      WHERE organization_id = $1 AND subject_ref = given.subject_ref) AS lined
   WHERE given.transactions > 0 OR lined.count > 0`;

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
  const counts: number[] = [];
  for (const ref of refs) counts.push(await cutLinks(tx, ref));
  await tx.query(BURY, [tx.organizationId, uuids(refs), bigints(counts), now]);
  await tx.query('DELETE FROM subjects WHERE organization_id = $1 AND subject_ref = ANY($2::uuid[])', [
    tx.organizationId,
    refs,
  ]);
  await tx.query(DROP_EMPTY, [tx.organizationId, refs]);
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Takes away what tells whose a ref's rows are, and lists these as nobody's, in pieces. @returns how many they are */
async function cutLinks(tx: Transaction, ref: string): Promise<number> {
  let total = 0;
  let read: number;
  let last: { occurred_at: Date | string; transaction_id: string } = FROM_THE_NEWEST;
  do {
    const [piece] = await tx.query<{ count: number; occurred_at: Date; transaction_id: string }>(CUT, [
      tx.organizationId,
      ref,
      last.occurred_at,
      last.transaction_id,
    ]);
    read = piece?.count ?? 0;
    total += read;
    last = piece ?? last;
  } while (read === AT_ONCE);
  return total;
}

/** These contacts, and those on whose refs they have points. */
export async function originsOf(tx: Transaction, contactIds: readonly string[]): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(ORIGINS, [tx.organizationId, contactIds]);
  return [...new Set([...contactIds, ...rows.map(({ id }) => id)])];
}
