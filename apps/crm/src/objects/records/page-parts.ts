import { pageUntilEnd, timeOfId, type Transaction } from '@customer-platform/database';
import type { ListQuery, Page, TextCollation } from '@customer-platform/http';
import type { KnownDefinition } from '../definitions/known-definition.js';
import type { RecordRow } from './record-row.js';

/** Bytes of the values of one page, beyond the first record. */
const MOST_BYTES = 4 * 1024 * 1024;
/**
 * So many rows are looked at for one page. Where filters let too few of them through, the page ends there, short or empty,
 * with a cursor from which the next goes on: two values that each half of a million records has, and none both, would have
 * half a million records fetched for it (ADR 351).
 */
const MOST_LOOKED_AT = 20_000;

/** The values of a statement's places; the organization and the definition are `$1` and `$2`. */
export class Places {
  readonly values: unknown[];

  constructor(organizationId: string, definitionId: string) {
    this.values = [organizationId, definitionId];
  }

  /** Adds a value; returns its place, cast to a type: `$3::uuid`. */
  add(value: unknown, type: string): string {
    return `$${String(this.values.push(value))}::${type}`;
  }
}

type Rows = (places: Places) => string;

/** Records in the order of a page, or the first or last of them; `rows` are those of an index, called `own`. */
export type Part = { readonly direction: 'asc' | 'desc' } & (
  | {
      readonly kind: 'ids';
      /** Of one value each, whose rows are in the order of ids; no record is in two. */
      readonly stretches: readonly Rows[];
      readonly after: string | undefined;
    }
  | {
      readonly kind: 'values';
      readonly rows: Rows;
      readonly type: string;
      /** The collation, of texts in the order of a language. */
      readonly collation?: TextCollation;
      /** Conditions over `own.key` that the index does not answer: of the rows that are looked at. */
      readonly among?: (places: Places) => string[];
      readonly after: readonly (string | null)[] | undefined;
    }
  | {
      readonly kind: 'fetched';
      readonly rows: Rows;
      readonly key: Rows;
      readonly type: string;
      readonly collation?: TextCollation | undefined;
      /** The key of what comes last in either direction. */
      readonly nulls?: string;
      readonly after: readonly (string | null)[] | undefined;
    }
  | {
      readonly kind: 'records';
      readonly column: string;
      readonly after: readonly (string | null)[] | undefined;
    }
);

/** What a page is made of. */
interface PagePlan {
  readonly parts: readonly Part[];
  /** Conditions over the record. */
  readonly probe: (places: Places) => string[];
  /** The version of the collation of its order, for the cursor. */
  readonly version: string | undefined;
}

interface KeyedRow extends RecordRow {
  readonly page_key: string;
}
type KeyOfRow = Pick<KeyedRow, 'id' | 'page_key'>;

const COLUMNS = 'record.id, record."values", record.created_at, record.updated_at, record.deleted_at';
/** The record of an index row, by its key: the order of the rows stays. */
const RECORD = (id: string, probes: readonly string[]): string => `
  CROSS JOIN LATERAL (
    SELECT ${COLUMNS} FROM object_records AS record
     WHERE ${['record.organization_id = $1', `record.id = ${id}`, ...probes].join(' AND ')} OFFSET 0) AS record`;

/** A statement over the rows of a part, in its order. */
interface Walk {
  /** The rows that are looked at, called `own` outside, with `id` and what they are in the order of. */
  readonly rows: string;
  readonly order: string;
  /** The first of the cursor's values, of a row and its record. */
  readonly key: string;
}

/** The rows of the parts, one after the other, as far as the page goes. */
export async function boundedPage(
  tx: Transaction,
  definition: KnownDefinition,
  query: ListQuery,
  { parts, probe, version }: PagePlan,
): Promise<Page<RecordRow>> {
  const rows: KeyedRow[] = [];
  for (const part of parts) {
    const left = query.limit + 1 - rows.length;
    if (left <= 0) break;
    const places = new Places(tx.organizationId, definition.id);
    if (part.kind === 'fetched') {
      const sql = fetched(part, places, probe(places), left);
      rows.push(...(await tx.query<KeyedRow>(sql, places.values)));
      continue;
    }
    const walk = walked(part, places, probe, left);
    const found = await pageUntilEnd<KeyedRow, Position>(tx, walk, places.values);
    rows.push(...found.rows);
    if (found.end) return toPage(rows, { query, version }, positionOf(found.end));
  }
  return toPage(rows, { query, version });
}

type Walked = Exclude<Part, { kind: 'fetched' }>;

/** Where a walk ended that has more before it; by ids these alone say where. */
interface Position {
  readonly id: string;
  readonly page_key: string | null;
}

function walked(
  part: Walked,
  places: Places,
  probe: PagePlan['probe'],
  limit: number,
): Parameters<typeof pageUntilEnd>[1] {
  const { rows, order, key } = walkOf(part, places);
  const among = part.kind === 'values' ? (part.among?.(places) ?? []) : [];
  const page = `SELECT ${COLUMNS}, ${key} AS page_key FROM (${rows} LIMIT ${String(MOST_LOOKED_AT)}) AS own
    ${RECORD('own.id', [...probe(places), ...among])} ORDER BY ${order} LIMIT ${String(limit)}`;
  const said = part.kind === 'ids' ? 'NULL' : key;
  const end = `SELECT own.id, ${said} AS page_key FROM (${rows} OFFSET ${String(MOST_LOOKED_AT - 1)} LIMIT 1) AS own`;
  return { page, limit, end };
}

/** Ids are in the order of creation, whose time they hold. */
function positionOf({ id, page_key: key }: Position): KeyOfRow {
  return { id, page_key: key ?? timeOfId(id).toISOString() };
}

function walkOf(part: Walked, places: Places): Walk {
  const way = part.direction.toUpperCase();
  const beyond = part.direction === 'asc' ? '>' : '<';
  switch (part.kind) {
    case 'ids': {
      const after =
        part.after === undefined ? '' : `AND own.record_id ${beyond} ${places.add(part.after, 'uuid')}`;
      const ordered = part.stretches.map(
        (rows) => `SELECT own.record_id AS id ${rows(places)} ${after} ORDER BY own.record_id ${way}`,
      );
      // Each only as far as the page may go, and all merged: as one they would be read whole and sorted.
      const several = ordered.map((each) => `(${each} LIMIT ${String(MOST_LOOKED_AT)})`).join(' UNION ALL ');
      const [only = ''] = ordered;
      return {
        rows: ordered.length === 1 ? only : `SELECT id FROM (${several}) AS own ORDER BY id ${way}`,
        order: `own.id ${way}`,
        key: timeText('record.created_at'),
      };
    }
    case 'values': {
      const value = collated('own.value', part.collation);
      const after = keyset(`${value}, own.record_id`, beyond, part.after, part.type, places);
      return {
        rows: `SELECT own.record_id AS id, own.value AS key ${part.rows(places)} ${after}
          ORDER BY ${value} ${way}, own.record_id ${way}`,
        order: `${collated('own.key', part.collation)} ${way}, own.id ${way}`,
        key: keyText('own.key', part.type),
      };
    }
    case 'records': {
      const column = `own.${part.column}`;
      const after = keyset(`${column}, own.id`, beyond, part.after, 'timestamptz', places);
      return {
        rows: `SELECT own.id, ${column} AS key FROM object_records AS own
          WHERE own.organization_id = $1 AND own.definition_id = $2 ${after}
          ORDER BY ${column} ${way}, own.id ${way}`,
        order: `own.key ${way}, own.id ${way}`,
        key: timeText('own.key'),
      };
    }
  }
}

/** Few enough to be sorted. */
function fetched(
  part: Extract<Part, { kind: 'fetched' }>,
  places: Places,
  probes: readonly string[],
  limit: number,
): string {
  const way = part.direction.toUpperCase();
  const beyond = part.direction === 'asc' ? '>' : '<';
  const last =
    part.nulls === undefined ? 'page.key IS NULL' : `page.key = ${places.add(part.nulls, part.type)}`;
  const key = collated('page.key', part.collation);
  const [value = null, id = null] = part.after ?? [];
  let after = '';
  if (part.after) {
    const isPast = value === part.nulls;
    const same = `(${key}, page.id) ${beyond} (${places.add(value, part.type)}, ${places.add(id, 'uuid')})`;
    after = isPast ? `WHERE ${last} AND ${same}` : `WHERE (${last} OR ${same})`;
  }
  return `SELECT page.*, ${keyText('page.key', part.type)} AS page_key FROM (
      SELECT ${COLUMNS}, ${part.key(places)} AS key FROM (SELECT own.record_id ${part.rows(places)} OFFSET 0) AS own
      ${RECORD('own.record_id', probes)}) AS page ${after}
    ORDER BY ${last}, ${key} ${way}, page.id ${way} LIMIT ${String(limit)}`;
}

function keyset(
  columns: string,
  beyond: string,
  after: readonly (string | null)[] | undefined,
  type: string,
  places: Places,
): string {
  if (!after) return '';
  return `AND (${columns}) ${beyond} (${places.add(after[0], type)}, ${places.add(after[1], 'uuid')})`;
}

/** A text as it is ordered and compared in the order of a language. */
export function collated(text: string, collation: TextCollation | undefined): string {
  return collation === undefined ? text : `(${text} COLLATE ${collation})`;
}

function timeText(column: string): string {
  return `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}

/** As text that casts back to the very same value, whatever the session's time zone. */
function keyText(column: string, type: string): string {
  if (type !== 'timestamptz') return `(${column})::text`;
  return `CASE WHEN isfinite(${column}) THEN ${timeText(column)} ELSE (${column})::text END`;
}

/** @param end where the walk ended, if it did before the page was full */
function toPage(
  rows: readonly KeyedRow[],
  { query, version }: { query: ListQuery; version: string | undefined },
  end?: KeyOfRow,
): Page<RecordRow> {
  let bytes = 0;
  const fitting = rows.slice(0, query.limit).filter((row, at) => {
    bytes += Buffer.byteLength(JSON.stringify(row.values));
    return at === 0 || bytes <= MOST_BYTES;
  });
  const last: KeyOfRow | undefined = fitting.length < rows.length ? fitting.at(-1) : end;
  const data = fitting.map(({ id, values, created_at, updated_at, deleted_at }) => ({
    ...{ id, values, created_at, updated_at, deleted_at },
  }));
  const next_cursor = last ? query.cursorFor([last.page_key, last.id], version) : null;
  return { data, page: { limit: query.limit, next_cursor } };
}
