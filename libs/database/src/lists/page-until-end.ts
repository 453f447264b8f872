import type { Transaction } from '../transaction.js';

/** A page of rows that are looked at up to a bound, and where that is. */
interface BoundedPage {
  /** The rows of the page, in their order. */
  readonly page: string;
  /** As many rows make the page full. */
  readonly limit: number;
  /** The last row that is looked at, if there are so many. */
  readonly end: string;
}

/**
 * Reads a page, and where it is not full the end of what was looked at, of one state of the database: of two, a row that
 * was committed in between would be neither on this page nor behind its end.
 */
export async function pageUntilEnd<Row extends object, End extends object>(
  tx: Transaction,
  { page, limit, end }: BoundedPage,
  values: readonly unknown[],
): Promise<{ rows: Row[]; end: End | undefined }> {
  const found = await tx.query<Row & { page_place: string | null; page_end: End | null }>(
    `WITH page AS MATERIALIZED (SELECT found.*, row_number() OVER () AS page_place FROM (${page}) AS found)
     SELECT page.*, ended.page_end FROM (SELECT) AS one
       LEFT JOIN page ON true
       LEFT JOIN (SELECT to_jsonb(last) AS page_end FROM (${end}) AS last
                   WHERE (SELECT count(*) FROM page) < ${String(limit)}) AS ended ON true
      ORDER BY page.page_place`,
    values,
  );
  const rows = found.flatMap(({ page_place: place, page_end: _, ...row }) =>
    place === null ? [] : [row as unknown as Row],
  );
  return { rows, end: found[0]?.page_end ?? undefined };
}
