import { join } from 'node:path';
import { type Wiring, appEnvironment } from '@customer-platform/local/platform/app-environment.ts';
import { DataFolder } from '@customer-platform/local/platform/data-folder.ts';
import { type ModuleName, MODULES } from '@customer-platform/local/platform/modules.ts';
import { planPorts } from '@customer-platform/local/platform/port-plan.ts';
import { loadSecrets } from '@customer-platform/local/platform/secrets.ts';
import { Child, waitUntilReady } from '@customer-platform/local/services/child.ts';
import { Guardian } from '@customer-platform/local/services/guardian.ts';
import type { Release } from './checkout.ts';
import type { OwnServers } from './own-servers.ts';

/** What an app does on a database that its own migrations have not been run on. */
interface Unmigrated {
  module: ModuleName;
  /** Migrations that are in the newer release only. */
  pending: string[];
  /** What is wrong with how it goes about that; undefined where it refuses to serve and names the migrations. */
  fault: string | undefined;
}

interface Health {
  status: number;
  checks: Record<string, string>;
}

const DECIDES_WITHIN_S = 120;
const END_WITHIN_MS = 15_000;

/** What every module of `newer` does on databases that stand where the release before left them (`older`). */
export async function startUnmigrated(
  newer: Release,
  servers: OwnServers,
  { older, current }: { older: string; current: string },
): Promise<Unmigrated[]> {
  const names = async (database: string): Promise<string[]> =>
    (await servers.query<{ name: string }>(database, 'SELECT name FROM migrations ORDER BY id')).map(
      ({ name }) => name,
    );
  const found: Unmigrated[] = [];
  for (const module of MODULES) {
    const before = new Set(await names(`${older}_${module}`));
    const pending = (await names(`${current}_${module}`)).filter((name) => !before.has(name));
    const fault = pending.length > 0 ? await faultOf(newer, servers, module, older, pending) : undefined;
    found.push({ module, pending, fault });
  }
  return found;
}

async function faultOf(
  newer: Release,
  servers: OwnServers,
  module: ModuleName,
  older: string,
  pending: readonly string[],
): Promise<string | undefined> {
  const data = new DataFolder(join(servers.folder, 'unmigrated'));
  const { plan: ports } = await planPorts(data);
  const secrets = loadSecrets(data);
  const databases = { [module]: servers.addresses(module, `${older}_${module}`) } as Wiring['databases'];
  const guardian = new Guardian();
  const log = data.log(module);
  const child = await Child.start({
    name: module,
    command: process.execPath,
    args: [join(newer.root, 'apps', module, 'dist/main.js')],
    env: appEnvironment(
      module,
      { ports, secrets, databases, brokers: servers.brokers },
      { env: { PATH: process.env['PATH'], KAFKA_TOPIC_PREFIX: 'unmigrated-', LOG_LEVEL: 'info' } },
    ),
    cwd: newer.root,
    log,
    stopSignal: 'SIGTERM',
    stage: 'app',
    guardian,
  });
  try {
    const seen: { health?: Health | undefined } = {};
    const url = `http://127.0.0.1:${ports.public[module]}/health/ready`;
    const named = (): boolean => {
      const said = child.lastWords(200);
      return pending.every((name) => said.includes(name));
    };
    const decided = async (): Promise<boolean> => {
      const health = await healthAt(url);
      seen.health = health;
      return health?.status === 200 || (health?.checks['database'] === 'failing' && named());
    };
    await waitUntilReady(child, decided, DECIDES_WITHIN_S);
    return seen.health?.status === 200 ? 'it says that it is ready' : undefined;
  } catch (error) {
    return `it neither serves nor names in its log what it waits for: ${(error as Error).message}`;
  } finally {
    await child.stop(END_WITHIN_MS);
    await guardian.release();
  }
}

async function healthAt(url: string): Promise<Health | undefined> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    const { checks } = (await answer.json()) as { checks: Record<string, string> };
    return { status: answer.status, checks };
  } catch {
    return undefined; // it does not listen yet
  }
}
