import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { WRONG_PASSWORD, queryOnce } from '../services/postgres.ts';
import type { DatabaseAddresses } from './app-environment.ts';
import { migrationsFingerprint } from './build.ts';
import { COMPILED_CODE } from './compiled-code.ts';
import type { DataFolder } from './data-folder.ts';
import { MODULES, type ModuleName, ROOT, platformOf } from './modules.ts';
import type { Secrets } from './secrets.ts';

type Databases = Record<ModuleName, DatabaseAddresses>;

const run = promisify(execFile);
const RECORD = 'migrated.json';

/** Which server was migrated with which migrations. */
interface Migrated {
  server: string;
  migrations: string;
}

/** The addresses that {@link prepareDatabases} makes true. */
export function databaseAddresses(adminUrl: string, secrets: Secrets): Databases {
  return Object.fromEntries(
    MODULES.map((module) => {
      const { owner, app } = secrets.modules[module];
      return [
        module,
        { url: address(adminUrl, module, 'app', app), ownerUrl: address(adminUrl, module, 'owner', owner) },
      ];
    }),
  ) as Databases;
}

function address(adminUrl: string, module: ModuleName, role: string, password: string): string {
  const url = new URL(adminUrl);
  url.username = `${module}_${role}`;
  url.password = password;
  url.pathname = `/${module}`;
  return url.toString();
}

/** A server as it may be shown: without the password. */
export function serverOf(url: string): string {
  const { username, host } = new URL(url);
  return `${host} as ${decodeURIComponent(username) || 'its default user'}`;
}

/** @throws Error of one sentence where a person's own server does not answer. */
export async function requireServer(url: string): Promise<void> {
  try {
    await queryOnce(url, 'SELECT 1');
  } catch (cause) {
    const { message, code } = cause as { message: string; code?: string };
    throw new Error(
      `The PostgreSQL of PLATFORM_DATABASE_URL (${serverOf(url)}) does not serve (${message || code}): start it or put the address right, or unset it to use ours.`,
      { cause },
    );
  }
}

interface DatabaseServer {
  adminUrl: string;
  /** Ours alone: what is recorded about it stays true. */
  embedded: boolean;
}

/**
 * Makes each module's roles and database where they are missing and runs its migrations.
 * @returns whether there was anything to do; nothing is done on an embedded server left with these very migrations.
 */
export async function prepareDatabases(
  { adminUrl, embedded }: DatabaseServer,
  secrets: Secrets,
  data: DataFolder,
): Promise<boolean> {
  const migrations = migrationsFingerprint();
  const last = data.readJson<Migrated>(RECORD);
  if (embedded && last?.migrations === migrations && last.server === (await serverIdentity(adminUrl)))
    return false;
  if (!embedded) await requireOurs(adminUrl, secrets);
  await provision(adminUrl, secrets);
  const addresses = databaseAddresses(adminUrl, secrets);
  // Two at a time: each is a second of CPU, and so many cores has the smallest machine.
  const waiting: ModuleName[] = [...MODULES];
  const lane = async (): Promise<void> => {
    for (let module = waiting.shift(); module; module = waiting.shift())
      await migrate(module, addresses[module]);
  };
  await Promise.all([lane(), lane()]);
  if (embedded)
    data.writeJson(RECORD, { server: await serverIdentity(adminUrl), migrations } satisfies Migrated);
  return true;
}

/** Tells one cluster with its module databases from another: a database made anew makes it another. */
async function serverIdentity(adminUrl: string): Promise<string> {
  const [row] = await queryOnce<{ identity: string }>(
    adminUrl,
    `SELECT (SELECT system_identifier FROM pg_control_system()) || ':' ||
              (SELECT coalesce(string_agg(datname || '=' || oid, ',' ORDER BY datname), '')
                 FROM pg_database WHERE datname = ANY ($1)) AS identity`,
    [MODULES],
  );
  return row?.identity ?? '';
}

/**
 * Provisioning takes rights from everybody on databases of the modules' names, and gives their roles new passwords. On a
 * server that is not ours alone, those of somebody else stay as they are.
 * @throws Error of one sentence
 */
export async function requireOurs(adminUrl: string, secrets: Secrets): Promise<void> {
  const names = await queryOnce<{ database: string; owner: string }>(
    adminUrl,
    'SELECT datname AS database, pg_get_userbyid(datdba) AS owner FROM pg_database WHERE datname = ANY ($1)',
    [MODULES],
  );
  const foreign = names.find(({ database, owner }) => owner !== `${database}_owner`);
  if (foreign)
    throw new Error(
      `The database ${foreign.database} on ${serverOf(adminUrl)} is owned by ${foreign.owner}, not by ${foreign.database}_owner: it is another program's. Give a server without it in PLATFORM_DATABASE_URL.`,
    );
  const roles = await queryOnce<{ role: string }>(
    adminUrl,
    'SELECT rolname AS role FROM pg_roles WHERE rolname = ANY ($1)',
    [MODULES.flatMap((module) => [`${module}_owner`, `${module}_app`])],
  );
  for (const { role } of roles) {
    const [module = '', part] = role.split('_');
    const password = secrets.modules[module as ModuleName][part as 'owner' | 'app'];
    if (await isRefused(adminUrl, role, password))
      throw new Error(
        `The role ${role} on ${serverOf(adminUrl)} has another password than ${RECORDED_IN}: another folder's platform uses it. Put that file back, or give another server in PLATFORM_DATABASE_URL.`,
      );
  }
}

const RECORDED_IN = 'secrets.json of this data folder';

/** Whether the server knows another password of a role. Who may not connect to this database has been known before. */
async function isRefused(adminUrl: string, role: string, password: string): Promise<boolean> {
  const url = new URL(adminUrl);
  url.username = role;
  url.password = password;
  try {
    await queryOnce(url.href, 'SELECT 1');
    return false;
  } catch (error) {
    return (error as { code?: string }).code === WRONG_PASSWORD;
  }
}

async function provision(adminUrl: string, secrets: Secrets): Promise<void> {
  // Loaded after the build, and in a process of its own: it brings half of the platform with it.
  await runNode([join(import.meta.dirname, 'provision.ts')], {
    DATABASE_URL: adminUrl,
    DATABASE_PASSWORDS: JSON.stringify(
      Object.fromEntries(
        MODULES.map((module) => [
          module,
          { owner: secrets.modules[module].owner, app: secrets.modules[module].app },
        ]),
      ),
    ),
  });
}

async function migrate(module: ModuleName, { ownerUrl }: DatabaseAddresses): Promise<void> {
  try {
    await runNode([platformOf(module), 'migrate'], { DATABASE_OWNER_URL: ownerUrl });
  } catch (cause) {
    throw new Error(`The migrations of ${module} failed: ${(cause as Error).message}`, { cause });
  }
}

async function runNode(args: string[], env: NodeJS.ProcessEnv): Promise<void> {
  try {
    await run(process.execPath, args, {
      cwd: ROOT,
      env: { PATH: process.env['PATH'], ...COMPILED_CODE, ...env },
      maxBuffer: 16 * 2 ** 20,
    });
  } catch (cause) {
    const {
      stderr = '',
      stdout = '',
      message,
    } = cause as { stderr?: string; stdout?: string; message: string };
    throw new Error(`${stderr}${stdout}`.trim().split('\n').slice(-12).join('\n') || message, { cause });
  }
}
