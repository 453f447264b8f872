import type { ListQuery, Page } from '@customer-platform/http';
import type { Transaction } from '../transaction.js';
import { filterCondition } from './filter-conditions.js';
import { Parameters } from './parameters.js';
import { cursorText, keysetCondition, orderBy } from './keyset.js';

/** What {@link pageOf} adds to the select. */
export interface PageOptions<Row, Item> {
  /** Values of `$1…$n` in the select. */
  parameters?: readonly unknown[];
  /** From the row of the select to the item that is answered; the row itself unless given. */
  map?: (row: Row) => Item;
}

/**
 * One page of any select, by keyset: page 2,000 costs what page 2 costs when an index leads with the sort columns.
 * `select` has no ORDER BY and no LIMIT; the columns of filters and sorts are expressions over its output columns,
 * among which is `id`. Rows inserted or deleted during a walk never make another row come twice or be skipped.
 */
export async function pageOf<Row extends object, Item = Row>(
  tx: Transaction,
  select: string,
  query: ListQuery,
  options: PageOptions<Row, Item> = {},
): Promise<Page<Item>> {
  const parameters = new Parameters(options.parameters);
  const conditions = [
    ...query.filters.map((filter) => filterCondition(filter, parameters)),
    ...keysetCondition(query.sort, query.after, parameters),
    ...beforeCondition(query, parameters),
  ];
  const keys = query.sort.map((sort, at) => `${cursorText(sort)} AS page_key_${at}`);
  const where = conditions.length ? `WHERE ${conditions.join(' AND ')}` : '';
  const rows = await tx.query<Row>(
    `SELECT page_source.*, ${keys.join(', ')} FROM (${select}) AS page_source ${where}
     ORDER BY ${orderBy(query.sort)} LIMIT ${query.limit + 1}`,
    parameters.values,
  );
  return toPage(rows, query, options.map);
}

function toPage<Row extends object, Item>(
  rows: Row[],
  query: ListQuery,
  map: ((row: Row) => Item) | undefined,
): Page<Item> {
  const shown = rows.slice(0, query.limit);
  const last = rows.length > query.limit ? shown.at(-1) : undefined;
  const keysOf = (row: Row): (string | null)[] =>
    query.sort.map((_, at) => (row as Record<string, string | null>)[`page_key_${at}`] ?? null);
  const next_cursor = last ? query.cursorFor(keysOf(last)) : null;
  const data = shown.map((row) => {
    const item = withoutKeys(row, query.sort.length);
    return map ? map(item) : (item as unknown as Item);
  });
  return { data, page: { limit: query.limit, next_cursor } };
}

function withoutKeys<Row extends object>(row: Row, count: number): Row {
  const item = { ...row } as Record<string, unknown>;
  for (let at = 0; at < count; at += 1) delete item[`page_key_${at}`];
  return item as Row;
}

/** Contract §3: the rows strictly before the pair in (`occurred_at` descending, `id` descending). */
function beforeCondition(query: ListQuery, parameters: Parameters): string[] {
  if (!query.before) return [];
  const at = parameters.add(query.before.occurredAt, 'timestamptz');
  const id = parameters.add(query.before.id, 'uuid');
  return [`(${query.before.column}, id) < (${at}, ${id})`];
}
