/**
 * `npm run bootstrap [-- --name NAME --slug SLUG --locale TAG --timezone ZONE | --recover SLUG]`
 *
 * Founds the root organization on an empty production database and prints its first owner key, once.
 * `DATABASE_URL` is identity's database as `identity_app`; with `DATABASE_OWNER_URL` (as `identity_owner`) its
 * migrations run first.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build } from './platform/build.ts';
import { ROOT } from './platform/modules.ts';

const run = (script: string, args: string[] = []): number =>
  spawnSync(process.execPath, [join(ROOT, 'apps/identity/dist', script), ...args], { stdio: 'inherit' })
    .status ?? 1;

async function main(): Promise<number> {
  const { DATABASE_URL, DATABASE_OWNER_URL } = process.env;
  if (!DATABASE_URL && !process.argv.includes('--help'))
    throw new Error(
      'DATABASE_URL is missing: give the address of identity’s database as identity_app, and as identity_owner in DATABASE_OWNER_URL to have it migrated.',
    );
  await build();
  if (DATABASE_OWNER_URL) {
    const status = run('migrate.js');
    if (status !== 0) return status;
  }
  return run('bootstrap.js', process.argv.slice(2));
}

process.exitCode = await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  return 1;
});
