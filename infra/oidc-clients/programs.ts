import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '@customer-platform/kit/cache.mjs';
import { findGo } from '@customer-platform/kit/go-program.ts';
import { walkOutside } from './outside-program.ts';
import type { Client } from './walk.ts';

const run = promisify(execFile);
const MADE_WITHIN_MS = 300_000;
const AUTHLIB = ['authlib==1.9.9', 'joserfc==1.8.0', 'requests==2.34.2'];

/** Go's own libraries; the program is built anew, by what Go has kept. @throws Error with the remedy */
export async function goClient(root: string): Promise<Client> {
  const go = await findGo();
  if (go === undefined) throw new Error('Go is not on the path: https://go.dev/doc/install');
  // Of this checkout: it is built of its sources.
  const program = join(root, '.data/bin/oidc-client-go');
  mkdirSync(dirname(program), { recursive: true });
  const source = join(import.meta.dirname, 'go');
  await run(go, ['build', '-o', program, '.'], { cwd: source, timeout: MADE_WITHIN_MS });
  return {
    name: 'golang.org/x/oauth2 and go-oidc (Go)',
    walk: (subject, person, tell) => walkOutside([program], subject, person, tell),
  };
}

/** Authlib, in a virtual environment of its own, made by pip the first time. @throws Error with the remedy */
export async function pythonClient(say: (line: string) => void): Promise<Client> {
  const folder = join(cacheFolder(), AUTHLIB.join('-').replaceAll('==', '-'));
  const python = join(folder, 'bin/python');
  const walk = join(import.meta.dirname, 'python/walk.py');
  // Written last: without it the installation has not come to its end.
  if (!existsSync(join(folder, 'complete'))) await install(folder, say);
  return {
    name: 'Authlib (Python)',
    walk: (subject, person, tell) => walkOutside([python, walk], subject, person, tell),
  };
}

async function install(folder: string, say: (line: string) => void): Promise<void> {
  say('installing Authlib with pip, once …');
  rmSync(folder, { recursive: true, force: true });
  const limit = { timeout: MADE_WITHIN_MS };
  try {
    await run('python3', ['-m', 'venv', folder], limit);
    const packages = ['install', '--quiet', '--disable-pip-version-check', ...AUTHLIB];
    await run(join(folder, 'bin/pip'), packages, limit);
    mkdirSync(join(folder, 'complete'));
  } catch (cause) {
    const reason = (cause as Error).message.trim().split('\n').at(-1);
    throw new Error(`Authlib needs Python 3.10 or newer with venv and pip: ${reason ?? ''}`, { cause });
  }
}
