import { newId, type Transaction } from '@customer-platform/database';

/** An earning to post; the subjects' locks are held. */
export interface Earning {
  subjectRef: string;
  points: number;
  ruleId: string;
  ruleVersion: number;
  ruleEventHash: Buffer;
  eventId: string;
  correlationId: string;
  occurredAt: string;
  expiresAt: Date | null;
}

/** A posted one, with the row's id. */
export interface Posted extends Earning {
  id: string;
}

const INSERT_TRANSACTIONS = `
  INSERT INTO transactions (organization_id, id, kind, points, subject_ref, rule_id, rule_version, rule_event_hash,
    actor_type, actor_id, expires_at, created_at)
  SELECT $1, id, 'earn', points, subject_ref, rule_id, rule_version, rule_event_hash, 'system', 'loyalty', expires_at, $9
    FROM unnest($2::uuid[], $3::bigint[], $4::uuid[], $5::uuid[], $6::int[], $7::bytea[], $8::timestamptz[])
      AS given (id, points, subject_ref, rule_id, rule_version, rule_event_hash, expires_at)
  ON CONFLICT (organization_id, rule_event_hash) WHERE rule_event_hash IS NOT NULL DO NOTHING
  RETURNING id`;

const INSERT_LINKS = `
  INSERT INTO links (organization_id, transaction_id, subject_ref, event_id, correlation_id, occurred_at)
  SELECT $1, * FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::timestamptz[])`;

const INSERT_LINES = `
  INSERT INTO lines (organization_id, transaction_id, lot_id, points, subject_ref)
  SELECT $1, * FROM unnest($2::uuid[], $3::uuid[], $4::bigint[], $5::uuid[])`;

const ADD_TO_LOTS = `
  INSERT INTO lot_balances (organization_id, subject_ref, lot_id, remaining, expires_at, created_at)
  SELECT $1, subject_ref, lot_id, points, expires_at, $6
    FROM unnest($2::uuid[], $3::uuid[], $4::bigint[], $5::timestamptz[]) AS given (subject_ref, lot_id, points, expires_at)
  ON CONFLICT (organization_id, subject_ref, lot_id)
    DO UPDATE SET remaining = lot_balances.remaining + excluded.remaining`;

const ADD_TO_BALANCES = `
  UPDATE balances SET points = balances.points + given.points
    FROM (SELECT subject_ref, sum(points) AS points
            FROM unnest($2::uuid[], $3::bigint[]) AS given (subject_ref, points) GROUP BY subject_ref) AS given
   WHERE balances.organization_id = $1 AND balances.subject_ref = given.subject_ref`;

const DEBTS = `
  SELECT subject_ref, lot_id, remaining FROM lot_balances
   WHERE organization_id = $1 AND subject_ref = ANY($2::uuid[]) AND remaining < 0
   ORDER BY created_at, lot_id`;

/**
 * Posts earnings in few statements; one whose (rule, event) has earned before is left out. Points first fill what the
 * subject owes (a lot below zero after a reversal), the rest opens a lot of its own.
 */
export async function postEarned(
  tx: Transaction,
  earnings: readonly Earning[],
  now: Date,
): Promise<Posted[]> {
  const given = earnings.map((earning): Posted => ({ ...earning, id: newId() }));
  const inserted = await tx.query<{ id: string }>(INSERT_TRANSACTIONS, [
    tx.organizationId,
    given.map(({ id }) => id),
    given.map(({ points }) => points),
    given.map(({ subjectRef }) => subjectRef),
    given.map(({ ruleId }) => ruleId),
    given.map(({ ruleVersion }) => ruleVersion),
    given.map(({ ruleEventHash }) => ruleEventHash),
    given.map(({ expiresAt }) => expiresAt),
    now,
  ]);
  const ids = new Set(inserted.map(({ id }) => id));
  const posted = given.filter(({ id }) => ids.has(id));
  if (posted.length === 0) return [];
  await tx.query(INSERT_LINKS, [
    tx.organizationId,
    posted.map(({ id }) => id),
    posted.map(({ subjectRef }) => subjectRef),
    posted.map(({ eventId }) => eventId),
    posted.map(({ correlationId }) => correlationId),
    posted.map(({ occurredAt }) => occurredAt),
  ]);
  await writeLines(tx, linesOf(posted, await debtsOf(tx, posted)), now);
  await tx.query(ADD_TO_BALANCES, [
    tx.organizationId,
    posted.map(({ subjectRef }) => subjectRef),
    posted.map(({ points }) => points),
  ]);
  return posted;
}

interface Line {
  transactionId: string;
  lotId: string;
  points: number;
  subjectRef: string;
  expiresAt: Date | null;
}

interface Debt {
  lotId: string;
  owed: number;
}

async function debtsOf(tx: Transaction, posted: readonly Posted[]): Promise<Map<string, Debt[]>> {
  const refs = [...new Set(posted.map(({ subjectRef }) => subjectRef))];
  const rows = await tx.query<{ subject_ref: string; lot_id: string; remaining: string }>(DEBTS, [
    tx.organizationId,
    refs,
  ]);
  const debts = new Map<string, Debt[]>();
  for (const { subject_ref: ref, lot_id: lotId, remaining } of rows) {
    debts.set(ref, [...(debts.get(ref) ?? []), { lotId, owed: -Number(remaining) }]);
  }
  return debts;
}

/** One line per lot that an earning touches: debts oldest first, then the lot it opens, also where nothing is left for it. */
function linesOf(posted: readonly Posted[], debts: Map<string, Debt[]>): Line[] {
  return posted.flatMap(({ id, subjectRef, points, expiresAt }) => {
    const lines: Line[] = [];
    let left = points;
    for (const debt of debts.get(subjectRef) ?? []) {
      const paid = Math.min(debt.owed, left);
      if (paid === 0) continue;
      debt.owed -= paid;
      left -= paid;
      lines.push({ transactionId: id, lotId: debt.lotId, points: paid, subjectRef, expiresAt: null });
    }
    if (left > 0) lines.push({ transactionId: id, lotId: id, points: left, subjectRef, expiresAt });
    return lines;
  });
}

async function writeLines(tx: Transaction, lines: readonly Line[], now: Date): Promise<void> {
  await tx.query(INSERT_LINES, [
    tx.organizationId,
    lines.map(({ transactionId }) => transactionId),
    lines.map(({ lotId }) => lotId),
    lines.map(({ points }) => points),
    lines.map(({ subjectRef }) => subjectRef),
  ]);
  // Several lines may touch one lot; an upsert may not touch a row twice.
  const lots = new Map<string, Line>();
  for (const line of lines) {
    const before = lots.get(line.lotId);
    lots.set(line.lotId, before === undefined ? line : { ...line, points: before.points + line.points });
  }
  const touched = [...lots.values()];
  await tx.query(ADD_TO_LOTS, [
    tx.organizationId,
    touched.map(({ subjectRef }) => subjectRef),
    touched.map(({ lotId }) => lotId),
    touched.map(({ points }) => points),
    touched.map(({ expiresAt }) => expiresAt),
    now,
  ]);
}
