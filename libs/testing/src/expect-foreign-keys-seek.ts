import { Client } from 'pg';
import type { TestDatabase } from './test-database.js';

interface ForeignKey {
  name: string;
  referenced: string;
  columns: string[];
  types: string[];
}

const FOREIGN_KEYS = `
SELECT k.conname AS name, k.confrelid::regclass::text AS referenced,
       array_agg(a.attname::text ORDER BY key.place) AS columns,
       array_agg(format_type(a.atttypid, a.atttypmod) ORDER BY key.place) AS types
FROM pg_constraint k
CROSS JOIN LATERAL unnest(k.confkey) WITH ORDINALITY AS key (number, place)
JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = key.number
WHERE k.contype = 'f' AND k.connamespace = 'public'::regnamespace
GROUP BY k.conname, k.confrelid ORDER BY 1`;

/**
 * Proves that the look-up behind every foreign key finds its row by all of its columns even while the tables are
 * empty: Postgres plans it then, keeps the plan for the life of the connection, and among indexes it knows nothing of
 * takes any unique one that begins with `organization_id`, reading all rows of the organization for each insert.
 * The remedy is to make such an index partial (`WHERE column IS NOT NULL`). Call it before any row is written.
 */
export async function expectForeignKeysSeek(database: TestDatabase): Promise<void> {
  const client = new Client({ connectionString: database.adminUrl });
  await client.connect();
  try {
    await client.query('SET plan_cache_mode = force_generic_plan');
    const { rows } = await client.query<ForeignKey>(FOREIGN_KEYS);
    const scans: string[] = [];
    for (const [at, key] of rows.entries()) {
      const plan = await planOf(client, key, `look_up_${at}`);
      if (!seeks(plan, key.columns)) scans.push(`${key.name}: ${plan.replaceAll(/\s+/g, ' ')}`);
    }
    expect(scans).toEqual([]);
  } finally {
    await client.end();
  }
}

/** The statement that Postgres runs for a row that refers to another (ri_triggers.c, RI_FKey_check). */
async function planOf(
  client: Client,
  { referenced, columns, types }: ForeignKey,
  name: string,
): Promise<string> {
  const where = columns.map((column, at) => `x.${column} = $${at + 1}`).join(' AND ');
  await client.query(
    `PREPARE ${name} (${types.join(', ')}) AS SELECT 1 FROM ONLY ${referenced} x WHERE ${where} FOR KEY SHARE OF x`,
  );
  const { rows } = await client.query<{ 'QUERY PLAN': string }>(
    `EXPLAIN (COSTS OFF) EXECUTE ${name} (${types.map(() => 'NULL').join(', ')})`,
  );
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

function seeks(plan: string, columns: readonly string[]): boolean {
  const condition = /Index Cond: (.*)/.exec(plan)?.[1] ?? '';
  return columns.every((column) => condition.includes(`${column} = `));
}
