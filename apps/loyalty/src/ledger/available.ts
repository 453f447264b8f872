import { type Transaction, uuids } from '@customer-platform/database';

const AVAILABLE = `
  SELECT s.contact_id, sum(b.points) AS points,
         sum(b.points) - sum(coalesce(ended.points, 0)) AS available
    FROM subjects s JOIN balances b USING (organization_id, subject_ref)
    LEFT JOIN LATERAL (
      SELECT sum(l.remaining) AS points FROM lot_balances l
       WHERE l.organization_id = s.organization_id AND l.subject_ref = s.subject_ref
         AND l.remaining > 0 AND l.expires_at <= $3) AS ended ON true
   WHERE s.organization_id = $1 AND s.contact_id = ANY($2::uuid[])
   GROUP BY s.contact_id`;

/** A contact's sums: `available` leaves out lots whose end has come but that no sweep has taken yet. */
interface Sums {
  points: number;
  available: number;
}

/** The sums of contacts at an instant; contacts without points are not in the answer. */
export async function sumsOf(
  tx: Transaction,
  contactIds: readonly string[],
  now: Date,
): Promise<Map<string, Sums>> {
  const rows = await tx.query<{ contact_id: string; points: string; available: string }>(AVAILABLE, [
    tx.organizationId,
    uuids([...new Set(contactIds)]),
    now,
  ]);
  return new Map(
    rows.map(({ contact_id: id, points, available }) => [
      id,
      { points: Number(points), available: Number(available) },
    ]),
  );
}
