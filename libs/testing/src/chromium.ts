import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { MissingProgram } from './missing-program.js';

export type { Browser, Page };

const require = createRequire(import.meta.url);
const PACKAGE = '@sparticuz/chromium';
/** Inflates the browser and, because the machine may lack them, the libraries that it is linked to. */
const INFLATE = `
import { join } from 'node:path';
import chromium, { inflate } from '${PACKAGE}';
await chromium.executablePath();
await inflate(join(process.argv[1], 'al2023.tar.br'));`;

/**
 * A real Chromium: the one named in CHROMIUM, else the one inside an npm package, which is for Linux on x64.
 * @throws MissingProgram elsewhere
 */
export async function startChromium(): Promise<Browser> {
  // Few tests need it, and it takes long to load.
  const { chromium } = await import('playwright-core');
  const given = process.env['CHROMIUM'];
  const args = ['--no-sandbox'];
  if (given !== undefined) return chromium.launch({ executablePath: given, args });
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new MissingProgram('CHROMIUM names no browser: give the path of a Chromium or Chrome.');
  const folder = await inflated();
  const LD_LIBRARY_PATH = [join(folder, 'al2023', 'lib'), process.env['LD_LIBRARY_PATH'] ?? ''].join(':');
  return chromium.launch({
    executablePath: join(folder, 'chromium'),
    args,
    env: { ...process.env, LD_LIBRARY_PATH },
  });
}

/** Where the browser lies; inflated once for all runs, whole or not at all. */
async function inflated(): Promise<string> {
  const home = dirname(dirname(dirname(require.resolve(PACKAGE))));
  const { version } = JSON.parse(await readFile(join(home, 'chromium', 'package.json'), 'utf8')) as {
    version: string;
  };
  const folder = join(dirname(home), '.cache', `chromium-${version}`);
  if (existsSync(folder)) return folder;
  const own = `${folder}.${String(process.pid)}`;
  await mkdir(own, { recursive: true });
  const bin = join(home, 'chromium', 'bin');
  // The package inflates into the folder for temporary files, which a process has one of.
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', INFLATE, bin], {
    cwd: dirname(import.meta.filename),
    env: { ...process.env, TMPDIR: own, NODE_OPTIONS: '' },
  });
  try {
    await rename(own, folder);
  } catch (error) {
    // Another run was faster; its browser is as good.
    if (!existsSync(folder)) throw error;
    await rm(own, { recursive: true });
  }
  return folder;
}
