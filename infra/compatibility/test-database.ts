import { randomBytes } from 'node:crypto';
import { appendFileSync } from 'node:fs';
// eslint-disable-next-line @nx/enforce-module-boundaries -- it runs in the place of a file of libs/testing, which has pg
import { Client } from 'pg';

/**
 * Takes the place of `libs/testing/src/test-database.ts` in the checkout of another release: the same for its tests, but
 * the database is a copy of one that the migrations of the release beside it have made. It stands on `pg` alone.
 */
export interface TestDatabase {
  url: string;
  ownerUrl: string;
  adminUrl: string;
  query<Row = Record<string, unknown>>(sql: string, parameters?: unknown[]): Promise<Row[]>;
  drop(): Promise<void>;
}

const PASSWORD = 'test';
/** Which tables were written to since the database was made; a partition counts as its table. */
const WRITTEN = `
SELECT DISTINCT coalesce(p.relname, s.relname) AS relname
  FROM pg_stat_user_tables s
  LEFT JOIN pg_inherits i ON i.inhrelid = s.relid LEFT JOIN pg_class p ON p.oid = i.inhparent
 WHERE s.n_tup_ins + s.n_tup_upd + s.n_tup_del > 0`;

/** A copy of the module's database of `COMPATIBILITY_SCHEMA`, on the server of `TEST_POSTGRES_URL`. */
export async function testDatabase(module: string, _migrations: unknown): Promise<TestDatabase> {
  const serverUrl = requiredVariable('TEST_POSTGRES_URL');
  const template = `${requiredVariable('COMPATIBILITY_SCHEMA')}_${module}`;
  const name = `${module}_${randomBytes(6).toString('hex')}`;
  await onServer(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${template} OWNER ${module}_owner`);
  await onServer(serverUrl, `REVOKE ALL ON DATABASE ${name} FROM PUBLIC`);
  await onServer(serverUrl, `GRANT CONNECT ON DATABASE ${name} TO ${module}_app`);
  const address = (user?: string): string => {
    const url = new URL(serverUrl);
    if (user !== undefined) Object.assign(url, { username: user, password: PASSWORD });
    url.pathname = `/${name}`;
    return url.toString();
  };
  const admin = new Client({ connectionString: address() });
  await admin.connect();
  return {
    url: address(`${module}_app`),
    ownerUrl: address(`${module}_owner`),
    adminUrl: address(),
    query: async (sql, parameters = []) => (await admin.query(sql, parameters)).rows as never,
    drop: async () => {
      const { rows } = await admin.query<{ relname: string }>(WRITTEN);
      await admin.end();
      const report = process.env['COMPATIBILITY_WRITTEN'];
      if (report !== undefined)
        appendFileSync(report, rows.map(({ relname }) => `${module}.${relname}\n`).join(''));
      await onServer(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

/** A variable that the test run provides. */
export function requiredVariable(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is missing: the test run provides it`);
  return value;
}

async function onServer(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
