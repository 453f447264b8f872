import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { staleness } from './install.mjs';

type Packages = Record<string, Record<string, unknown>>;

describe('what is installed against package-lock.json', () => {
  const roots: string[] = [];
  afterAll(() => roots.forEach((root) => rmSync(root, { recursive: true })));

  function checkout(
    wanted: Packages,
    installed?: Packages,
    files: string[] = ['node_modules/node/bin/node'],
  ) {
    const root = mkdtempSync(join(tmpdir(), 'install-'));
    roots.push(root);
    const write = (path: string, text: string): void => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    };
    write('package-lock.json', JSON.stringify({ packages: wanted }));
    if (installed) write('node_modules/.package-lock.json', JSON.stringify({ packages: installed }));
    for (const file of files) write(file, '');
    return root;
  }

  const zod = { 'node_modules/zod': { version: '4.6.7' } };

  it('is fresh when every version is the one wanted', () => {
    expect(staleness(checkout({ '': {}, ...zod }, zod))).toBeUndefined();
  });

  it('is stale before the first installation', () => {
    expect(staleness(checkout(zod))).toBe('no packages are installed');
  });

  it('is stale when an installation ended before Node was there', () => {
    expect(staleness(checkout(zod, zod, []))).toBe('Node 24 is not installed');
  });

  it('is stale when a version differs or a package is absent, and names it', () => {
    const other = { 'node_modules/zod': { version: '4.6.6' } };
    expect(staleness(checkout(zod, other))).toBe('node_modules/zod is 4.6.6, 4.6.7 is wanted');
    expect(staleness(checkout(zod, {}))).toBe('node_modules/zod is absent, 4.6.7 is wanted');
  });

  it('is stale when a workspace is not linked', () => {
    const link = { 'node_modules/@customer-platform/core': { resolved: 'apps/core', link: true } };
    expect(staleness(checkout(link, {}))).toBe(
      'node_modules/@customer-platform/core (apps/core) is not linked',
    );
  });

  it('does not ask for packages of other machines', () => {
    const optional = { 'node_modules/@swc/core-darwin-arm64': { version: '1.16.22', optional: true } };
    expect(staleness(checkout(optional, {}))).toBeUndefined();
  });
});
