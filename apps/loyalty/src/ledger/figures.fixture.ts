import type { TestApp, TestDatabase } from '@customer-platform/testing';
import type { BalanceDto, TransactionDto } from './transaction.dto.js';

const OWN = '($1::uuid IS NULL OR organization_id = $1)';

/** Whose row it is, or was. */
const NOBODYS = `
  NOT EXISTS (SELECT FROM subjects s WHERE (s.organization_id, s.subject_ref) = (t.organization_id, t.subject_ref))
  AND NOT EXISTS (SELECT FROM tombstones s WHERE (s.organization_id, s.subject_ref) = (t.organization_id, t.subject_ref))`;

/** What of a ref there was when it was erased: its lots still expire. */
const ERASED = `
  FROM transactions t WHERE (t.organization_id, t.subject_ref) = (tomb.organization_id, tomb.subject_ref)
   AND NOT (t.kind = 'expire' AND t.created_at >= tomb.erased_at)`;

const WRONG = `
  SELECT 'balance' AS what, subject_ref AS id FROM balances b WHERE ${OWN}
     AND points <> (SELECT coalesce(sum(points), 0) FROM lines l
       WHERE (l.organization_id, l.subject_ref) = (b.organization_id, b.subject_ref))
  UNION ALL SELECT 'transaction', id FROM transactions t WHERE ${OWN}
     AND points <> (SELECT coalesce(sum(points), 0) FROM lines l
       WHERE (l.organization_id, l.transaction_id) = (t.organization_id, t.id))
  UNION ALL SELECT 'lot', lot_id FROM lot_balances b WHERE ${OWN}
     AND remaining <> (SELECT sum(points) FROM lines l
       WHERE (l.organization_id, l.subject_ref, l.lot_id) = (b.organization_id, b.subject_ref, b.lot_id))
  UNION ALL SELECT 'lot without a sum', lot_id FROM lines l WHERE ${OWN}
     AND NOT EXISTS (SELECT FROM lot_balances b
       WHERE (l.organization_id, l.subject_ref, l.lot_id) = (b.organization_id, b.subject_ref, b.lot_id))
  UNION ALL SELECT 'debt of no reversal', lot_id FROM lot_balances b WHERE ${OWN} AND remaining < 0
     AND NOT EXISTS (SELECT FROM transactions t
       WHERE (t.organization_id, t.reverses_id) = (b.organization_id, b.lot_id))
  UNION ALL SELECT 'points in an expired lot', lot_id FROM lot_balances b WHERE ${OWN} AND remaining > 0
     AND EXISTS (SELECT FROM transactions t
       WHERE (t.organization_id, t.expired_lot_id) = (b.organization_id, b.lot_id))
  UNION ALL SELECT 'lot of two subjects', lot_id FROM lines l WHERE ${OWN}
    GROUP BY organization_id, lot_id HAVING count(DISTINCT subject_ref) > 1
  UNION ALL SELECT 'reversed beyond its points', o.id FROM transactions t
    JOIN transactions o ON (o.organization_id, o.id) = (t.organization_id, t.reverses_id)
   WHERE ($1::uuid IS NULL OR t.organization_id = $1) AND (abs(t.points) > abs(o.points) OR sign(t.points) = sign(o.points))
  UNION ALL SELECT 'earned points', coalesce(kept.rule_id, given.rule_id)
    FROM (SELECT * FROM earned_points WHERE ${OWN}) AS kept
    FULL JOIN (
      SELECT t.organization_id, t.rule_id, t.subject_ref, sum(t.points + coalesce(r.points, 0)) AS points
        FROM transactions t
        LEFT JOIN transactions r ON (r.organization_id, r.reverses_id) = (t.organization_id, t.id)
       WHERE t.kind = 'earn' AND ($1::uuid IS NULL OR t.organization_id = $1)
       GROUP BY t.organization_id, t.rule_id, t.subject_ref) AS given USING (organization_id, rule_id, subject_ref)
   WHERE kept.points IS DISTINCT FROM given.points
  UNION ALL SELECT 'row of nobody', id FROM transactions t WHERE ${OWN} AND ${NOBODYS}
  UNION ALL SELECT 'link of another', transaction_id FROM links l WHERE ${OWN}
     AND NOT EXISTS (SELECT FROM transactions t
       JOIN subjects s ON (s.organization_id, s.subject_ref) = (t.organization_id, t.subject_ref)
      WHERE (t.organization_id, t.id, t.subject_ref) = (l.organization_id, l.transaction_id, l.subject_ref))
  UNION ALL SELECT 'row without a link', id FROM transactions t WHERE ${OWN}
     AND EXISTS (SELECT FROM subjects s
       WHERE (s.organization_id, s.subject_ref) = (t.organization_id, t.subject_ref))
     AND NOT EXISTS (SELECT FROM links l WHERE (l.organization_id, l.transaction_id) = (t.organization_id, t.id))
  UNION ALL SELECT 'list of erased rows', id FROM transactions t WHERE ${OWN}
     AND EXISTS (SELECT FROM tombstones s WHERE (s.organization_id, s.subject_ref) = (t.organization_id, t.subject_ref))
      <> EXISTS (SELECT FROM tombstone_rows r
       WHERE (r.organization_id, r.created_at, r.transaction_id) = (t.organization_id, t.created_at, t.id))
  UNION ALL SELECT 'tombstone', subject_ref FROM tombstones tomb WHERE ${OWN}
     AND transactions <> (SELECT count(*) ${ERASED})
  UNION ALL SELECT 'receipts beyond the tombstones', organization_id FROM erasure_receipts WHERE ${OWN}
    GROUP BY organization_id HAVING sum((counts ->> 'transactions')::bigint) >
      (SELECT coalesce(sum(transactions), 0) FROM tombstones tomb
        WHERE tomb.organization_id = erasure_receipts.organization_id)`;

/**
 * What in the ledger of an organization, or of all of the database, does not add up: balances, transactions and lots
 * that are not the sum of their lines, lots below zero that no reversal explains, points where none can be, rows of
 * erased contacts that no tombstone counts. Always empty.
 */
export function wrongFigures(database: TestDatabase, organizationId?: string): Promise<unknown[]> {
  return database.query(WRONG, [organizationId ?? null]);
}

/** So many contacts of a database are asked for. */
const CONTACTS_SHOWN = 20;
const CONTACTS = `
  SELECT s.organization_id AS "organizationId", s.contact_id AS "contactId", sum(b.points)::float8 AS points,
         array_agg(s.subject_ref) AS refs
    FROM subjects s JOIN balances b USING (organization_id, subject_ref)
    JOIN contact_refs c ON c.organization_id = s.organization_id AND c.id = s.contact_id AND c.state IN ('active', 'deleted')
   GROUP BY s.organization_id, s.contact_id ORDER BY max(abs(b.points)) DESC, s.contact_id LIMIT ${String(CONTACTS_SHOWN)}`;
const POSTED = `
  SELECT id FROM transactions WHERE organization_id = $1 AND subject_ref = ANY($2::uuid[])
   ORDER BY created_at DESC, id DESC LIMIT 200`;

/**
 * The same through the API: a contact's balance is its ledger's, what it can spend and what will expire are within it,
 * and the list of its transactions holds the same rows by creation as in the order in which crm's timeline asks for it.
 * Answers what differs. Members are shown no points by any other route.
 */
export async function wrongAnswers(app: TestApp, database: TestDatabase): Promise<unknown[]> {
  const wrong: unknown[] = [];
  const shown = await database.query<{
    organizationId: string;
    contactId: string;
    points: number;
    refs: string[];
  }>(CONTACTS);
  for (const { organizationId, contactId, points, refs } of shown) {
    const caller = app.as(organizationId, ['loyalty.transactions.read', 'loyalty.balances.read']);
    const list = async (sort: string) => {
      const path = `/v1/loyalty/transactions?contact_id=${contactId}&limit=200&sort=${sort}`;
      return (await caller.get<{ data?: TransactionDto[] }>(path)).body.data ?? [];
    };
    const { body: balance } = await caller.get<BalanceDto>(`/v1/loyalty/contacts/${contactId}/balance`);
    const ending = (balance.expiring ?? []).reduce((sum, lot) => sum + lot.points, 0);
    const held = await database.query<{ positive: number }>(
      `SELECT coalesce(sum(remaining) FILTER (WHERE remaining > 0), 0)::float8 AS positive FROM lot_balances
        WHERE organization_id = $1 AND subject_ref = ANY($2::uuid[])`,
      [organizationId, refs],
    );
    if (balance.points !== points || balance.available > points || ending > (held[0]?.positive ?? 0))
      wrong.push({ contactId, points, balance });
    const rows = (await database.query<{ id: string }>(POSTED, [organizationId, refs])).map(({ id }) => id);
    const byCreation = await list('-created_at');
    const timeline = await list('-occurred_at');
    const ids = (list: TransactionDto[]) => list.map(({ id }) => id).sort();
    const whole = (list: TransactionDto[]) => list.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const differ = (a: unknown, b: unknown) => JSON.stringify(a) !== JSON.stringify(b);
    if (
      differ(ids(byCreation), rows.toSorted()) ||
      (rows.length < 200 && differ(whole(timeline), whole(byCreation)))
    )
      wrong.push({ contactId, rows, byCreation: ids(byCreation), timeline: ids(timeline) });
    const sum = (row: TransactionDto) => row.lines.reduce((total, line) => total + line.points, 0);
    const isWhole = (row: TransactionDto) => row.lines.length === row.line_count;
    wrong.push(
      ...byCreation.filter(
        (row) => row.contact_id !== contactId || (isWhole(row) && sum(row) !== row.points),
      ),
    );
  }
  return wrong;
}
