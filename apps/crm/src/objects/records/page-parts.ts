import type { Transaction } from '@customer-platform/database';
import type { ListQuery, Page } from '@customer-platform/http';
import type { KnownDefinition } from '../definitions/known-definition.js';
import type { RecordRow } from './record-row.js';

/** Bytes of the values of one page, beyond the first record. */
const MOST_BYTES = 4 * 1024 * 1024;

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
  | { readonly kind: 'ids'; readonly rows: Rows; readonly after: string | undefined }
  | {
      readonly kind: 'values';
      readonly rows: Rows;
      readonly type: string;
      readonly after: readonly (string | null)[] | undefined;
    }
  | {
      readonly kind: 'fetched';
      readonly rows: Rows;
      readonly key: Rows;
      readonly type: string;
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
}

interface KeyedRow extends RecordRow {
  readonly page_key: string;
}

const COLUMNS = 'record.id, record."values", record.created_at, record.updated_at, record.deleted_at';
/** The record of an index row, by its key: the order of the rows stays. */
const RECORD = (id: string, probes: readonly string[]): string => `
  CROSS JOIN LATERAL (
    SELECT ${COLUMNS} FROM object_records AS record
     WHERE ${['record.organization_id = $1', `record.id = ${id}`, ...probes].join(' AND ')} OFFSET 0) AS record`;

/** The rows of the parts, one after the other, as far as the page goes. */
export async function boundedPage(
  tx: Transaction,
  definition: KnownDefinition,
  query: ListQuery,
  { parts, probe }: PagePlan,
): Promise<Page<RecordRow>> {
  const rows: KeyedRow[] = [];
  for (const part of parts) {
    const left = query.limit + 1 - rows.length;
    if (left <= 0) break;
    const places = new Places(tx.organizationId, definition.id);
    const sql = statementOf(part, places, probe, left);
    rows.push(...(await tx.query<KeyedRow>(sql, places.values)));
  }
  return toPage(rows, query);
}

function statementOf(part: Part, places: Places, probe: PagePlan['probe'], limit: number): string {
  const way = part.direction.toUpperCase();
  const beyond = part.direction === 'asc' ? '>' : '<';
  const bound = `LIMIT ${String(limit)}`;
  switch (part.kind) {
    case 'ids': {
      const after =
        part.after === undefined ? '' : `AND own.record_id ${beyond} ${places.add(part.after, 'uuid')}`;
      const own = `SELECT own.record_id ${part.rows(places)} ${after} ORDER BY own.record_id ${way} OFFSET 0`;
      return `SELECT ${COLUMNS}, ${timeText('record.created_at')} AS page_key FROM (${own}) AS own
        ${RECORD('own.record_id', probe(places))} ORDER BY own.record_id ${way} ${bound}`;
    }
    case 'values': {
      const after = keyset('own.value, own.record_id', beyond, part.after, part.type, places);
      const own = `SELECT own.value, own.record_id ${part.rows(places)} ${after}
        ORDER BY own.value ${way}, own.record_id ${way} OFFSET 0`;
      return `SELECT ${COLUMNS}, ${keyText('own.value', part.type)} AS page_key FROM (${own}) AS own
        ${RECORD('own.record_id', probe(places))} ORDER BY own.value ${way}, own.record_id ${way} ${bound}`;
    }
    case 'fetched':
      return fetched(part, places, probe(places), bound);
    case 'records': {
      const after = keyset(`record.${part.column}, record.id`, beyond, part.after, 'timestamptz', places);
      const where = ['record.organization_id = $1', 'record.definition_id = $2', ...probe(places)].join(
        ' AND ',
      );
      return `SELECT ${COLUMNS}, ${timeText(`record.${part.column}`)} AS page_key FROM object_records AS record
        WHERE ${where} ${after} ORDER BY record.${part.column} ${way}, record.id ${way} ${bound}`;
    }
  }
}

/** Few enough to be sorted. */
function fetched(
  part: Extract<Part, { kind: 'fetched' }>,
  places: Places,
  probes: readonly string[],
  bound: string,
): string {
  const way = part.direction.toUpperCase();
  const beyond = part.direction === 'asc' ? '>' : '<';
  const last =
    part.nulls === undefined ? 'page.key IS NULL' : `page.key = ${places.add(part.nulls, part.type)}`;
  const [value = null, id = null] = part.after ?? [];
  let after = '';
  if (part.after) {
    const isPast = value === part.nulls;
    const same = `(page.key, page.id) ${beyond} (${places.add(value, part.type)}, ${places.add(id, 'uuid')})`;
    after = isPast ? `WHERE ${last} AND ${same}` : `WHERE (${last} OR ${same})`;
  }
  return `SELECT page.*, ${keyText('page.key', part.type)} AS page_key FROM (
      SELECT ${COLUMNS}, ${part.key(places)} AS key FROM (SELECT own.record_id ${part.rows(places)} OFFSET 0) AS own
      ${RECORD('own.record_id', probes)}) AS page ${after}
    ORDER BY ${last}, page.key ${way}, page.id ${way} ${bound}`;
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

function timeText(column: string): string {
  return `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}

/** As text that casts back to the very same value, whatever the session's time zone. */
function keyText(column: string, type: string): string {
  if (type !== 'timestamptz') return `(${column})::text`;
  return `CASE WHEN isfinite(${column}) THEN ${timeText(column)} ELSE (${column})::text END`;
}

function toPage(rows: readonly KeyedRow[], query: ListQuery): Page<RecordRow> {
  let bytes = 0;
  const fitting = rows.slice(0, query.limit).filter((row, at) => {
    bytes += Buffer.byteLength(JSON.stringify(row.values));
    return at === 0 || bytes <= MOST_BYTES;
  });
  const last = fitting.length < rows.length ? fitting.at(-1) : undefined;
  const data = fitting.map(({ id, values, created_at, updated_at, deleted_at }) => ({
    ...{ id, values, created_at, updated_at, deleted_at },
  }));
  const next_cursor = last ? query.cursorFor([last.page_key, last.id]) : null;
  return { data, page: { limit: query.limit, next_cursor } };
}
