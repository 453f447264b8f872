import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from './cache.mjs';

const ROOT = join(import.meta.dirname, '../..');

describe('the folder of what is fetched once', () => {
  it.each([
    [{}, 'linux', '/home/josé/.cache/customer-platform'],
    [{}, 'darwin', '/home/josé/Library/Caches/customer-platform'],
    [{ XDG_CACHE_HOME: '/caches' }, 'linux', '/caches/customer-platform'],
    [{ CUSTOMER_PLATFORM_CACHE: '/own', XDG_CACHE_HOME: '/caches' }, 'linux', '/own'],
    [{ CUSTOMER_PLATFORM_CACHE: '' }, 'linux', '/home/josé/.cache/customer-platform'],
  ] as const)('with %j on %s is %s', (env, platform, folder) => {
    expect(cacheFolder(env, platform, '/home/josé')).toBe(folder);
  });

  it('is nobody’s guess: whoever fetches something asks for it', () => {
    const sources = globSync('{infra,libs,apps}/**/*.{ts,mts,mjs}', {
      cwd: ROOT,
      exclude: (path) => /^(node_modules|dist)$/.test(path),
    });
    const guessing = sources.filter(
      (file) =>
        !file.endsWith('.spec.ts') &&
        /\.cache\/customer-platform'/.test(readFileSync(join(ROOT, file), 'utf8')),
    );
    expect(guessing).toEqual(['infra/local/platform/build.ts']); // the record of a build goes with the packages it used
  });
});
