import type { ListQuery, Page } from '@customer-platform/http';
import type { Transaction } from '../transaction.js';
import { boundedRows, type FirstRows } from './bounded-rows.js';
import { filterCondition } from './filter-conditions.js';
import { Parameters } from './parameters.js';
import { checkedCollationVersion } from './collation-version.js';
import { pageUntilEnd } from './page-until-end.js';
import { cursorText, keysetCondition, orderBy } from './keyset.js';

/** What {@link pageOf} adds to the select. */
interface PageOptions<Row, Item> {
  /** Values of `$1…$n` in the select. */
  parameters?: readonly unknown[];
  /** From the row of the select to the item that is answered; the row itself unless given. */
  map?: (row: Row) => Item;
  /** For rows that may be large: the page ends early, with a cursor, at 4 MiB of them, and no more are read. */
  largeRows?: boolean;
  /** Where what is looked at for the page ends, if it does before the rows do: at most one row, with the columns of sorts. */
  end?: string;
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
  return readPage(tx, { branches: [select], parameters }, query, options);
}

/**
 * One page of the rows of several owners together, as {@link pageOf}. Each owner's rows come from its own stretch of
 * the index, and the stretches are merged only as far as the page goes: it reads a row of each owner beside those it
 * shows. (`owner = ANY (…)` reads and sorts all of them.)
 * @param select the rows of one owner, whose place (`$3::uuid`) it is given
 */
export async function pageOfOwners<Row extends object, Item = Row>(
  tx: Transaction,
  select: (owner: string) => string,
  owners: readonly string[],
  query: ListQuery,
  options: PageOptions<Row, Item> = {},
): Promise<Page<Item>> {
  if (owners.length === 0) return { data: [], page: { limit: query.limit, next_cursor: null } };
  const parameters = new Parameters(options.parameters);
  const branches = [...new Set(owners)].map((owner) => select(parameters.add(owner, 'uuid')));
  return readPage(tx, { branches, parameters }, query, options);
}

/**
 * One page of the rows of several selects together, as {@link pageOf}. All have the same output columns, by name and
 * type, and share no row. Each is read as far as the page goes: as one `UNION ALL` all of it would be read and sorted.
 */
export async function pageOfSelects<Row extends object, Item = Row>(
  tx: Transaction,
  selects: readonly string[],
  query: ListQuery,
  options: PageOptions<Row, Item> = {},
): Promise<Page<Item>> {
  const parameters = new Parameters(options.parameters);
  return readPage(tx, { branches: selects, parameters }, query, options);
}

/** Selects of rows that no two of them share, and the values of their places. */
interface Source {
  readonly branches: readonly string[];
  readonly parameters: Parameters;
}

async function readPage<Row extends object, Item>(
  tx: Transaction,
  { branches, parameters }: Source,
  query: ListQuery,
  { map, largeRows, end }: PageOptions<Row, Item>,
): Promise<Page<Item>> {
  const version = await checkedCollationVersion(tx, query);
  const conditions = [
    ...query.filters.map((filter) => filterCondition(filter, parameters)),
    ...keysetCondition(query.sort, query.after, parameters),
    ...beforeCondition(query, parameters),
  ];
  const where = conditions.length ? `WHERE ${conditions.join(' AND ')}` : '';
  const bounds = `ORDER BY ${orderBy(query.sort)} LIMIT ${query.limit + 1}`;
  const keys = query.sort.map((sort, at) => `${cursorText(sort)} AS page_key_${at}`);
  const columns = `SELECT page_source.*, ${keys.join(', ')}`;
  const [only] = branches;
  const sql =
    branches.length === 1
      ? `${columns} FROM (${only}) AS page_source ${where} ${bounds}`
      : `${columns} FROM (${branches.map((branch) => merged(branch, where, bounds)).join(' UNION ALL ')}) AS page_source
         ${bounds}`;
  if (end !== undefined) {
    const ended = `SELECT ${keys.join(', ')} FROM (${end}) AS page_source`;
    const bounded = { page: sql, limit: query.limit + 1, end: ended };
    const read = await pageUntilEnd<Row, Row>(tx, bounded, parameters.values);
    return toPage({ rows: read.rows, cut: false }, { query, version }, map, read.end);
  }
  const read: FirstRows<Row> = largeRows
    ? await boundedRows<Row>(tx, sql, parameters.values)
    : { rows: await tx.query<Row>(sql, parameters.values), cut: false };
  return toPage(read, { query, version }, map);
}

/** The first rows of one branch, in the order in which they are merged. */
function merged(branch: string, where: string, bounds: string): string {
  return `(SELECT page_source.* FROM (${branch}) AS page_source ${where} ${bounds})`;
}

function toPage<Row extends object, Item>(
  { rows, cut }: FirstRows<Row>,
  { query, version }: { query: ListQuery; version: string | undefined },
  map: ((row: Row) => Item) | undefined,
  end?: Row,
): Page<Item> {
  const shown = rows.slice(0, query.limit);
  const last = cut || rows.length > query.limit ? shown.at(-1) : end;
  const keysOf = (row: Row): (string | null)[] =>
    query.sort.map((_, at) => (row as Record<string, string | null>)[`page_key_${at}`] ?? null);
  const next_cursor = last ? query.cursorFor(keysOf(last), version) : null;
  const items = withoutKeys(shown);
  const data = map ? items.map(map) : (items as unknown as Item[]);
  return { data, page: { limit: query.limit, next_cursor } };
}

/** Copied, not deleted from: an object that a property was deleted from is slow to read ever after. */
function withoutKeys<Row extends object>(rows: readonly Row[]): Row[] {
  const names = Object.keys(rows[0] ?? {}).filter((name) => !name.startsWith('page_key_'));
  return rows.map((row) => {
    const item: Record<string, unknown> = {};
    for (const name of names) item[name] = (row as Record<string, unknown>)[name];
    return item as Row;
  });
}

/** Contract §3: the rows strictly before the pair in (`occurred_at` descending, `id` descending). */
function beforeCondition(query: ListQuery, parameters: Parameters): string[] {
  if (!query.before) return [];
  const at = parameters.add(query.before.occurredAt, 'timestamptz');
  const id = parameters.add(query.before.id, 'uuid');
  return [`(${query.before.column}, id) < (${at}, ${id})`];
}
