import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { appEnvironment } from './app-environment.ts';
import { DataFolder } from './data-folder.ts';
import { databaseAddresses } from './databases.ts';
import { type ModuleName, ROOT } from './modules.ts';
import type { PortPlan } from './port-plan.ts';
import { loadSecrets } from './secrets.ts';
import type { DemoFacts } from './summary.ts';

/**
 * The environment of a module: that of this process where `DATABASE_URL` is in it, else that of the platform that
 * `npm start` runs, whose data are in `folder`.
 */
export function moduleEnvironments(folder: string): (module: ModuleName) => NodeJS.ProcessEnv {
  if (process.env['DATABASE_URL']) return () => process.env;
  const data = new DataFolder(folder);
  const facts = data.readJson<DemoFacts>('demo.json');
  const ports = data.readJson<PortPlan>('ports.json');
  if (!facts || !ports)
    throw new Error('There is nothing to look at: run "npm start" first, or give a service’s environment.');
  const secrets = loadSecrets(data);
  const databases = databaseAddresses(facts.postgres_url, secrets);
  const wiring = { ports, secrets, databases, brokers: facts.kafka_brokers };
  return (module) => appEnvironment(module, wiring, { role: 'api' });
}

/** Runs a command of a module's image as it would run there. @returns its exit code, 2 where it did not end by itself */
export function runInModule(
  module: ModuleName,
  script: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): number {
  const path = join(ROOT, 'apps', module, 'dist', script);
  return spawnSync(process.execPath, [path, ...args], { stdio: 'inherit', env }).status ?? 2;
}
