/** `npm run platform -- [--module MODULE] [--data DIR] NOUN VERB …`; {@link HELP} says what it does. */
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from './platform/build.ts';
import { DataFolder } from './platform/data-folder.ts';
import { databaseAddresses, prepareDatabases, serverOf } from './platform/databases.ts';
import { givenService, moduleEnvironments, runInModule } from './platform/module-command.ts';
import { MODULES, type ModuleName, ROOT } from './platform/modules.ts';
import { readOptions } from './platform/options.ts';
import { loadSecrets } from './platform/secrets.ts';
import type { DemoFacts } from './platform/summary.ts';

const FAILED = 2;

/** Which modules have a command; without --module it runs in each, or in the only one. */
const MODULES_WITH: Readonly<Record<string, readonly ModuleName[]>> = {
  audit: ['core'],
  balances: ['loyalty'],
  console: ['identity'],
  deliverability: ['messaging'],
  erasures: ['core'],
  events: MODULES.filter((module) => module !== 'identity'),
  factors: ['identity'],
  'id-token-keys': ['identity'],
  installation: MODULES,
  kafka: MODULES,
  keys: ['identity'],
  organizations: ['identity'],
  secrets: MODULES,
  sessions: ['identity'],
  'signing-keys': ['core', 'identity'],
  'unreadable-records': ['core'],
};

const HELP = `npm run platform -- [--module MODULE] [--data DIR] COMMAND …

Runs an operators' command as it runs in the images: on the platform that "npm start" runs, whose data are in DIR (.data),
or on the service whose environment is given (DATABASE_URL and what else it reads).

  migrate                                all modules: makes their roles and databases too where they are missing, on the
                                         server of PLATFORM_DATABASE_URL, and prints the addresses; --module MODULE: its own only
${Object.entries(MODULES_WITH)
  .map(([noun, modules]) => `  ${`${noun} …`.padEnd(39)}${modules.join(', ')}`)
  .join('\n')}

COMMAND --help says more. Ends with 0 when it is done, with 1 when something was found or is left, with 2 when it could not
be done, with 3 when what was to be made exists already.
`;

async function main(args: readonly string[]): Promise<number> {
  const { tokens } = parseArgs({ args: [...args], options: OPTIONS, strict: false, tokens: true });
  const at = tokens.find(({ kind }) => kind === 'positional')?.index ?? args.length;
  const { values } = parseArgs({ args: args.slice(0, at), options: OPTIONS });
  const words = args.slice(at);
  const [noun] = words;
  if (values.help || noun === undefined) {
    (values.help ? process.stdout : process.stderr).write(HELP);
    return values.help ? 0 : FAILED;
  }
  const folder = resolve(values.data ?? join(ROOT, '.data'));
  if (noun === 'migrate' && values.module === undefined && !words.includes('--help'))
    return migrateAll(folder);
  const modules = modulesOf(noun, values.module, words);
  await build();
  const environmentOf = words.includes('--help') ? () => process.env : moduleEnvironments(folder);
  return Math.max(...modules.map((module) => runInModule(module, words, environmentOf(module))));
}

const OPTIONS = {
  module: { type: 'string' },
  data: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

function modulesOf(noun: string, only: string | undefined, words: readonly string[]): readonly ModuleName[] {
  const having = noun === 'migrate' ? MODULES : MODULES_WITH[noun];
  if (having === undefined) throw new Error(`${noun} is no command (see --help)`);
  const [first] = having;
  if (words.includes('--help') && only === undefined && first) return [first];
  const modules = having.filter((module) => only === undefined || module === only);
  if (modules.length === 0) throw new Error(`${String(only)} is none of ${having.join(', ')}.`);
  // Whoever rotates or retires keys means those of one module.
  if (modules.length > 1 && (givenService() || noun === 'signing-keys'))
    throw new Error(`Say by --module of which service: ${having.join(', ')}.`);
  return modules;
}

/** The roles' passwords are those of the folder's secrets.json, made if there are none. */
async function migrateAll(folder: string): Promise<number> {
  const data = new DataFolder(folder);
  const adminUrl = readOptions([]).databaseUrl ?? data.readJson<DemoFacts>('demo.json')?.postgres_url;
  if (adminUrl === undefined)
    throw new Error(
      'There is no database server: give its address in PLATFORM_DATABASE_URL, or run "npm start" first.',
    );
  const secrets = loadSecrets(data);
  await build();
  process.stderr.write(`On the server ${serverOf(adminUrl)}\n`);
  await prepareDatabases({ adminUrl, embedded: false }, secrets, data);
  process.stdout.write(`${JSON.stringify(databaseAddresses(adminUrl, secrets), null, 2)}\n`);
  return 0;
}

process.exitCode = await main(process.argv.slice(2)).catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  return FAILED;
});
