import pg from 'pg';
import type { Platform } from './platform.ts';

/**
 * A module's database of the running platform as the server's administrator, whom no policy of rows keeps out.
 * @throws Error with the remedy where the platform was started by an older checkout
 */
export function adminUrl(
  { postgres_url: server, database_urls: databases }: Platform,
  module: string,
): string {
  const database = databases?.[module];
  if (server === undefined || database === undefined)
    throw new Error(`demo.json names no postgres_url or no database of ${module}; start the platform anew.`);
  const url = new URL(server);
  url.pathname = new URL(database).pathname;
  return url.href;
}

/** A connection, which whoever asks for it ends. */
export async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

/** Something on a connection of its own. */
export async function onConnection<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connected(url);
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
