import { createHash } from 'node:crypto';
import { Client } from 'pg';
import { provisionDatabase, type ProvisionedDatabase } from '@customer-platform/database';
import { requiredVariable } from './required-variable.js';

/** What a copy is made of. */
interface MigratedCopyOptions {
  module: string;
  /** The name of the copy, which is not there yet. */
  database: string;
  /** Of both roles. */
  password: string;
  /** Tells this schema of the module from others that the test run makes. */
  schema: string;
  /** Migrates the template; called once in a test run. */
  migrate: (template: ProvisionedDatabase) => Promise<unknown>;
}

/**
 * Makes a migrated database on the server of `TEST_POSTGRES_URL`, as a copy of a template. Whoever needs a template first
 * makes it, while others wait; it has its name once it is whole, so that a worker that is killed meanwhile leaves nothing
 * to be trusted.
 */
export async function copyMigrated(options: MigratedCopyOptions): Promise<ProvisionedDatabase> {
  const { database, module } = options;
  const serverUrl = requiredVariable('TEST_POSTGRES_URL');
  const template = templateName(options);
  const server = new Client({ connectionString: serverUrl });
  await server.connect();
  try {
    if (!(await isThere(server, template))) {
      await server.query('SELECT pg_advisory_lock(hashtext($1))', [template]);
      if (!(await isThere(server, template))) await makeTemplate(server, template, options);
      await server.query('SELECT pg_advisory_unlock(hashtext($1))', [template]);
    }
    // Its pages as files: through the log they cost four times the processor time.
    await server.query(
      `CREATE DATABASE ${database} TEMPLATE ${template} OWNER ${module}_owner STRATEGY FILE_COPY`,
    );
    // Who may connect to a database is not copied; the roles are there since the template was made.
    await server.query(`REVOKE ALL ON DATABASE ${database} FROM PUBLIC;
      GRANT CONNECT ON DATABASE ${database} TO ${module}_app`);
  } finally {
    await server.end();
  }
  return addressesOf(options);
}

async function isThere(server: Client, database: string): Promise<boolean> {
  const { rowCount } = await server.query('SELECT 1 FROM pg_database WHERE datname = $1', [database]);
  return rowCount === 1;
}

async function makeTemplate(server: Client, name: string, options: MigratedCopyOptions): Promise<void> {
  const draft = `${name}_draft`;
  await server.query(`DROP DATABASE IF EXISTS ${draft} WITH (FORCE)`);
  await options.migrate(await provision(options, draft));
  await server.query(`ALTER DATABASE ${draft} RENAME TO ${name}`);
}

function provision(
  { module, password }: MigratedCopyOptions,
  database: string,
): Promise<ProvisionedDatabase> {
  const adminUrl = requiredVariable('TEST_POSTGRES_URL');
  return provisionDatabase({
    adminUrl,
    module,
    database,
    ownerPassword: password,
    appPassword: password,
  });
}

/** Gives a copy its rights, by the roles that its template was provisioned with. */
function addressesOf({ module, database, password }: MigratedCopyOptions): ProvisionedDatabase {
  const address = (username: string): string => {
    const url = new URL(requiredVariable('TEST_POSTGRES_URL'));
    Object.assign(url, { username, password, pathname: `/${database}` });
    return url.toString();
  };
  return { url: address(`${module}_app`), ownerUrl: address(`${module}_owner`) };
}

/** Begins with what the run's teardown drops by: another run may have other sources. */
function templateName({ module, schema }: MigratedCopyOptions): string {
  const digest = createHash('sha256').update(`${module}\0${schema}`).digest('hex').slice(0, 16);
  return `${requiredVariable('TEST_TEMPLATE_PREFIX')}_${digest}`;
}
