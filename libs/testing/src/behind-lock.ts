import { Client } from 'pg';
import { eventually } from './eventually.js';
import type { TestDatabase } from './test-database.js';

/** What another transaction holds: a statement that locks it. */
interface HeldLock {
  readonly sql: string;
  readonly values?: unknown[];
}

/**
 * Makes `call` wait for what another transaction has locked; does `meanwhile` once it waits, in that transaction, and has it
 * commit. Shows what is decided by a state, or a time, from before a wait.
 */
export async function behindLock<T>(
  database: Pick<TestDatabase, 'adminUrl' | 'query'>,
  { sql, values = [] }: HeldLock,
  call: () => Promise<T>,
  meanwhile: (holder: Client) => unknown,
): Promise<T> {
  const holder = new Client({ connectionString: database.adminUrl });
  await holder.connect();
  try {
    await holder.query('BEGIN');
    await holder.query(sql, values);
    const { rows } = await holder.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const called = call();
    const waiting = 'SELECT FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))';
    await eventually(async () => expect(await database.query(waiting, [rows[0]?.pid])).not.toEqual([]));
    await meanwhile(holder);
    await holder.query('COMMIT');
    return await called;
  } finally {
    await holder.end();
  }
}
