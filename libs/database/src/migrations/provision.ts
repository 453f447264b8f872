import { Client } from 'pg';
import { appRoleOf } from './run-migrations.js';

/** A module's database to be, and the passwords of its two roles. */
export interface ProvisionOptions {
  /** Address of the server as a role that may create roles and databases. */
  adminUrl: string;
  module: string;
  /** The name of the database; the module's unless given. */
  database?: string;
  ownerPassword: string;
  appPassword: string;
}

/** The two addresses of a provisioned database. */
export interface ProvisionedDatabase {
  url: string;
  ownerUrl: string;
}

const NAME = /^[a-z][a-z0-9_]{0,62}$/;

/**
 * Makes, where missing, a module's roles (`<module>_owner`, `<module>_app`: neither superuser nor BYPASSRLS) and
 * its database, which nobody else may connect to. Existing roles get the passwords given.
 */
export async function provisionDatabase(options: ProvisionOptions): Promise<ProvisionedDatabase> {
  const { module, adminUrl } = options;
  const database = options.database ?? module;
  if (!NAME.test(module) || !NAME.test(database)) throw new TypeError('A database name is [a-z][a-z0-9_]*');
  const owner = `${module}_owner`;
  const app = appRoleOf(module);
  const admin = new Client({ connectionString: adminUrl });
  await admin.connect();
  try {
    await ensureRole(admin, owner, options.ownerPassword);
    await ensureRole(admin, app, options.appPassword);
    const { rowCount } = await admin.query('SELECT 1 FROM pg_database WHERE datname = $1', [database]);
    if (!rowCount) await admin.query(`CREATE DATABASE ${database} OWNER ${owner}`);
    await admin.query(`REVOKE ALL ON DATABASE ${database} FROM PUBLIC`);
    await admin.query(`GRANT CONNECT ON DATABASE ${database} TO ${app}`);
  } finally {
    await admin.end();
  }
  return {
    url: addressOf(adminUrl, app, options.appPassword, database),
    ownerUrl: addressOf(adminUrl, owner, options.ownerPassword, database),
  };
}

/** Roles belong to the whole server, so several processes may make the same one at the same time. */
async function ensureRole(admin: Client, role: string, password: string): Promise<void> {
  const secret = admin.escapeLiteral(password);
  await admin.query('SELECT pg_advisory_lock(hashtext($1))', [role]);
  try {
    const { rowCount } = await admin.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [role]);
    const verb = rowCount ? 'ALTER' : 'CREATE';
    await admin.query(
      `${verb} ROLE ${role} LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE PASSWORD ${secret}`,
    );
  } finally {
    await admin.query('SELECT pg_advisory_unlock(hashtext($1))', [role]);
  }
}

function addressOf(adminUrl: string, user: string, password: string, database: string): string {
  const url = new URL(adminUrl);
  url.username = user;
  url.password = encodeURIComponent(password);
  url.pathname = `/${database}`;
  return url.toString();
}
