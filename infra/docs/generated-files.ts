import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type * as gateway from '../../apps/gateway/src/own-openapi.ts';
import { migratedSchemas } from '../local/platform/schemas.ts';
import { dataModelPages } from './data-model.ts';
import { dependenciesPage } from './dependencies-page.ts';
import { endpointsPage } from './endpoints-page.ts';
import { errorsPage } from './errors-page.ts';
import { descriptionOf, MODULES, servedRoutes } from './operations.ts';
import { publishCodes } from './published-codes.ts';
import { publishRoutes } from './published-routes.ts';
import { RELEASE, releaseFiles } from './release.ts';
import { listedRoutes } from './route-table.ts';

const root = join(import.meta.dirname, '../..');

/** A program of a package that writes files of its own from its build. */
interface Generator {
  program: string;
  files: string[];
}

const generators: Generator[] = [
  ...MODULES.map((module) => ({
    program: `apps/${module}/dist/openapi.js`,
    files: [`apps/${module}/openapi.json`],
  })),
  {
    program: 'libs/events/dist/publish-schemas.js',
    files: ['libs/events/asyncapi.json', 'libs/events/published-schemas.json'],
  },
];

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** As the gateway of the fresh build answers it. */
async function wholeDescription(): Promise<object> {
  const program = new URL('../../apps/gateway/dist/own-openapi.js', import.meta.url);
  const { describeWhole } = (await import(program.href)) as typeof gateway;
  // The gateway brings its own.
  const described = MODULES.filter((module) => module !== 'gateway').flatMap((module) => {
    const description = descriptionOf(module);
    return description ? [[module, description] as const] : [];
  });
  return describeWhole(RELEASE, described);
}

/** From docs/openapi.json and docs/published-codes.json, with the compiler that only the library needs. */
function clientTypes(): string {
  const program = 'libs/client/types-of-api.ts';
  const { status, stdout, stderr } = spawnSync(process.execPath, [program], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`${program} failed:\n${stderr}`);
  return stdout;
}

const DATA_MODEL = ['README', 'core', 'crm', 'identity', 'loyalty', 'messaging', 'platform'];
let dataModel: Promise<Map<string, string>> | undefined;

/** A page of the data model, from databases that the fresh build migrates once for all pages. */
async function dataModelPage(name: string): Promise<string> {
  dataModel ??= migratedSchemas().then(dataModelPages);
  const page = (await dataModel).get(`${name}.md`);
  if (page === undefined) throw new Error(`The data model has no page ${name}.`);
  return page;
}

/** Files written here, from the sources and from what the programs above wrote. */
type Document = [file: string, write: () => string | Promise<string>];
const documents: Document[] = [
  ...releaseFiles.map(([file, write]): Document => [file, write]),
  ['docs/openapi.json', async () => json(await wholeDescription())],
  ['docs/endpoints.md', () => endpointsPage(listedRoutes(), servedRoutes())],
  ['docs/errors.md', () => errorsPage()],
  ['docs/published-codes.json', () => json(publishCodes())],
  ['docs/published-routes.json', () => json(publishRoutes(servedRoutes()))],
  ['libs/client/src/api.ts', () => clientTypes()],
  ...DATA_MODEL.map((name): Document => [`docs/data-model/${name}.md`, () => dataModelPage(name)]),
  ['docs/dependencies.md', () => dependenciesPage()],
];

/** Every generated file, from the workspace root. */
export const generatedFiles: string[] = [
  ...generators.flatMap(({ files }) => files),
  ...documents.map(([file]) => file),
];

/** The text of a generated file as it stands, or undefined where there is none. */
export function textOf(file: string): string | undefined {
  const path = join(root, file);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

/**
 * Writes every generated file anew, from a fresh build. Throws at the end with what failing generators printed; the
 * other files are written all the same.
 */
export async function generateAll(): Promise<void> {
  const failures: string[] = [];
  for (const { program } of generators) {
    if (!existsSync(join(root, program))) continue;
    const { status, stderr } = spawnSync(process.execPath, [program], { cwd: root, encoding: 'utf8' });
    if (status !== 0) failures.push(`${program} failed:\n${stderr}`);
  }
  for (const [file, write] of documents) {
    const text = await write();
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  if (failures.length > 0) throw new Error(failures.join('\n'));
}
