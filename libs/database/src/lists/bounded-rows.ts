import type { Transaction } from '../transaction.js';

/** The first rows of a statement. */
export interface FirstRows<Row> {
  readonly rows: Row[];
  /** Whether there are more, left out for their size. */
  readonly cut: boolean;
}

const MOST_BYTES = 4 * 1024 * 1024;
/** Read at once: so many may be read in vain. */
const BATCH = 8;

/** As many of the first rows as 4 MiB hold, as JSON, at least one; what comes after them is hardly read. */
export async function boundedRows<Row extends object>(
  tx: Transaction,
  sql: string,
  values: readonly unknown[],
): Promise<FirstRows<Row>> {
  await tx.query(`DECLARE page_rows NO SCROLL CURSOR FOR ${sql}`, values);
  const first = await fetchBounded<Row>(tx);
  await tx.query('CLOSE page_rows');
  return first;
}

async function fetchBounded<Row extends object>(tx: Transaction): Promise<FirstRows<Row>> {
  const rows: Row[] = [];
  let bytes = 0;
  let read: number;
  do {
    const batch = await tx.query<Row>(`FETCH ${String(BATCH)} FROM page_rows`);
    for (const row of batch) {
      bytes += Buffer.byteLength(JSON.stringify(row));
      if (bytes > MOST_BYTES && rows.length > 0) return { rows, cut: true };
      rows.push(row);
    }
    read = batch.length;
  } while (read === BATCH);
  return { rows, cut: false };
}
