import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { consoleIsBuilt } from './console.ts';
import { APPS, ROOT, mainOf } from './modules.ts';

const SOURCES = [
  '{apps,libs}/*/src/**/*',
  '{apps,libs}/*/package.json',
  'apps/console/*.{html,ts}',
  'apps/console/{public,server}/**/*',
  '.swcrc',
  'nx.json',
];
/** Of this checkout, and gone when its packages are installed anew: they are built with. */
const RECORD = join(ROOT, 'node_modules/.cache/customer-platform', 'built');

/**
 * Builds all apps and libraries where a source has changed since the last build from here. Nx knows that too, but
 * needs three seconds to say so.
 * @returns whether anything was built.
 */
export async function build(): Promise<boolean> {
  const before = fingerprint();
  const built = existsSync(RECORD) ? readFileSync(RECORD, 'utf8') : undefined;
  if (built === before && consoleIsBuilt() && APPS.every((app) => existsSync(mainOf(app)))) return false;
  try {
    await promisify(execFile)(
      process.execPath,
      [join(ROOT, 'node_modules/.bin/nx'), 'run-many', '-t', 'build', '--output-style=static'],
      { cwd: ROOT, env: { ...process.env, NX_DAEMON: 'false', FORCE_COLOR: '0' }, maxBuffer: 64 * 2 ** 20 },
    );
  } catch (cause) {
    const { stdout = '', stderr = '' } = cause as { stdout?: string; stderr?: string };
    throw new Error(`The build failed:\n${`${stdout}\n${stderr}`.trim().split('\n').slice(-30).join('\n')}`, {
      cause,
    });
  }
  mkdirSync(dirname(RECORD), { recursive: true });
  writeFileSync(RECORD, before);
  return true;
}

/** Changes with the name or the text of any source: what generators write anew as it was is no change. */
function fingerprint(): string {
  const hash = createHash('sha256');
  for (const file of globSync(SOURCES, { cwd: ROOT }).sort()) {
    if (statSync(join(ROOT, file)).isFile()) hash.update(`${file}\0`).update(readFileSync(join(ROOT, file)));
  }
  return hash.digest('hex');
}

/** Changes with any built migration. */
export function migrationsFingerprint(): string {
  return digestOf(['apps/*/dist/migrations/**/*.js', 'libs/database/dist/migrations/**/*.js']);
}

/** Changes with anything that migrations could be made of: any built file, and any installed package. */
export function builtFingerprint(): string {
  return digestOf(['{apps,libs}/*/dist/**/*.js', 'node_modules/.package-lock.json']);
}

function digestOf(patterns: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of globSync(patterns, { cwd: ROOT }).sort())
    hash.update(`${file}\0`).update(readFileSync(join(ROOT, file)));
  return hash.digest('hex');
}
