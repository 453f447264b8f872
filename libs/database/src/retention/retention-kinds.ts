import type { Transaction } from '../transaction.js';

/** What has a period of an organization (`settings.retention`, identity.md §2). */
export type RetentionKind = 'events' | 'dead_letters' | 'sends' | 'webhook_deliveries';

/** Days, by `<kind>_days`; null or absent: kept. */
export type RetentionDays = { readonly [kind in `${RetentionKind}_days`]?: number | null };

/** Answer of `GET /internal/retention`: the organizations that say something, in the order of their ids. */
export interface RetentionPage {
  readonly organizations: readonly { readonly organization_id: string; readonly retention: RetentionDays }[];
  /** To be handed back as `after`; null on the last page. */
  readonly next: string | null;
}

/** One piece that is to be removed. */
interface Piece {
  /** What lies before it has had its time. */
  readonly before: Date;
  readonly now: Date;
  /** So many rows at most. */
  readonly most: number;
  /** Where the piece before it ended; undefined for the first of a pass. */
  readonly after: readonly string[] | undefined;
}

/** What became of a piece. */
export interface Removal {
  readonly removed: number;
  /** The latest time among what was removed, as its list shows it; null where nothing was. */
  readonly until: Date | null;
  /** Where the next piece begins; absent where nothing is left. */
  readonly next?: readonly string[];
}

/** A row of a statement that goes through a piece. */
export interface PieceRow {
  removed: number;
  until: Date | null;
  read: number;
  /** Of the last row that was read. */
  at: Date | null;
  id: string | null;
}

/** What a piece removed, of the row that it answered. @param most rows a piece may have: one that has fewer is the last */
export function removalOf(row: PieceRow | undefined, most: number): Removal {
  if (!row) return { removed: 0, until: null };
  const { removed, until, read, at, id } = row;
  return read < most || at === null || id === null
    ? { removed, until }
    : { removed, until, next: [at.toISOString(), id] };
}

/** How a module removes what has had its time, of the organization that the transaction is bound to. */
export interface RetainedKind {
  readonly kind: RetentionKind;
  remove(tx: Transaction, piece: Piece): Promise<Removal>;
  /** The time of the oldest that is still there, by which it is removed; null where there is nothing. */
  oldest(tx: Transaction): Promise<Date | null>;
}

/** What has been removed, as a list says it. */
interface RetentionGap {
  readonly reason: 'retention';
  /** Nothing after it was removed; of what lies at it or before it some is gone. */
  readonly until: Date;
}

const REMOVED_UNTIL = `
  SELECT removed_until AS until FROM retention_periods
   WHERE organization_id = $1 AND kind = $2 AND removed_until IS NOT NULL`;

/** What retention has removed of a kind; undefined where it has removed nothing. */
export async function gapOf(tx: Transaction, kind: RetentionKind): Promise<RetentionGap | undefined> {
  const [row] = await tx.query<{ until: Date }>(REMOVED_UNTIL, [tx.organizationId, kind]);
  return row && { reason: 'retention', until: row.until };
}
