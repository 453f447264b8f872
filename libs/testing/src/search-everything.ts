/** What was looked for, and where it stands. */
interface Search {
  /** Rows that were looked at. */
  readonly rows: number;
  readonly tables: number;
  /** `table: text` of every row in which one of the texts was found. */
  readonly found: readonly string[];
}

/** A database, asked as superuser. */
interface Searched {
  query<Row>(sql: string, values?: unknown[]): Promise<Row[]>;
}

interface Row {
  text: string;
  bytes: string | null;
}

/**
 * Looks through every table of a database as superuser: each row as text, and what is bytes in it decoded. Texts are
 * compared without case; rows of one organization only where the table has organizations.
 */
export async function searchEverything(
  database: Searched,
  organizationId: string,
  sought: readonly string[],
): Promise<Search> {
  const tables = await database.query<{ name: string; own: boolean; bytes: string[] }>(`
    SELECT format('%I', t.relname) AS name,
           EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = t.oid AND a.attname = 'organization_id'
                      AND NOT a.attisdropped) AS own,
           ARRAY(SELECT quote_ident(a.attname) FROM pg_attribute a WHERE a.attrelid = t.oid AND a.atttypid = 'bytea'::regtype
                    AND a.attnum > 0 AND NOT a.attisdropped) AS bytes
      FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace
     WHERE n.nspname = 'public' AND t.relkind IN ('r', 'p') AND NOT t.relispartition ORDER BY t.relname`);
  const needles = sought.map((text) => text.toLowerCase());
  let rows = 0;
  const found: string[] = [];
  for (const { name, own, bytes } of tables) {
    const decoded = bytes.map((column) => `encode(${column}, 'escape')`).join(` || ' ' || `);
    const all = await database.query<Row>(
      `SELECT to_jsonb(t)::text AS text, ${decoded || 'NULL'} AS bytes FROM ${name} AS t
        ${own ? 'WHERE organization_id = $1' : ''}`,
      own ? [organizationId] : [],
    );
    rows += all.length;
    for (const row of all) {
      const text = `${row.text} ${row.bytes ?? ''}`.toLowerCase();
      for (const needle of needles) if (text.includes(needle)) found.push(`${name}: ${needle}`);
    }
  }
  return { rows, tables: tables.length, found };
}
