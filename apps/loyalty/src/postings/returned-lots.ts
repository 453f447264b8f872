import { type Transaction, uuids } from '@customer-platform/database';
import { expirations } from '../ledger/lots.js';

/** A lot that a reversal opened for points of a lot that had ended when they came back. */
export interface ReturnedLot {
  readonly lotId: string;
  readonly subjectRef: string;
  /** The lot that had ended, and the debit that had taken the points from it. */
  readonly fromLotId: string;
  readonly debitId: string;
}

/**
 * A reversal without a line on the lot from which its debit took found that lot ended. Such a lot may have ended in turn
 * when points of it came back.
 */
const RETURNED = `
  WITH RECURSIVE returned AS (
    SELECT $2::uuid AS lot_id, $3::uuid AS subject_ref, NULL::uuid AS from_lot_id, NULL::uuid AS debit_id
    UNION
    SELECT reversal.id, reversal.subject_ref, took.lot_id, took.transaction_id
      FROM returned
      JOIN lines took ON took.organization_id = $1 AND took.subject_ref = returned.subject_ref
       AND took.lot_id = returned.lot_id AND took.points < 0
     CROSS JOIN LATERAL (
       SELECT id, subject_ref FROM transactions
        WHERE organization_id = $1 AND reverses_id = took.transaction_id OFFSET 0) AS reversal
     WHERE NOT EXISTS (
       SELECT FROM lines back
        WHERE back.organization_id = $1 AND back.transaction_id = reversal.id AND back.lot_id = took.lot_id))
  SELECT lot_id AS "lotId", subject_ref AS "subjectRef", from_lot_id AS "fromLotId", debit_id AS "debitId"
    FROM returned WHERE debit_id IS NOT NULL ORDER BY lot_id, from_lot_id`;

/** What debits took from lots that had ended when it came back. */
const LATE = `
  SELECT debit.transaction_id AS "debitId", debit.lot_id AS "lotId", -debit.points::float8 AS points
    FROM unnest($2::uuid[], $3::uuid[]) AS given (debit_id, reversal_id)
    JOIN lines debit ON debit.organization_id = $1 AND debit.transaction_id = given.debit_id
   WHERE NOT EXISTS (
     SELECT FROM lines back
      WHERE back.organization_id = $1 AND back.transaction_id = given.reversal_id AND back.lot_id = debit.lot_id)
   ORDER BY debit.transaction_id, debit.lot_id`;

interface LatePoints {
  readonly debitId: string;
  readonly lotId: string;
  readonly points: number;
}

/** The lots in which points of a credit came back after its own had ended, and those of them, and so on. */
export function returnedLots(
  tx: Transaction,
  credit: { id: string; subjectRef: string; points: number; expiresAt: Date | null },
): Promise<ReturnedLot[]> {
  if (credit.points < 0 || credit.expiresAt === null) return Promise.resolve([]);
  return tx.query<ReturnedLot>(RETURNED, [tx.organizationId, credit.id, credit.subjectRef]);
}

/**
 * What expired of a credit: what was left of its lot at the end, and its part of what expired of the lots in which
 * points of it came back. Of such a lot the points of the last of the ended lots expire first, so that what expired
 * counts once, for one credit.
 */
export async function expiredOfCredit(
  tx: Transaction,
  creditId: string,
  returned: readonly ReturnedLot[],
): Promise<number> {
  const expired = await expirations(tx, [creditId, ...new Set(returned.map(({ lotId }) => lotId))]);
  if (returned.length === 0) return expired.get(creditId) ?? 0;
  const debits = new Map(returned.map(({ debitId, lotId }) => [debitId, lotId]));
  const late = Map.groupBy(
    await tx.query<LatePoints>(LATE, [
      tx.organizationId,
      uuids([...debits.keys()]),
      uuids([...debits.values()]),
    ]),
    ({ debitId }) => debitId,
  );
  const from = Map.groupBy(returned, ({ fromLotId }) => fromLotId);
  const known = new Map<string, number>();
  const expiredOf = (lotId: string): number => {
    const before = known.get(lotId);
    if (before !== undefined) return before;
    const back = (from.get(lotId) ?? []).map((each) =>
      partOf(late.get(each.debitId) ?? [], lotId, expiredOf(each.lotId)),
    );
    const sum = back.reduce((total, points) => total + points, expired.get(lotId) ?? 0);
    known.set(lotId, sum);
    return sum;
  };
  return expiredOf(creditId);
}

/** The part of the last so many of these points that came from the lot. */
function partOf(late: readonly LatePoints[], lotId: string, last: number): number {
  let left = last;
  for (const each of late.toReversed()) {
    const part = Math.min(each.points, left);
    if (each.lotId === lotId) return part;
    left -= part;
  }
  return 0;
}
