import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { onConnection } from '@customer-platform/kit/databases.ts';
import { freePort } from '@customer-platform/kit/ports.ts';
import { environmentOf, readProcesses } from '@customer-platform/kit/processes.ts';

/** A core that accepts and processes nothing: what acceptance alone costs. */
interface AcceptingCore {
  url: string;
  /** Ends the process and drops its database. Its topic, which nothing reads, is left to the broker's retention. */
  stop(): Promise<void>;
}

const READY_WITHIN_MS = 30_000;
const END_WITHIN_MS = 10_000;

/** The environment of the platform's own core, which knows the databases, the brokers and the keys. */
function environmentOfCore(coreUrl: string): Record<string, string> {
  const port = new URL(coreUrl).port;
  for (const { pid } of readProcesses().filter(({ name }) => name.startsWith('core'))) {
    const environment = environmentOf(pid);
    if (environment?.['PORT'] === port) return environment;
  }
  throw new Error(`The core at ${coreUrl} is not a process of this machine.`);
}

/** An empty database beside the platform's, with core's tables. @returns the address for the service's role */
async function makeDatabase(
  root: string,
  postgresUrl: string,
  coreDatabase: string,
  name: string,
): Promise<string> {
  await onConnection(postgresUrl, (client) => client.query(`CREATE DATABASE ${name} OWNER core_owner`));
  await onConnection(postgresUrl, (client) => client.query(`GRANT CONNECT ON DATABASE ${name} TO core_app`));
  const asOwner = new URL(postgresUrl);
  asOwner.pathname = `/${name}`;
  // The administrator may act as the owner, whose password need not be known here.
  asOwner.searchParams.set('options', '-c role=core_owner');
  const { status, stderr } = spawnSync(
    process.execPath,
    [join(root, 'apps/core/dist/platform.js'), 'migrate'],
    {
      env: { PATH: process.env['PATH'], DATABASE_OWNER_URL: asOwner.href, LOG_LEVEL: 'error' },
      encoding: 'utf8',
    },
  );
  if (status !== 0) throw new Error(`The database of the accepting core could not be migrated: ${stderr}`);
  const url = new URL(coreDatabase);
  url.pathname = `/${name}`;
  return url.href;
}

async function untilReady(child: ChildProcess, url: string): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  while (Date.now() < deadline && child.exitCode === null) {
    const ready = await fetch(`${url}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (ready) return;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error('The accepting core did not become ready.');
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), END_WITHIN_MS);
  await ended;
  clearTimeout(late);
}

/**
 * Starts a core beside the running platform that serves requests only, with a database and a topic of its own, so that
 * the platform's counters stay true. It knows the same keys, for it asks the same identity.
 */
export async function startAcceptingCore(
  root: string,
  coreUrl: string,
  postgresUrl: string,
): Promise<AcceptingCore> {
  const environment = environmentOfCore(coreUrl);
  const name = `core_accepting_${randomBytes(4).toString('hex')}`;
  const database = await makeDatabase(root, postgresUrl, environment['DATABASE_URL'] ?? '', name);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, [join(root, 'apps/core/dist/main.js')], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...environment,
      PORT: String(port),
      INTERNAL_PORT: '0',
      PROCESS_ROLE: 'api',
      LOG_LEVEL: 'error',
      DATABASE_URL: database,
      KAFKA_TOPIC_PREFIX: `${name}.`,
    },
  });
  const stop = async (): Promise<void> => {
    await end(child);
    await onConnection(postgresUrl, (client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`));
  };
  try {
    await untilReady(child, url);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, stop };
}
