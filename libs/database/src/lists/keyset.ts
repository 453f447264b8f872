import type { FilterType, ListQuery } from '@customer-platform/http';
import type { Parameters } from './parameters.js';

type Sort = ListQuery['sort'][number];

const CASTS: Record<FilterType, string> = {
  time: 'timestamptz',
  date: 'date',
  string: 'text',
  enum: 'text',
  uuid: 'uuid',
  integer: 'bigint',
  number: 'numeric',
  boolean: 'boolean',
};

/** The Postgres type that values of a filter or sort are cast to. */
export function castOf(type: FilterType): string {
  return CASTS[type];
}

/** `a DESC, b COLLATE text_es ASC, id ASC`; nulls come last unless the sort says first. */
export function orderBy(sort: ListQuery['sort']): string {
  return sort.map((key) => `${ordered(key)} ${key.direction.toUpperCase()}${nullsClause(key)}`).join(', ');
}

/** The value of a sort column as a cursor carries it: text that casts back to the very same value. */
export function cursorText(sort: Sort): string {
  // A cast of timestamptz to text would depend on the session's time zone.
  if (sort.type === 'time')
    return `to_char(${sort.column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
  return `(${sort.column})::text`;
}

/**
 * The rows after the cursor's. One row comparison when all keys run the same way and none can be null, which an
 * index answers by seeking; otherwise the first key bounds the scan and the rest decides ties.
 */
export function keysetCondition(
  sort: ListQuery['sort'],
  after: readonly (string | null)[] | undefined,
  parameters: Parameters,
): string[] {
  if (!after) return [];
  const uniform = sort.every((key) => key.direction === sort[0]?.direction && !key.nulls);
  if (uniform && after.every((value) => value !== null)) return [rowComparison(sort, after, parameters)];
  return [stepwise(sort, after, parameters)];
}

function rowComparison(
  sort: ListQuery['sort'],
  after: readonly (string | null)[],
  parameters: Parameters,
): string {
  const columns = sort.map((key) => ordered(key)).join(', ');
  const values = sort.map((key, at) => parameters.add(after[at], castOf(key.type))).join(', ');
  return `(${columns}) ${sort[0]?.direction === 'desc' ? '<' : '>'} (${values})`;
}

function stepwise(
  sort: ListQuery['sort'],
  after: readonly (string | null)[],
  parameters: Parameters,
): string {
  const [key, ...rest] = sort;
  if (!key) return 'false';
  const value = after[0] ?? null;
  const later = afterOne(key, value, parameters);
  if (rest.length === 0) return later;
  const same =
    value === null ? `${key.column} IS NULL` : `${ordered(key)} = ${parameters.add(value, castOf(key.type))}`;
  return `(${later} OR (${same} AND ${stepwise(rest, after.slice(1), parameters)}))`;
}

/** Strictly after one value of one key, nulls placed where the order puts them. */
function afterOne(key: Sort, value: string | null, parameters: Parameters): string {
  const nullsFirst = key.nulls === 'first';
  if (value === null) return nullsFirst ? `${key.column} IS NOT NULL` : 'false';
  const beyond = `${ordered(key)} ${key.direction === 'desc' ? '<' : '>'} ${parameters.add(value, castOf(key.type))}`;
  return key.nulls && !nullsFirst ? `(${beyond} OR ${key.column} IS NULL)` : beyond;
}

/** The expression by which a key is ordered and compared: of text that people read with its collation. */
function ordered({ column, collation }: Sort): string {
  return collation === undefined ? column : `(${column}) COLLATE ${collation}`;
}

function nullsClause(key: Sort): string {
  return key.nulls ? ` NULLS ${key.nulls.toUpperCase()}` : '';
}
