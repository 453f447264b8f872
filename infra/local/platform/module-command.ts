import { spawnSync } from 'node:child_process';
import { appEnvironment } from './app-environment.ts';
import { COMPILED_CODE } from './compiled-code.ts';
import { DataFolder } from './data-folder.ts';
import { databaseAddresses } from './databases.ts';
import { type ModuleName, platformOf } from './modules.ts';
import type { PortPlan } from './port-plan.ts';
import { loadSecrets } from './secrets.ts';
import type { DemoFacts } from './summary.ts';

/** Whether this process has the environment of one service, or of its migrations. */
export const givenService = (): boolean =>
  Boolean(process.env['DATABASE_URL'] ?? process.env['DATABASE_OWNER_URL']);

/**
 * The environment of a module, its migrations included: that of this process where a service is {@link givenService},
 * else that of the platform that `npm start` runs, whose data are in `folder`.
 */
export function moduleEnvironments(folder: string): (module: ModuleName) => NodeJS.ProcessEnv {
  if (givenService()) return () => process.env;
  const data = new DataFolder(folder);
  const facts = data.readJson<DemoFacts>('demo.json');
  const ports = data.readJson<PortPlan>('ports.json');
  if (!facts || !ports)
    throw new Error('There is nothing to look at: run "npm start" first, or give a service’s environment.');
  const secrets = loadSecrets(data);
  const databases = databaseAddresses(facts.postgres_url, secrets);
  const wiring = { ports, secrets, databases, brokers: facts.kafka_brokers };
  return (module) => ({
    ...appEnvironment(module, wiring, { role: 'api' }),
    DATABASE_OWNER_URL: databases[module].ownerUrl,
  });
}

/** Runs a module's `platform` as it would run in its image. @returns its exit code, 2 where it did not end by itself */
export function runInModule(module: ModuleName, words: readonly string[], env: NodeJS.ProcessEnv): number {
  return (
    spawnSync(process.execPath, [platformOf(module), ...words], {
      stdio: 'inherit',
      env: { ...COMPILED_CODE, ...env },
    }).status ?? 2
  );
}
