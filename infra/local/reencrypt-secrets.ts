/**
 * `npm run secrets:reencrypt [-- [--module MODULE] [--data DIR] [--json]]`
 *
 * Seals all secrets at rest anew by the first key of `ENCRYPTION_KEYS`: of the service whose environment is given
 * (`DATABASE_URL` and what else it reads; then `--module` is needed), else of every module of the platform that
 * `npm start` runs, whose data are in DIR (.data). Ends with 0 when every secret opened, with 1 when some did not, with
 * 2 when it could not be done.
 */
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from './platform/build.ts';
import { moduleEnvironments, runInModule } from './platform/module-command.ts';
import { MODULES, ROOT } from './platform/modules.ts';

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { module: { type: 'string' }, data: { type: 'string' }, json: { type: 'boolean' } },
  });
  const modules = MODULES.filter((module) => values.module === undefined || module === values.module);
  if (modules.length === 0) throw new Error(`${String(values.module)} is none of ${MODULES.join(', ')}.`);
  if (process.env['DATABASE_URL'] && modules.length > 1)
    throw new Error('DATABASE_URL is of one service: say of which by --module.');
  const environmentOf = moduleEnvironments(resolve(values.data ?? join(ROOT, '.data')));
  await build();
  const args = values.json ? ['--json'] : [];
  return Math.max(
    ...modules.map((module) => runInModule(module, 'reencrypt-secrets.js', args, environmentOf(module))),
  );
}

process.exitCode = await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  return 2;
});
