import type { QueryRunner } from 'typeorm';

/**
 * Makes an index on a table that is in use, without keeping anybody from writing to it; `definition` is what stands
 * after its name: `ON sends (organization_id, id)`. For migrations that say `transaction = false`, which PostgreSQL
 * demands. Repeatable: an index that an earlier try left behind unfinished is made anew.
 */
export async function createIndexConcurrently(
  runner: QueryRunner,
  name: string,
  definition: string,
): Promise<void> {
  const [found] = (await runner.query('SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)', [
    name,
  ])) as { indisvalid: boolean }[];
  if (found?.indisvalid) return;
  // It waits for transactions that began before it, however long they last; nobody waits behind it.
  await runner.query('SET lock_timeout = 0');
  try {
    if (found) await runner.query(`DROP INDEX CONCURRENTLY ${name}`);
    await runner.query(`CREATE INDEX CONCURRENTLY ${name} ${definition}`);
  } finally {
    await runner.query('RESET lock_timeout');
  }
}
