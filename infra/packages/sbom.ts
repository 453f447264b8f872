/**
 * `npm run sbom`
 *
 * Writes into dist/sbom what the images are made of besides the platform's own code: sbom.cdx.json (CycloneDX), with the
 * digest of each package by package-lock.json, and third-party-notices.md, with the licenses they come under. Looks at the
 * packages that are installed, and fetches the program that lists them.
 */
import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundledComponents, noticesOf, withDigests, type Bom, type Bundled } from './bom.ts';
import { readLock } from './lock.ts';

const ROOT = join(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'dist/sbom');
const PROGRAM = '@cyclonedx/cyclonedx-npm@6.0.1';

mkdirSync(FOLDER, { recursive: true });
const file = join(FOLDER, 'sbom.cdx.json');
// Nothing of what it brings may run at its installation; what it leaves out with that validates XML.
const fetched = ['exec', '--yes', '--ignore-scripts', '--omit=optional', `--package=${PROGRAM}`, '--'];
const apps = globSync('apps/*', { cwd: ROOT }).sort();
const options = [
  '--omit',
  'dev',
  '--no-include-workspace-root',
  '--flatten-components',
  '--output-reproducible',
];
execFileSync(
  'npm',
  [
    ...fetched,
    'cyclonedx-npm',
    ...options,
    '--gather-license-texts',
    ...apps.flatMap((app) => ['--workspace', app]),
    '--output-file',
    file,
  ],
  { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] },
);
/** What Vite puts into the Console's files: they are dependencies of its development only, and so not in the list above. */
const BUNDLED = `
import { build } from 'vite';
const made = await build({ logLevel: 'silent', build: { write: false, license: { fileName: 'licenses.json' } } });
const { output } = [made].flat()[0];
console.log(output.find(({ fileName }) => fileName === 'licenses.json').source);`;
const bundled = execFileSync(process.execPath, ['--input-type=module', '-e', BUNDLED], {
  cwd: join(ROOT, 'apps/console'),
  encoding: 'utf8',
  maxBuffer: 16 * 2 ** 20,
});
const lock = readLock(ROOT);
const listed = JSON.parse(readFileSync(file, 'utf8')) as Bom;
const inConsole = bundledComponents(JSON.parse(bundled) as Bundled[], lock);
const bom = withDigests({ ...listed, components: [...listed.components, ...inConsole] }, lock);
writeFileSync(file, `${JSON.stringify(bom, undefined, 2)}\n`);
writeFileSync(join(FOLDER, 'third-party-notices.md'), noticesOf(bom));
console.log(`${String(bom.components.length)} packages, in ${FOLDER}`);
