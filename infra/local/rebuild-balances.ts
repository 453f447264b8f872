/**
 * `npm run balances:rebuild [-- --data DIR] [--organization ID]`
 *
 * Makes loyalty's balances anew from the lines of its ledger, and prints how many were wrong: in loyalty's database in
 * `DATABASE_URL`, else of the platform that `npm start` runs, whose data are in DIR (.data). The service may run.
 */
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from './platform/build.ts';
import { DataFolder } from './platform/data-folder.ts';
import { ROOT } from './platform/modules.ts';
import type { DemoFacts } from './platform/summary.ts';

function databaseUrl(folder: string): string {
  const given =
    process.env['DATABASE_URL'] ??
    new DataFolder(folder).readJson<DemoFacts>('demo.json')?.database_urls['loyalty'];
  if (given) return given;
  throw new Error(
    'There is nothing to rebuild: give the address of loyalty’s database in DATABASE_URL, or run "npm start" first.',
  );
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { data: { type: 'string' }, organization: { type: 'string' } } });
  const env = { ...process.env, DATABASE_URL: databaseUrl(resolve(values.data ?? join(ROOT, '.data'))) };
  await build();
  const args = values.organization === undefined ? [] : ['--organization', values.organization];
  const script = join(ROOT, 'apps/loyalty/dist/rebuild-balances.js');
  return spawnSync(process.execPath, [script, ...args], { stdio: 'inherit', env }).status ?? 2;
}

process.exitCode = await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  return 2;
});
