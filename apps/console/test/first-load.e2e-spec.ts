import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { buildAll, WORKSPACE } from '@customer-platform/testing';

/** What a page may have loaded before it is drawn (console.md), in gzip: who takes Brotli gets less. */
const MOST_BYTES = 200_000;
const WEB = join(WORKSPACE, 'apps/console/dist/web');

let imports: Map<string, string[]>;
let first: string[];
beforeAll(async () => {
  await buildAll();
  const scripts = readdirSync(join(WEB, 'assets')).filter((name) => name.endsWith('.js'));
  imports = new Map(scripts.map((name) => [name, importedBy(read(`assets/${name}`))]));
  first = named(read('index.html'), /"\/console\/assets\/([^"]+\.js)"/g);
});

const read = (path: string): string => readFileSync(join(WEB, path), 'utf8');
const named = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, name = '']) => name);
/** What a file cannot run without; `import(…)` is what comes when it is asked for. */
const importedBy = (code: string): string[] => named(code, /(?:from|import)\s*["'`]\.\/([^"'`]+\.js)["'`]/g);

function withImports(names: readonly string[]): Set<string> {
  const all = new Set(names);
  for (const name of all) for (const imported of imports.get(name) ?? []) all.add(imported);
  return all;
}

function bytesOf(name: string): number {
  const path = join(WEB, 'assets', name);
  return statSync(existsSync(`${path}.gz`) ? `${path}.gz` : path).size;
}

describe('the first load', () => {
  it('of every page of the Console is within what a page may cost', () => {
    const pages = [...imports.keys()].filter((name) => /-page-[\w-]+\.js$/.test(name));
    expect(pages.length).toBeGreaterThan(30);
    const sizes = pages.map((page) => {
      const bytes = [...withImports([...first, page])].reduce((sum, name) => sum + bytesOf(name), 0);
      return { page: page.replace(/-[\w-]{8}\.js$/, ''), bytes };
    });
    expect(sizes.filter(({ bytes }) => bytes > MOST_BYTES)).toEqual([]);
  });
});
