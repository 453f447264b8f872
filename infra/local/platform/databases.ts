import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { queryOnce } from '../services/postgres.ts';
import type { DatabaseAddresses } from './app-environment.ts';
import { migrationsFingerprint } from './build.ts';
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
      env: { PATH: process.env['PATH'], ...env },
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
