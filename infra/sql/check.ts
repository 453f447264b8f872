/**
 * Every statement of the services against the schemas that the migrations make: it must parse, take as many values as it
 * is given, and return what its row type says. Statements are read from the source; one that is put together only as the
 * program runs is counted as unread (`--unread` lists them), and there may be no more of these than there are now.
 */
import { join } from 'node:path';
import ts from 'typescript';
import { MODULES } from '@customer-platform/local/platform/modules.ts';
import { withMigratedDatabases } from '@customer-platform/local/platform/schemas.ts';
import { Describer } from '@customer-platform/local/platform/statement-descriptions.ts';
import { faultsAt, type Schema } from './judge.ts';
import { placesOf } from './places.ts';

const root = join(import.meta.dirname, '../..');
/** Lower it whenever one more is read. Two find the end of a page that looked at enough (ADR 351, 353). */
const UNREAD_AT_MOST = 26;
/** Tests have statements of their own, and migrations run on older schemas. */
const NOT_CHECKED = /\.(spec|fixture|property|suite)\.ts$|\/migrations\/|\/(apps\/console|libs\/testing)\//;

const program = programOfServices();
const checker = program.getTypeChecker();
const files = program
  .getSourceFiles()
  .filter(({ fileName }) => isOfServices(fileName) && !NOT_CHECKED.test(fileName));
const places = placesOf(program, files, root);

const faults = await withMigratedDatabases(async (urlOf) => {
  const schemas: Schema[] = [];
  try {
    for (const module of MODULES) {
      const describer = await Describer.connect(urlOf(module));
      schemas.push({ module, describer, types: await describer.types() });
    }
    const found: string[] = [];
    for (const place of places) found.push(...(await faultsAt(place, schemas, checker)));
    return found;
  } finally {
    for (const { describer } of schemas) await describer.end();
  }
});

const unread = places.filter(({ statements }) => statements.length === 0);
for (const fault of faults) console.error(fault);
if (process.argv.includes('--unread')) for (const { at } of unread) console.log(`unread: ${at}`);
console.log(
  `${places.length - unread.length} of ${places.length} statements were read and checked; ${faults.length} faults.`,
);
if (unread.length > UNREAD_AT_MOST)
  console.error(`${unread.length} statements cannot be read from the source; ${UNREAD_AT_MOST} may be.`);
process.exitCode = faults.length > 0 || unread.length > UNREAD_AT_MOST ? 1 : 0;

function isOfServices(file: string): boolean {
  return /\/(apps|libs)\/[^/]+\/src\//.test(file) && !file.includes('/node_modules/');
}

function programOfServices(): ts.Program {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.base.json'), (path) => ts.sys.readFile(path)) as {
    config: { compilerOptions: object };
  };
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  const sources = ['apps', 'libs'].flatMap((part) =>
    ts.sys.readDirectory(join(root, part), ['.ts'], ['**/node_modules', '**/dist'], ['*/src/**/*.ts']),
  );
  return ts.createProgram(
    sources.filter((file) => !NOT_CHECKED.test(file)),
    options,
  );
}
