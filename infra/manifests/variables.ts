import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as pieces from '@customer-platform/config';

const root = join(import.meta.dirname, '../..');
const OWN = '@customer-platform/';
/** The part of a name after a piece of libs/config that takes some of its variables, or none for all of them. */
const USE = /\b([a-z]\w*Config)\b(\.pick\(\{([^}]*)\}|\.pick\(\w+\)|\.shape\.(\w+))?/g;
/** A file with variables of its own. */
const OWN_SCHEMA = /\bz\.object\(|\.extend\(\{\s|\.pick\(\w+\)/;
const KEY = /(?<=[\s{])([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)(?=: )/g;

/** Files of a project that run: no tests, nothing that only tests use. */
function sourcesOf(folder: string): string[] {
  // Of the Console, what runs in browsers reads none.
  return globSync(`${folder}/{src,server}/**/*.ts`, { cwd: root }).filter(
    (file) => !/\.(spec|fixture)\.ts$/.test(file),
  );
}

/** The libraries an app is made of, through those that it names itself. */
function librariesOf(folder: string, found = new Set<string>()): Set<string> {
  const { dependencies = {} } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>;
  };
  for (const name of Object.keys(dependencies)) {
    const library = `libs/${name.slice(OWN.length)}`;
    if (!name.startsWith(OWN) || found.has(library)) continue;
    found.add(library);
    librariesOf(library, found);
  }
  return found;
}

/** Every variable that an app reads, from the places that call `readConfig` and the pieces of libs/config named there. */
export function variablesOf(app: string): Set<string> {
  const folders = [
    `apps/${app}`,
    ...[...librariesOf(`apps/${app}`)].filter((name) => name !== 'libs/config'),
  ];
  const names = new Set<string>();
  for (const file of folders.flatMap(sourcesOf)) {
    const text = readFileSync(join(root, file), 'utf8').replaceAll(/^import [^;]*;/gms, '');
    if (!text.includes('readConfig(')) continue;
    if (OWN_SCHEMA.test(text)) for (const [name] of text.matchAll(KEY)) names.add(name);
    for (const [, piece = '', use, picked, one] of text.matchAll(USE))
      for (const name of variablesOfUse(piece, use, picked, one)) names.add(name);
  }
  return names;
}

function variablesOfUse(piece: string, use?: string, picked?: string, one?: string): string[] {
  if (one !== undefined) return [one];
  if (picked !== undefined) return [...picked.matchAll(/[A-Z_]{2,}/g)].map(([name]) => name);
  if (use !== undefined) return []; // picks by a constant of the same file, whose keys were found there
  const schema: unknown = pieces[piece as keyof typeof pieces];
  return schema !== null && typeof schema === 'object' && 'shape' in schema
    ? Object.keys(schema.shape as object)
    : [];
}
