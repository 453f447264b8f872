/**
 * Makes `dist` of the library in the working folder what is published: `npm publish dist`. Run by its build.
 *
 * The library's own package.json points into its sources, which the repository reads; who installs it gets compiled
 * files and their types.
 */
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { VERSION } from '../docs/release.ts';

interface Manifest {
  name: string;
  description: string;
  license: string;
  sideEffects: boolean;
  engines?: Record<string, string>;
  exports: Record<string, { default: string }>;
  dependencies?: Record<string, string>;
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
const { name, description, license, sideEffects, engines, dependencies } = manifest;

/** `./dist/node.js` in the repository is `./node.js` beside its types. */
const entries: Record<string, object> = {};
for (const [entry, { default: path }] of Object.entries(manifest.exports)) {
  const file = `./${basename(path, '.js')}`;
  entries[entry] = { types: `${file}.d.ts`, default: `${file}.js` };
}

const published = {
  name,
  version: VERSION,
  description,
  license,
  type: 'module',
  sideEffects,
  ...(engines ? { engines } : {}),
  exports: { ...entries, './package.json': './package.json' },
  // For tools that do not read `exports`.
  main: './index.js',
  types: './index.d.ts',
  ...(dependencies ? { dependencies } : {}),
};

writeFileSync('dist/package.json', `${JSON.stringify(published, null, 2)}\n`);
if (existsSync('README.md')) copyFileSync('README.md', 'dist/README.md');
