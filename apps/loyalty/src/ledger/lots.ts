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

/** In the order in which debits take from them (loyalty.md §3), each ref's by the index. */
const SPENDABLE = `
  SELECT lot.* FROM unnest($2::uuid[]) AS given (subject_ref)
   CROSS JOIN LATERAL (
     SELECT ${COLUMNS}, created_at FROM lot_balances
      WHERE organization_id = $1 AND subject_ref = given.subject_ref AND remaining > 0
        AND (expires_at IS NULL OR expires_at > $3)
      ORDER BY expires_at, created_at, lot_id LIMIT $4) AS lot
   ORDER BY lot.expires_at NULLS LAST, lot.created_at, lot.lot_id LIMIT $4`;

/** So many lots are read at first; a debit that needs more reads eight times as many. */
const FIRST_LOTS = 64;
const MORE_LOTS = 8;

const DEBTS = `
  SELECT ${COLUMNS} FROM lot_balances
   WHERE organization_id = $1 AND subject_ref = ANY($2::uuid[]) AND remaining < 0
   ORDER BY created_at, lot_id`;

const EXPIRATIONS = `
  SELECT given.lot_id, expiry.points FROM unnest($2::uuid[]) AS given (lot_id)
   CROSS JOIN LATERAL (
     SELECT points FROM transactions
      WHERE organization_id = $1 AND expired_lot_id = given.lot_id OFFSET 0) AS expiry`;

const BY_ID = `
  SELECT ${COLUMNS} FROM lot_balances
   WHERE organization_id = $1 AND (subject_ref, lot_id) IN (SELECT * FROM unnest($2::uuid[], $3::uuid[]))`;

/**
 * The lots that a debit of so many points takes from, the first to be taken first, and perhaps some more; the subjects'
 * locks must be held.
 */
export async function spendableLots(
  tx: Transaction,
  refs: readonly string[],
  now: Date,
  points: number,
): Promise<Lot[]> {
  // Each turn reads more; the last one read all that are held. What overflows is more lots than a ledger has.
  for (let most = FIRST_LOTS; most <= Number.MAX_SAFE_INTEGER; most *= MORE_LOTS) {
    const rows = await tx.query<LotRow>(SPENDABLE, [tx.organizationId, uuids(refs), now, most]);
    const lots = rows.map(toLot);
    const held = lots.reduce((sum, { remaining }) => sum + remaining, 0);
    if (held >= points || lots.length < most) return lots;
  }
  throw new Error('A ledger holds more lots than can be counted');
}

/** What expired of lots at their end, by lot; of those that have not expired there is nothing in the answer. */
export async function expirations(tx: Transaction, lotIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await tx.query<{ lot_id: string; points: string }>(EXPIRATIONS, [
    tx.organizationId,
    uuids(lotIds),
  ]);
  return new Map(rows.map(({ lot_id: id, points }) => [id, -Number(points)]));
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

  /** @param paid what the same posting puts into them besides */
  constructor(lots: readonly Lot[], paid: readonly Line[] = []) {
    const paidInto = new Map(paid.map(({ lotId, points }) => [lotId, points]));
    this.owed = lots.map(({ lotId, subjectRef, remaining }) => ({
      lotId,
      subjectRef,
      points: -remaining - (paidInto.get(lotId) ?? 0),
    }));
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
