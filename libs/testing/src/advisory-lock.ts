import { Client } from 'pg';
import { requiredVariable } from './required-variable.js';

/**
 * Does what the workers of a run must not do at once. The turn is a lock on the run's PostgreSQL, which is given back with
 * its connection, however a worker ends.
 */
export async function inTurn<T>(name: string, work: () => Promise<T>): Promise<T> {
  const server = new Client({ connectionString: requiredVariable('TEST_POSTGRES_URL') });
  await server.connect();
  try {
    await server.query('SELECT pg_advisory_lock(hashtext($1))', [name]);
    return await work();
  } finally {
    await server.end();
  }
}
