import { createHash } from 'node:crypto';
import { Client } from 'pg';
import { provisionDatabase, runMigrations, type MigrationClass } from '@customer-platform/database';

/** What a copy is made of. */
export interface MigratedCopyOptions {
  /** The server, as superuser. */
  serverUrl: string;
  /** The name of the copy, which is not there yet. */
  database: string;
  module: string;
  migrations: readonly MigrationClass[];
  /** Of both roles. */
  password: string;
  /** The test run whose template it is: another may have other sources. */
  run: string;
}

/**
 * Makes a database with these migrations as a copy of a template. Whoever needs a template first makes it, while others
 * wait; it has its name once it is whole, so that a worker that is killed meanwhile leaves nothing to be trusted.
 */
export async function copyMigrated(options: MigratedCopyOptions): Promise<void> {
  const { serverUrl, database, module } = options;
  const template = templateName(options);
  const server = new Client({ connectionString: serverUrl });
  await server.connect();
  try {
    if (!(await isThere(server, template))) {
      await server.query('SELECT pg_advisory_lock(hashtext($1))', [template]);
      if (!(await isThere(server, template))) await makeTemplate(server, template, options);
      await server.query('SELECT pg_advisory_unlock(hashtext($1))', [template]);
    }
    await server.query(`CREATE DATABASE ${database} TEMPLATE ${template} OWNER ${module}_owner`);
  } finally {
    await server.end();
  }
}

async function isThere(server: Client, database: string): Promise<boolean> {
  const { rowCount } = await server.query('SELECT 1 FROM pg_database WHERE datname = $1', [database]);
  return rowCount === 1;
}

async function makeTemplate(
  server: Client,
  name: string,
  { serverUrl, module, migrations, password }: MigratedCopyOptions,
): Promise<void> {
  const draft = `${name}_draft`;
  await server.query(`DROP DATABASE IF EXISTS ${draft} WITH (FORCE)`);
  const { ownerUrl } = await provisionDatabase({
    adminUrl: serverUrl,
    module,
    database: draft,
    ownerPassword: password,
    appPassword: password,
  });
  await runMigrations({ module, migrations: [...migrations], url: ownerUrl });
  await server.query(`ALTER DATABASE ${draft} RENAME TO ${name}`);
}

/** Begins with what the run's teardown drops by. */
function templateName({ module, migrations, run }: MigratedCopyOptions): string {
  const digest = createHash('sha256').update(module);
  for (const migration of migrations) digest.update(`\0${migration.name}\0${migration.toString()}`);
  return `${run}_${digest.digest('hex').slice(0, 16)}`;
}
