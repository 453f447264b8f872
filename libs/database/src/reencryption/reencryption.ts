import { log } from '@customer-platform/http';
import type { Database } from '../database.js';
import type { Transaction } from '../transaction.js';
import type { SealedColumn, SealedRow } from './sealed-column.js';

/** Rows of one transaction: a few milliseconds, so that nobody waits for the rows it writes. */
const PIECE = 200;

/** What became of a column's rows. */
export interface ReencryptedColumn {
  readonly column: string;
  /** With something sealed. */
  rows: number;
  /** Sealed anew by the key that seals now. */
  reencrypted: number;
  /** Written by the service in between, which sealed them by its own first key: the next run looks at them again. */
  changed_meanwhile: number;
  /** Do not open by any key; left as they are. */
  unreadable: number;
}

/**
 * Seals a column anew by the key that seals now, in pieces of {@link PIECE} rows. A row is written only if it still is
 * as it was read, so the service may write beside it; what is sealed by that key already is not written, so a run that
 * was interrupted goes on by being started again.
 */
export async function reencrypt<Content>(
  database: Database,
  column: SealedColumn<Content>,
  piece = PIECE,
): Promise<ReencryptedColumn> {
  const counts: ReencryptedColumn = {
    column: `${column.table}.${column.column}`,
    rows: 0,
    reencrypted: 0,
    changed_meanwhile: 0,
    unreadable: 0,
  };
  const { organizations } = column;
  if (organizations === undefined) {
    await throughPieces((work) => database.acrossOrganizations(work), column, counts, piece);
    return counts;
  }
  const found = await database.acrossOrganizations((tx) =>
    tx.query<{ organization_id: string }>(organizations),
  );
  for (const { organization_id: organizationId } of found)
    await throughPieces((work) => database.inOrganization({ organizationId }, work), column, counts, piece);
  return counts;
}

type Transact = <T>(work: (tx: Pick<Transaction, 'query'>) => Promise<T>) => Promise<T>;

async function throughPieces<Content>(
  transact: Transact,
  column: SealedColumn<Content>,
  counts: ReencryptedColumn,
  piece: number,
): Promise<void> {
  let after: readonly string[] | undefined;
  do {
    const from = after;
    // Counted after the commit: a transaction that loses to another begins anew.
    const done = await transact((tx) => onePiece(tx, column, from, piece));
    for (const name of ['rows', 'reencrypted', 'changed_meanwhile', 'unreadable'] as const)
      counts[name] += done[name];
    after = done.last;
  } while (after !== undefined);
}

async function onePiece<Content>(
  tx: Pick<Transaction, 'query'>,
  column: SealedColumn<Content>,
  after: readonly string[] | undefined,
  piece: number,
) {
  const rows = await tx.query<SealedRow<Content>>(pageOf(column, after !== undefined), [
    piece,
    ...(after ?? []),
  ]);
  const done = { rows: rows.length, reencrypted: 0, changed_meanwhile: 0, unreadable: 0 };
  for (const row of rows) {
    const renewed = renewedOf(column, row);
    if (renewed === 'unreadable') done.unreadable += 1;
    else if (renewed !== undefined)
      done[(await write(tx, column, row, renewed)) ? 'reencrypted' : 'changed_meanwhile'] += 1;
  }
  const last = rows.length < piece ? undefined : rows.at(-1);
  return { ...done, last: last && column.key.map((name) => last[name] ?? '') };
}

function renewedOf<Content>(column: SealedColumn<Content>, row: SealedRow<Content>) {
  try {
    return column.renew(row);
  } catch (error) {
    const key = Object.fromEntries(column.key.map((name) => [name, row[name]]));
    log.error({ err: error, table: column.table, key }, 'A sealed text does not open');
    return 'unreadable' as const;
  }
}

function pageOf({ table, column, key, also = [] }: Omit<SealedColumn, 'renew'>, goesOn: boolean): string {
  const place = key.map((_, index) => `$${String(index + 2)}`).join(', ');
  return `SELECT ${[...key, ...also].map((name) => `${name}::text AS ${name}`).join(', ')}, ${column} AS content
    FROM ${table} WHERE ${column} IS NOT NULL ${goesOn ? `AND (${key.join(', ')}) > (${place})` : ''}
   ORDER BY ${key.map((name) => `${table}.${name}`).join(', ')} LIMIT $1`; // by its columns: the index has no texts
}

/** False if the row is no longer as it was read. */
async function write<Content>(
  tx: Pick<Transaction, 'query'>,
  { table, column, key, type }: SealedColumn<Content>,
  row: SealedRow<Content>,
  content: Content,
): Promise<boolean> {
  const own = key.map((name, index) => `${name} = $${String(index + 3)}`).join(' AND ');
  const encoded = [row.content, content].map((value) => (type === 'jsonb' ? JSON.stringify(value) : value));
  const written = await tx.query(
    `UPDATE ${table} SET ${column} = $2::${type} WHERE ${own} AND ${column} = $1::${type} RETURNING 1 AS one`,
    [...encoded, ...key.map((name) => row[name])],
  );
  return written.length > 0;
}
