import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transformSync, version } from '@swc/core';

/** The workspace whose sources are loaded. */
let root = '';
let rootUrl = '';
let swc = '';
let cache = '';

/** What `@jest/globals` is: the functions of the file that runs. */
const GLOBALS_URL = 'jest-globals:of-this-file';
/** Where the runner puts them. */
export const GLOBALS = Symbol.for('customer-platform.jest-globals');
const GLOBALS_SOURCE = `
  const given = globalThis[Symbol.for(${JSON.stringify(GLOBALS.description)})];
  export const { jest, expect, describe, it, test, beforeAll, beforeEach, afterAll, afterEach } = given;
`;

/** The source map of each module by its URL, by which stack frames name it. */
export const sourceMaps = new Map();

/**
 * Modules that only tests import: they hold hooks, topics and what else belongs to one file, and are evaluated anew for
 * each.
 */
const OF_TESTS =
  /(?:\.fixture|\.suite|[.-]spec)\.ts$|\/libs\/testing\/src\/|\/(?:apps|libs)\/[a-z-]+\/test\//;

let file = 0;

/** What `npm run mutants` puts in: what stands from `start` to `end` of a file is replaced. */
const fault = process.env.MUTANT === undefined ? undefined : JSON.parse(process.env.MUTANT);

/** Begins a spec file. @returns the query that its modules carry */
export function beginFile() {
  file += 1;
  return `?file=${String(file)}`;
}

/** Loads TypeScript of the workspace as Node's own ES modules: libraries from their sources, each file compiled once. */
export function loadSourcesOf(folder) {
  if (root !== '') return;
  root = folder;
  rootUrl = `${pathToFileURL(root).href}/`;
  swc = readFileSync(join(root, '.swcrc'), 'utf8');
  cache = join(root, 'node_modules/.cache/customer-platform/sources');
  registerHooks(HOOKS);
}

const HOOKS = {
  resolve(specifier, context, next) {
    if (specifier === '@jest/globals') return { url: `${GLOBALS_URL}${String(file)}`, shortCircuit: true };
    const url = libraryOf(specifier) ?? typescriptOf(specifier, context.parentURL);
    if (url === undefined) return next(specifier, context);
    const query = OF_TESTS.test(url) ? `?file=${String(file)}` : '';
    return { url: url.replace(/\?.*$/, '') + query, format: 'module', shortCircuit: true };
  },
  load(url, context, next) {
    if (url.startsWith(GLOBALS_URL)) return { format: 'module', source: GLOBALS_SOURCE, shortCircuit: true };
    return isOurs(url) ? { format: 'module', source: compiled(url), shortCircuit: true } : next(url, context);
  },
};

function isOurs(url) {
  return url.startsWith(rootUrl) && !url.includes('/node_modules/') && /\.tsx?(?:\?|$)/.test(url);
}

/** A library's sources in place of what it is built into. */
function libraryOf(specifier) {
  const name = /^@customer-platform\/([a-z-]+)$/.exec(specifier)?.[1];
  const index = name === undefined ? undefined : join(root, 'libs', name, 'src/index.ts');
  return index !== undefined && existsSync(index) ? pathToFileURL(index).href : undefined;
}

/** The TypeScript file that one of ours means by a relative specifier, which ends as the compiled one will. */
function typescriptOf(specifier, parent) {
  if (parent === undefined || !/^(?:\.{1,2}\/|file:)/.test(specifier)) return undefined;
  const wanted = new URL(specifier, parent).href;
  if (!wanted.startsWith(rootUrl) || wanted.includes('/node_modules/')) return undefined;
  if (/\.tsx?(?:\?|$)/.test(wanted)) return wanted;
  if (!/\.jsx?$/.test(wanted) || existsSync(fileURLToPath(wanted))) return undefined;
  return ['.ts', '.tsx']
    .map((extension) => wanted.replace(/\.jsx?$/, extension))
    .find((url) => existsSync(fileURLToPath(url)));
}

function compiled(url) {
  const path = fileURLToPath(url.replace(/\?.*$/, ''));
  const text = withFault(path, readFileSync(path, 'utf8'));
  const digest = createHash('sha256').update(`${version}\0${swc}\0${path}\0${text}`).digest('hex');
  const code = join(cache, digest.slice(0, 2), `${digest}.mjs`);
  const map = `${code}.map`;
  sourceMaps.set(url, map);
  if (!existsSync(code)) {
    const output = transformSync(text, { ...JSON.parse(swc), swcrc: false, filename: path });
    mkdirSync(dirname(code), { recursive: true });
    writeWhole(map, output.map ?? '');
    writeWhole(code, output.code);
  }
  return readFileSync(code, 'utf8');
}

/** The text of a source, with the fault that `npm run mutants` puts into one of them. */
function withFault(path, text) {
  if (fault === undefined || join(root, fault.path) !== path) return text;
  return text.slice(0, fault.start) + fault.replacement + text.slice(fault.end);
}

/** Writes all or nothing, for the other worker may read it meanwhile. */
function writeWhole(path, text) {
  const draft = `${path}.${String(process.pid)}`;
  writeFileSync(draft, text);
  renameSync(draft, path);
}
