import type { ListFilter, ListQuery, ListSort, Page, TextCollation } from '@customer-platform/http';
import { checkedCollationVersion, type Transaction } from '@customer-platform/database';
import { Problem } from '@customer-platform/problem-json';
import type { ObjectField } from '../../fields/field.js';
import type { FieldIndex, KnownDefinition } from '../definitions/known-definition.js';
import { readTally } from '../definitions/tallies.js';
import { INDEX_TABLES, INDEX_TYPES, indexed, indexedSql, kindOf, NOTHING } from './index-values.js';
import { boundsByLanguage } from './language-bounds.js';
import { keyOf } from './object-records.list.js';
import { boundedPage, Places, type Part } from './page-parts.js';
import type { RecordRow } from './record-row.js';

/** So many index rows are sorted by their ids without looking at the records; more are gone through in the asked order. */
const MOST_SORTED_BY_ID = 20_000;
/** So many records are fetched and sorted by another order than the index has. */
const MOST_FETCHED = 5_000;
/**
 * Among fewer records less of them is read whole: to go through the order for a page of 50 takes the fewer steps the more
 * of all records a filter lets through. At these multiples of a root of all records both take the same (ADR 181).
 */
const SORTED_BY_ROOT = 13;
const FETCHED_BY_ROOT = 3;
/** The rows of so many values are merged: of a contact, and of those whose records follow a merge. */
const MOST_STRETCHES = 10;

/** An indexed field, and where its values stand. */
interface Indexed {
  readonly field: ObjectField;
  readonly index: FieldIndex;
}

/** What is asked of one field: of a range both ends together say how many rows it has. */
interface Asked extends Indexed {
  readonly filters: readonly ListFilter[];
}

/** Ways of the planner that lose the order of an index, or read more than the page goes. */
const DETOURS = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'enable_bitmapscan', 'jit'];

const RANGE_OPS: Readonly<Record<string, string>> = { gt: '>', gte: '>=', lt: '<', lte: '<=' };

/** The order of a page: by creation, by change, or by the values of a field. */
interface Order {
  readonly sort: ListSort;
  readonly by?: Indexed;
}

/**
 * Pages of a definition's records. Every page is read along an index that has the asked order or a filter's rows, and
 * only as far as it goes; which one is decided by looking at how many rows a filter has, never by estimates.
 * @throws Problem `index_building`, `invalid_sort`, `cursor_mismatch`
 */
export async function pageOfRecords(
  tx: Transaction,
  definition: KnownDefinition,
  query: ListQuery,
): Promise<Page<RecordRow>> {
  const asked = askedOf(definition, query);
  const order = orderOf(definition, query);
  await tx.query(`SELECT set_config(name, 'off', true) FROM unnest($1::text[]) AS name`, [DETOURS]);
  // What is asked of the field that the page is sorted by narrows the walk along its index.
  const walked = asked.find(({ index }) => index.key === order.by?.index.key);
  const others = asked.filter((each) => each !== walked);
  // In the order of a language these rows do not stand together: they are sorted if they are few.
  const driving = order.sort.collation && walked && namesValues(walked) ? asked : others;
  const version = await checkedCollationVersion(tx, query);
  const driver = await driverOf(tx, definition, { order, asked: driving, query });
  const parts = driver
    ? [partOfFilter(driver, order, query)]
    : order.by
      ? partsOfValues(order.sort, { ...order.by, filters: walked?.filters ?? [] }, query)
      : [partOfRecords(order, query)];
  const probed = driver ? asked.filter((each) => each !== driver) : others;
  return boundedPage(tx, definition, query, {
    ...{ parts, version },
    probe: (places) => probesOf(probed, query, places),
  });
}

function askedOf(definition: KnownDefinition, { filters }: ListQuery): Asked[] {
  const byKey = Map.groupBy(filters, ({ field }) => keyOf(field));
  return [...byKey].flatMap(([key, own]) =>
    key === undefined ? [] : [{ ...readyIndex(definition, key), filters: own }],
  );
}

function orderOf(definition: KnownDefinition, { sort }: ListQuery): Order {
  // The tie-breaker is the last one.
  const [first, second, third] = sort;
  if (!first || third || (second && second.field !== 'id')) {
    const detail = 'Records are sorted by one field.';
    throw Problem.validation([{ parameter: 'sort', code: 'invalid_sort', detail }]);
  }
  const key = keyOf(first.field);
  return key === undefined ? { sort: first } : { sort: first, by: readyIndex(definition, key) };
}

function readyIndex(definition: KnownDefinition, key: string): Indexed {
  const field = definition.fields.find((each) => each.key === key);
  const index = definition.indexes.find((each) => each.key === key);
  if (!field || !index) throw new Error('A list takes a field that is not indexed');
  if (index.state === 'ready') return { field, index };
  throw new Problem('index_building', { members: { field: key } });
}

/**
 * The field along whose rows the page is read, if that is better than the order's own index. The rows of one value are
 * in the order of ids, which is that of creation: nothing is to be sorted.
 */
async function driverOf(
  tx: Transaction,
  definition: KnownDefinition,
  { order, asked, query }: { order: Order; asked: readonly Asked[]; query: ListQuery },
): Promise<Asked | undefined> {
  const byCreation = order.sort.field === 'created_at';
  if (asked.length === 0) return undefined;
  const root = Math.sqrt((await readTally(tx, definition.id)).records);
  const most = byCreation
    ? Math.min(MOST_SORTED_BY_ID, Math.ceil(SORTED_BY_ROOT * root))
    : Math.min(MOST_FETCHED, Math.ceil(FETCHED_BY_ROOT * root));
  let best: { each: Asked; count: number } | undefined;
  for (const each of asked) {
    const count = await countUpTo(tx, definition, each, query, most + 1);
    const usable =
      count <= most || (byCreation && each.filters.some((filter) => stretchesOf(filter).length > 0));
    if (usable && (!best || count < best.count)) best = { each, count };
  }
  return best?.each;
}

async function countUpTo(
  tx: Transaction,
  definition: KnownDefinition,
  asked: Asked,
  query: ListQuery,
  most: number,
): Promise<number> {
  const places = new Places(tx.organizationId, definition.id);
  const rows = indexRows(asked, query, places);
  const [row] = await tx.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM (SELECT 1 ${rows} LIMIT ${String(most)}) AS counted`,
    places.values,
  );
  return row?.count ?? 0;
}

function namesValues({ filters }: Asked): boolean {
  return filters.some(({ op }) => op !== 'is_null');
}

/** A filter as those of its values each, if it names few. */
function stretchesOf(filter: ListFilter): ListFilter[] {
  const { op, value, values } = filter;
  if (op === 'eq' || (op === 'is_null' && value === true)) return [filter];
  if (op !== 'in' || values.length > MOST_STRETCHES) return [];
  return [...new Set(values)].map((each) => ({ ...filter, op: 'eq', value: each, values: [each] }));
}

/** The index rows that what is asked of a field lets through. */
function indexRows({ field, index, filters }: Asked, query: ListQuery, places: Places): string {
  const live = query.visibility === 'live' ? 'AND own.live' : '';
  const conditions = filters.map((filter) => `AND ${condition('own.value', field, filter, places)}`);
  return `FROM ${INDEX_TABLES[kindOf(field)]} AS own
    WHERE own.organization_id = $1 AND own.definition_id = $2 AND own.number = ${places.add(index.number, 'integer')}
      ${live} ${conditions.join(' ')}`;
}

/** One filter over an index value, or over what would be one. */
function condition(
  value: string,
  field: ObjectField,
  { op, value: given, values }: ListFilter,
  places: Places,
): string {
  const kind = kindOf(field);
  const type = INDEX_TYPES[kind];
  const nothing = (): string => places.add(NOTHING[kind], type);
  if (op === 'is_null') return `${value} ${given === true ? '=' : '<'} ${nothing()}`;
  // What stands for no value is no value that a filter could mean.
  const some = (): string => `${value} < ${nothing()}`;
  if (op === 'in')
    return `${some()} AND ${value} = ANY(${places.add(
      values.map((each) => indexed(field, each)),
      `${type}[]`,
    )})`;
  const place = places.add(indexed(field, given), type);
  if (op === 'eq') return `${some()} AND ${value} = ${place}`;
  if (op === 'prefix') return `${value} ^@ ${place}`;
  const range = `${value} ${RANGE_OPS[op] ?? '='} ${place}`;
  // What stands for no value is greater than all.
  return op === 'gt' || op === 'gte' ? `${range} AND ${some()}` : range;
}

/** Conditions that no index answers: over the record itself, which is fetched anyway. */
function probesOf(asked: readonly Asked[], query: ListQuery, places: Places): string[] {
  const times = query.filters
    .filter(({ field }) => field === 'created_at' || field === 'updated_at')
    .map(
      ({ field, op, value }) => `record.${field} ${RANGE_OPS[op] ?? '='} ${places.add(value, 'timestamptz')}`,
    );
  return [
    ...(query.visibility === 'live' ? ['record.deleted_at IS NULL'] : []),
    ...times,
    ...asked.flatMap(({ field, filters }) => {
      const value = indexedSql(field, 'record."values"', places.add(field.key, 'text'));
      return filters.map((filter) => condition(value, field, filter, places));
    }),
  ];
}

/** Rows of the driver's index, brought into the asked order. */
function partOfFilter(driver: Asked, { sort, by }: Order, query: ListQuery): Part {
  const { direction } = sort;
  const rows = (places: Places): string => indexRows(driver, query, places);
  // Both of the cursor's values say the same.
  if (sort.field === 'created_at')
    return {
      direction,
      kind: 'ids',
      stretches: stretchRows(driver, query),
      after: query.after?.[1] ?? undefined,
    };
  const own = { direction, rows };
  if (!by)
    return {
      ...own,
      kind: 'fetched',
      key: () => `record.${sort.field}`,
      type: 'timestamptz',
      after: query.after,
    };
  const kind = kindOf(by.field);
  return {
    ...own,
    kind: 'fetched',
    key: (places) => indexedSql(by.field, 'record."values"', places.add(by.field.key, 'text')),
    type: INDEX_TYPES[kind],
    nulls: NOTHING[kind],
    collation: sort.collation,
    after: query.after,
  };
}

/** By each value that one of the filters names, or all that the filters let through. */
function stretchRows(driver: Asked, query: ListQuery): ((places: Places) => string)[] {
  const by = driver.filters.find((filter) => stretchesOf(filter).length > 0);
  // One for each value as it is indexed: several may be spellings of it.
  const distinct = new Map(
    (by ? stretchesOf(by) : []).map((each) => [
      each.op === 'eq' ? String(indexed(driver.field, each.value)) : each.op,
      each,
    ]),
  );
  const stretches = by ? [...distinct.values()] : [undefined];
  return stretches.map((stretch) => {
    const filters = stretch ? driver.filters.map((each) => (each === by ? stretch : each)) : driver.filters;
    return (places) => indexRows({ ...driver, filters }, query, places);
  });
}

/** The records by the order of the list itself. */
function partOfRecords({ sort }: Order, query: ListQuery): Part {
  return { kind: 'records', direction: sort.direction, column: sort.field, after: query.after };
}

/** The records in the order of a field's values: those with one, then those without. */
function partsOfValues(sort: ListSort, by: Asked, query: ListQuery): Part[] {
  const kind = kindOf(by.field);
  const isPast = query.after?.[0] === NOTHING[kind];
  const part = (nothing: boolean): Part => ({
    kind: 'values',
    direction: sort.direction,
    type: INDEX_TYPES[kind],
    rows: (places) =>
      `${indexRows(by, query, places)}
        AND own.value ${nothing ? '=' : '<'} ${places.add(NOTHING[kind], INDEX_TYPES[kind])}`,
    after: isPast === nothing ? query.after : undefined,
  });
  if (isPast || by.filters.some(({ op, value }) => op === 'is_null' && value === true)) return [part(true)];
  return [sort.collation ? partByLanguage(sort, sort.collation, by, query) : part(false), part(true)];
}

/** The records with a text along the index of the language, which has no others. */
function partByLanguage(
  { direction }: ListSort,
  collation: TextCollation,
  by: Asked,
  { after, ...query }: ListQuery,
): Part {
  const { field, filters } = by;
  return {
    ...{ kind: 'values', direction, type: INDEX_TYPES.text, collation, after },
    rows: (places) =>
      [
        `${indexRows({ ...by, filters: [] }, query, places)} AND own.value < '${NOTHING.text}'`,
        ...boundsByLanguage(filters, { field, collation, begun: after && direction }, places),
      ].join(' AND '),
    among: (places) => filters.map((filter) => condition('own.key', field, filter, places)),
  };
}
