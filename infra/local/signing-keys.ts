/**
 * `npm run signing-keys -- [--module core|identity] [--data DIR] (list | rotate [--after SECONDS] | retire KID) [--json]`
 *
 * The keys of core's member tokens, or of identity's access tokens: shows them, makes another, takes one away. The
 * service is told by the environment (`DATABASE_URL` and what else it reads), else it is of the platform that `npm start`
 * runs, whose data are in DIR (.data).
 */
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from './platform/build.ts';
import { moduleEnvironments, runInModule } from './platform/module-command.ts';
import { ROOT } from './platform/modules.ts';

/** An RFC 7638 thumbprint: SHA-256 in base64url. */
const KID = /^[\w-]{43}$/;

async function main(): Promise<number> {
  // A kid may begin with a dash, and must not be taken for an option.
  const kids = process.argv.slice(2).filter((arg) => KID.test(arg));
  const { values, positionals } = parseArgs({
    args: process.argv.slice(2).filter((arg) => !KID.test(arg)),
    options: {
      module: { type: 'string' },
      data: { type: 'string' },
      after: { type: 'string' },
      json: { type: 'boolean' },
    },
    allowPositionals: true,
  });
  const module = values.module ?? 'core';
  if (module !== 'core' && module !== 'identity') throw new Error(`${module} is neither core nor identity.`);
  const environmentOf = moduleEnvironments(resolve(values.data ?? join(ROOT, '.data')));
  await build();
  const args = [
    ...positionals,
    ...kids,
    ...(values.after === undefined ? [] : ['--after', values.after]),
    ...(values.json ? ['--json'] : []),
  ];
  return runInModule(module, 'signing-keys.js', args, environmentOf(module));
}

process.exitCode = await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  return 2;
});
