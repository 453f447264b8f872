import { type Transaction, uuids } from '@customer-platform/database';

/** What is left of a credit; below zero it is owed. */
export interface Lot {
  readonly subjectRef: string;
  readonly lotId: string;
  readonly remaining: number;
  readonly expiresAt: Date | null;
}

/** What a transaction does to one lot. */
export interface Line {
  readonly lotId: string;
  /** The lot's own, also where the transaction is another ref's of the same contact. */
  readonly subjectRef: string;
  readonly points: number;
}

interface LotRow {
  subject_ref: string;
  lot_id: string;
  remaining: string;
  expires_at: Date | null;
}

const COLUMNS = 'subject_ref, lot_id, remaining, expires_at';

/** In the order in which debits take from them (loyalty.md §3). */
const SPENDABLE = `
  SELECT ${COLUMNS} FROM lot_balances
   WHERE organization_id = $1 AND subject_ref = ANY($2::uuid[]) AND remaining > 0
     AND (expires_at IS NULL OR expires_at > $3)
   ORDER BY expires_at NULLS LAST, created_at, lot_id`;

const DEBTS = `
  SELECT ${COLUMNS} FROM lot_balances
   WHERE organization_id = $1 AND subject_ref = ANY($2::uuid[]) AND remaining < 0
   ORDER BY created_at, lot_id`;

const BY_ID = `
  SELECT ${COLUMNS} FROM lot_balances
   WHERE organization_id = $1 AND (subject_ref, lot_id) IN (SELECT * FROM unnest($2::uuid[], $3::uuid[]))`;

/** Lots that a debit may take from, the first to be taken first; the subjects' locks must be held. */
export async function spendableLots(tx: Transaction, refs: readonly string[], now: Date): Promise<Lot[]> {
  return (await tx.query<LotRow>(SPENDABLE, [tx.organizationId, refs, now])).map(toLot);
}

/** Lots that credits fill first, oldest first; the subjects' locks must be held. */
export async function debtLots(tx: Transaction, refs: readonly string[]): Promise<Lot[]> {
  return (await tx.query<LotRow>(DEBTS, [tx.organizationId, uuids(refs)])).map(toLot);
}

/** The lots that lines touched. */
export async function lotsOf(
  tx: Transaction,
  lines: readonly Pick<Line, 'lotId' | 'subjectRef'>[],
): Promise<Lot[]> {
  const rows = await tx.query<LotRow>(BY_ID, [
    tx.organizationId,
    lines.map(({ subjectRef }) => subjectRef),
    lines.map(({ lotId }) => lotId),
  ]);
  return rows.map(toLot);
}

function toLot(row: LotRow): Lot {
  return {
    subjectRef: row.subject_ref,
    lotId: row.lot_id,
    remaining: Number(row.remaining),
    expiresAt: row.expires_at,
  };
}

/** Takes points from lots in their order, as far as they go. */
export function takeFrom(lots: readonly Lot[], points: number): { lines: Line[]; lacking: number } {
  let lacking = points;
  const lines: Line[] = [];
  for (const { lotId, subjectRef, remaining } of lots) {
    const taken = Math.min(remaining, lacking);
    if (taken <= 0) continue;
    lacking -= taken;
    lines.push({ lotId, subjectRef, points: -taken });
  }
  return { lines, lacking };
}

/** Debts that are paid one after another, by any number of credits. */
export class Debts {
  private readonly owed: { lotId: string; subjectRef: string; points: number }[];

  constructor(lots: readonly Lot[]) {
    this.owed = lots.map(({ lotId, subjectRef, remaining }) => ({ lotId, subjectRef, points: -remaining }));
  }

  /** Fills debts, oldest first; what is left of the points opens a lot. */
  pay(points: number): { lines: Line[]; left: number } {
    let left = points;
    const lines: Line[] = [];
    for (const debt of this.owed) {
      const paid = Math.min(debt.points, left);
      if (paid <= 0) continue;
      debt.points -= paid;
      left -= paid;
      lines.push({ lotId: debt.lotId, subjectRef: debt.subjectRef, points: paid });
    }
    return { lines, left };
  }
}

/** The lines of a credit: debts first, then the lot that it opens, which has its id. */
export function creditLines(id: string, subjectRef: string, points: number, debts: Debts): Line[] {
  const { lines, left } = debts.pay(points);
  return left > 0 ? [...lines, { lotId: id, subjectRef, points: left }] : lines;
}
