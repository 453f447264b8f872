import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { TestDatabase } from '../test-database.js';
import { SHARED_TENANT_TABLES } from './shared-tenant-tables.js';
import { columnsIn, type TenantTable, type TenantTables } from './tenant-table.js';

type Row = Readonly<Record<string, unknown>>;

/** Values that a row has to have; `there` for rows that are there already, by triggers or by the module's routes. */
export type Planting = Readonly<Record<string, Row | 'there'>>;

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  /** A row has a value in it without being given one. */
  readonly optional: boolean;
  readonly generated: boolean;
}

interface Person {
  readonly organizationId: string;
  readonly contactId: string;
  readonly tables: TenantTables;
  readonly rows: Planting;
}

const COLUMNS = `
  SELECT t.relname AS "table", a.attname AS name, format_type(a.atttypid, NULL) AS type,
         NOT a.attnotnull OR a.atthasdef OR a.attidentity <> '' AS optional, a.attgenerated <> '' AS generated
    FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
   WHERE t.relnamespace = 'public'::regnamespace AND t.relkind IN ('r', 'p') AND NOT t.relispartition
   ORDER BY t.relname, a.attnum`;

const VALUES: Readonly<Record<string, (name: string) => unknown>> = {
  bigint: () => 7,
  boolean: () => true,
  bytea: () => '\\xabcdef',
  date: () => '1990-02-03',
  'double precision': () => 7.5,
  integer: () => 7,
  json: (name) => ({ planted: name }),
  jsonb: (name) => ({ planted: name }),
  smallint: () => 7,
  text: (name) => `planted-${name}`,
  'text[]': (name) => [`planted-${name}`],
  'timestamp with time zone': () => '2026-02-03T04:05:06.789Z',
  'timestamp with time zone[]': () => ['2026-02-03T04:05:06.789Z'],
  uuid: () => randomUUID(),
  'uuid[]': () => [randomUUID()],
  'bytea[]': () => ['\\xabcdef'],
};

/**
 * A person of whom something stands in every column that an erasure has to clear: a row in each table that the lists name,
 * with a value in each column of theirs.
 */
export class PlantedRows {
  private constructor(
    private readonly database: Pick<TestDatabase, 'query'>,
    private readonly person: Person,
    private readonly planted: ReadonlyMap<string, readonly Row[]>,
  ) {}

  /**
   * Plants tables in the order of `rows`, then all others. Columns called `contact_id` and `origin_contact_id` get the
   * contact unless told otherwise.
   * @throws Error that names the columns in which nothing stands afterwards
   */
  static async of(database: Pick<TestDatabase, 'query'>, person: Person): Promise<PlantedRows> {
    const columns = Map.groupBy(await database.query<Column>(COLUMNS), ({ table }) => table);
    const erased = erasedTables(person, columns);
    const names = new Set([...Object.keys(person.rows), ...erased.keys()]);
    const planted = new Map<string, readonly Row[]>();
    for (const name of names) {
      const given = person.rows[name] ?? {};
      if (given === 'there') {
        planted.set(name, await rowsIn(database, name, person));
        continue;
      }
      const row = rowOf(columns.get(name) ?? [], { erased: erased.get(name) ?? [], given, person });
      const listed = Object.keys(row)
        .map((column) => `"${column}"`)
        .join(', ');
      const rows = await database.query<{ row: Row }>(
        `INSERT INTO ${name} AS t (${listed}) OVERRIDING SYSTEM VALUE
         SELECT ${listed} FROM jsonb_populate_record(NULL::${name}, $1::jsonb) RETURNING to_jsonb(t) AS row`,
        [JSON.stringify(row)],
      );
      planted.set(
        name,
        rows.map((each) => each.row),
      );
    }
    const missing = [...erased].flatMap(([name, own]) =>
      own
        .filter((column) => !planted.get(name)?.some((row) => row[column] !== null))
        .map((column) => `${name}.${column}`),
    );
    if (missing.length > 0) throw new Error(`Nothing was planted in ${missing.join(', ')}`);
    return new PlantedRows(database, person, planted);
  }

  /** The columns, as `table.column`, in which a planted value still stands. */
  async left(): Promise<string[]> {
    const left: string[] = [];
    for (const [name, before] of this.planted) {
      const after = await rowsIn(this.database, name, this.person);
      const { erased } = this.person.tables[name] ?? SHARED_TENANT_TABLES[name] ?? {};
      for (const column of columnsIn(erased)) {
        const values = before.map((row) => row[column]).filter((value) => value !== null);
        const stands = after.some((row) => values.some((value) => isDeepStrictEqual(row[column], value)));
        if (stands) left.push(`${name}.${column}`);
      }
    }
    return left;
  }
}

function erasedTables(
  { tables }: Person,
  columns: ReadonlyMap<string, readonly Column[]>,
): Map<string, string[]> {
  const all: readonly (readonly [string, TenantTable])[] = [
    ...Object.entries(tables),
    ...Object.entries(SHARED_TENANT_TABLES).filter(([name]) => columns.has(name)),
  ];
  return new Map(
    all
      .map(([name, { erased }]): [string, string[]] => [name, columnsIn(erased)])
      .filter(([, names]) => names.length > 0),
  );
}

function rowOf(
  columns: readonly Column[],
  { erased, given, person }: { erased: readonly string[]; given: Row; person: Person },
): Row {
  const own: Row = {
    organization_id: person.organizationId,
    contact_id: person.contactId,
    origin_contact_id: person.contactId,
    ...given,
  };
  return Object.fromEntries(
    columns
      .filter(({ generated }) => !generated)
      .filter(({ name, optional }) => name in given || erased.includes(name) || !optional)
      .map(({ name, type }) => [name, name in own ? own[name] : valueOf(name, type)]),
  );
}

/** @throws Error for a type that no table had before */
function valueOf(name: string, type: string): unknown {
  const value = VALUES[type];
  if (!value) throw new Error(`Nothing is known to plant in ${name}, which is ${type}`);
  return value(name);
}

async function rowsIn(
  database: Pick<TestDatabase, 'query'>,
  table: string,
  { organizationId }: Person,
): Promise<Row[]> {
  const rows = await database.query<{ row: Row }>(
    `SELECT to_jsonb(t) AS row FROM ${table} AS t WHERE organization_id = $1`,
    [organizationId],
  );
  return rows.map(({ row }) => row);
}
