import type { QueryRunner } from 'typeorm';

/**
 * Tables that have never been analyzed get one statistic: all rows are of one organization. Without it the planner
 * takes "organization_id = x" for one row, so that any index that begins with that column looks as good as the primary
 * key; the plans behind foreign keys are kept for the life of a connection and then read all rows of the organization
 * for each insert (measured: 156 ms instead of 12 for 200 rows, growing). The first ANALYZE replaces it. Columns that
 * ANALYZE leaves alone have been told what to be taken for.
 */
const SEED = `
DO $$
DECLARE found text;
BEGIN
  FOR found IN
    SELECT c.relname FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'organization_id' AND NOT a.attisdropped
       AND a.attstattarget IS DISTINCT FROM 0
     WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND c.reltuples < 0
  LOOP
    PERFORM pg_restore_attribute_stats('schemaname', 'public', 'relname', found, 'attname', 'organization_id',
      'inherited', false, 'null_frac', 0::real, 'avg_width', 16, 'n_distinct', 1::real);
  END LOOP;
END $$`;

/** Seeds what the planner knows of new tables, where the server can be told (PostgreSQL 18). Repeatable. */
export async function seedStatistics(runner: QueryRunner): Promise<void> {
  const known = (await runner.query(
    `SELECT 1 FROM pg_proc WHERE proname = 'pg_restore_attribute_stats'`,
  )) as unknown[];
  if (known.length > 0) await runner.query(SEED);
}

/**
 * Of how many organizations (or, for another column, of how many values) the rows of a table are taken to be. One: only what a whole key finds looks cheap. Many:
 * what an organization has looks so much smaller than the table that it is read by an index where nothing better is,
 * and still so large that a key is sought by all of its columns.
 */
export const TAKEN_FOR = { one: 1, many: 200 } as const;

/**
 * The statements after which plans for a table do not depend on when ANALYZE last saw an organization. One that came
 * since is in no list of common values: the planner takes all that it has for one row, every index that begins with
 * organization_id for as good as the right one, and reads all rows of it for each key. ANALYZE leaves the column alone
 * from here on. `one` is for tables that are sought by keys alone; where lists filter by what no index has, it would
 * make the planner read the rows of all organizations, and it must be `many`.
 * @param column another column of which the same is true: an id by which new rows belong together
 */
export function steadyStatistics(
  table: string,
  values: keyof typeof TAKEN_FOR,
  column = 'organization_id',
): string[] {
  return [
    `ALTER TABLE ${table} ALTER COLUMN ${column} SET STATISTICS 0`,
    // Told only by PostgreSQL 18; before it, a column without statistics is taken for one of 200 values.
    `DO $$ BEGIN
      IF EXISTS (SELECT FROM pg_proc WHERE proname = 'pg_restore_attribute_stats') THEN
        PERFORM pg_clear_attribute_stats('public', '${table}', '${column}', false);
        PERFORM pg_restore_attribute_stats('schemaname', 'public', 'relname', '${table}', 'attname', '${column}',
          'inherited', false, 'null_frac', 0::real, 'avg_width', 16, 'n_distinct', ${TAKEN_FOR[values]}::real);
      END IF;
    END $$`,
  ];
}

/** Undoes {@link steadyStatistics}; the next ANALYZE sees the column again. */
export function usualStatistics(table: string, column = 'organization_id'): string[] {
  return [`ALTER TABLE ${table} ALTER COLUMN ${column} SET STATISTICS -1`];
}
