/**
 * `npm run events:parked -- [--module MODULE] [--data DIR] [list | redeliver (--all | --id ID …)] [--consumer NAME]
 *    [--organization ID] [--json]`
 *
 * Lists the events that a module's consumers could not process, or delivers them again: of one module, or of all.
 * The service is told by the environment (`DATABASE_URL` and what else the module reads; then `--module` is needed),
 * else it is the platform that `npm start` runs, whose data are in DIR (.data). Ends with 0 when nothing that was meant
 * is parked any more, with 1 when something still is, with 2 when it could not be done.
 */
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from './platform/build.ts';
import { moduleEnvironments, runInModule } from './platform/module-command.ts';
import { MODULES, ROOT } from './platform/modules.ts';

/** Identity consumes nobody's events. */
const CONSUMING = MODULES.filter((module) => module !== 'identity');
const FAILED = 2;

async function main(): Promise<number> {
  const { values, tokens } = parseArgs({
    options: { module: { type: 'string' }, data: { type: 'string' } },
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const only = values.module;
  const modules = CONSUMING.filter((module) => only === undefined || module === only);
  if (modules.length === 0) throw new Error(`${String(only)} is none of ${CONSUMING.join(', ')}.`);
  if (process.env['DATABASE_URL'] && modules.length > 1)
    throw new Error('DATABASE_URL is of one service: say of which by --module.');
  const environmentOf = moduleEnvironments(resolve(String(values.data ?? join(ROOT, '.data'))));
  await build();
  const passed = passedOn(process.argv.slice(2), tokens);
  const codes = modules.map((module) =>
    runInModule(module, 'parked-events.js', passed, environmentOf(module)),
  );
  return Math.max(...codes);
}

interface Token {
  kind: string;
  index: number;
  name?: string;
  inlineValue?: boolean | undefined;
}

/** The arguments without those that only this command has. */
function passedOn(args: readonly string[], tokens: readonly Token[]): string[] {
  const own = tokens.filter(({ kind, name }) => kind === 'option' && (name === 'module' || name === 'data'));
  const taken = new Set(
    own.flatMap(({ index, inlineValue }) => (inlineValue ? [index] : [index, index + 1])),
  );
  return args.filter((_, index) => !taken.has(index));
}

process.exitCode = await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  return FAILED;
});
