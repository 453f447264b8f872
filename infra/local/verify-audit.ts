/**
 * `npm run audit:verify [-- --data DIR] [--organization ID] [--json]`
 *
 * Verifies the audit logs: of core's database in `DATABASE_URL` (with `KAFKA_BROKERS` and core's `ENCRYPTION_KEY`), else
 * of the platform that `npm start` runs, whose data are in DIR (.data). Ends with 0 when all is intact, with 1 when
 * a log was tampered with, with 2 when that could not be found out.
 */
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from './platform/build.ts';
import { DataFolder } from './platform/data-folder.ts';
import { ROOT } from './platform/modules.ts';
import { loadSecrets } from './platform/secrets.ts';
import type { DemoFacts } from './platform/summary.ts';

function environment(folder: string): NodeJS.ProcessEnv {
  if (process.env['DATABASE_URL']) return process.env;
  const data = new DataFolder(folder);
  const facts = data.readJson<DemoFacts>('demo.json');
  if (!facts)
    throw new Error(
      'There is nothing to verify: give the address of core’s database in DATABASE_URL, or run "npm start" first.',
    );
  const { encryption, encryptionKeys = '' } = loadSecrets(data).modules.core;
  return {
    ...process.env,
    DATABASE_URL: facts.database_urls['core'],
    KAFKA_BROKERS: facts.kafka_brokers,
    ENCRYPTION_KEY: encryption,
    ENCRYPTION_KEYS: encryptionKeys,
  };
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { data: { type: 'string' }, organization: { type: 'string' }, json: { type: 'boolean' } },
  });
  const env = environment(resolve(values.data ?? join(ROOT, '.data')));
  await build();
  const args = [
    ...(values.organization === undefined ? [] : ['--organization', values.organization]),
    ...(values.json ? ['--json'] : []),
  ];
  const script = join(ROOT, 'apps/core/dist/verify-audit.js');
  return spawnSync(process.execPath, [script, ...args], { stdio: 'inherit', env }).status ?? 2;
}

process.exitCode = await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  return 2;
});
