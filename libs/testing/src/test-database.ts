import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { runMigrations, type MigrationClass } from '@customer-platform/database';
import { copyMigrated } from './migrated-copy.js';
import { requiredVariable } from './required-variable.js';

/** A database of its own for a spec file, migrated. */
export interface TestDatabase {
  /** Address as `<module>_app`: what the service gets. */
  url: string;
  /** Address as `<module>_owner`. */
  ownerUrl: string;
  /** Address as superuser, whom row level security does not bind: to look at rows from outside. */
  adminUrl: string;
  /** Runs a statement as superuser. */
  query<Row = Record<string, unknown>>(sql: string, parameters?: unknown[]): Promise<Row[]>;
  /** Drops the database; in `afterAll`, after the app is closed. */
  drop(): Promise<void>;
}

/** Roles belong to the server, which only tests use. */
const PASSWORD = 'test';

/**
 * Makes a database with a random name on the server of `TEST_POSTGRES_URL`, with the module's migrations: a copy of one
 * that this test run has migrated once.
 */
export async function testDatabase(module: string, migrations: MigrationClass[]): Promise<TestDatabase> {
  const serverUrl = requiredVariable('TEST_POSTGRES_URL');
  const database = `${module}_${randomBytes(6).toString('hex')}`;
  const { url, ownerUrl } = await copyMigrated({
    module,
    database,
    password: PASSWORD,
    schema: migrations.map((migration) => `${migration.name}\0${migration.toString()}`).join('\0'),
    migrate: (template) => runMigrations({ module, migrations, url: template.ownerUrl }),
  });
  const adminUrl = new URL(serverUrl);
  adminUrl.pathname = `/${database}`;
  const admin = new Client({ connectionString: adminUrl.toString() });
  await admin.connect();
  return {
    url,
    ownerUrl,
    adminUrl: adminUrl.toString(),
    query: async (sql, parameters = []) => (await admin.query(sql, parameters)).rows as never,
    drop: async () => {
      await admin.end();
      await onServer(serverUrl, `DROP DATABASE ${database} WITH (FORCE)`);
    },
  };
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
