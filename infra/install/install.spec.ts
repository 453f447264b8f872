import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

describe('who runs on the packages', () => {
  let root: string;
  const running: ChildProcess[] = [];
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'packages-'));
    writeFileSync(
      join(root, 'package-lock.json'),
      JSON.stringify({ packages: { 'node_modules/a': { version: '1.0.0' } } }),
    );
  });
  afterEach(async () => {
    for (const child of running.splice(0)) {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
    rmSync(root, { recursive: true });
  });

  /** A command that begins with the packages; `npm` is a program that does what `npm ci` does. */
  function command(name: string, npm: string) {
    const bin = mkdtempSync(join(root, 'bin-'));
    writeFileSync(join(bin, 'npm'), `#!/bin/sh\necho ran >> ran\n${npm}\n`, { mode: 0o755 });
    const script = `import { usePackages } from ${JSON.stringify(join(import.meta.dirname, 'install.mjs'))};
      await usePackages(process.argv[1], process.argv[2], console.log)
        .then(() => console.log('goes on'), ({ message }) => console.log(message));
      setInterval(() => undefined, 1_000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, root, name], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_OPTIONS: '', PATH: `${bin}:${process.env['PATH'] ?? ''}` },
    });
    running.push(child);
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const shows = async (text: string): Promise<string> => {
      while (!output.includes(text)) await once(child.stdout, 'data');
      return output;
    };
    return { child, shows };
  }

  const INSTALL = `mkdir -p node_modules/node/bin && : > node_modules/node/bin/node &&
    echo '{"packages":{"node_modules/a":{"version":"1.0.0"}}}' > node_modules/.package-lock.json`;
  const timesRun = (): number => readFileSync(join(root, 'ran'), 'utf8').split('\n').length - 1;

  it('keeps them: they are not installed anew under it, and are when it has ended', async () => {
    const first = command('npm start', INSTALL);
    await first.shows('goes on');
    writeFileSync(
      join(root, 'package-lock.json'),
      JSON.stringify({ packages: { 'node_modules/a': { version: '2.0.0' } } }),
    );
    const told = await command('npm test', INSTALL).shows('first');
    expect(told).toBe(
      `The packages must be installed anew (node_modules/a is 1.0.0, 2.0.0 is wanted), and npm start (process ${String(first.child.pid)}) runs on those that are there: stop it first, then start again.\n`,
    );
    expect(timesRun()).toBe(1);
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    await command('npm test', INSTALL.replace('1.0.0', '2.0.0')).shows('goes on');
    expect(timesRun()).toBe(2);
  });

  it('waits for another that installs them, and installs nothing twice', async () => {
    const first = command('npm start', `while [ ! -e go ]; do sleep 0.05; done; ${INSTALL}`);
    await first.shows('Installing packages');
    const second = command('npm test', INSTALL);
    await second.shows(`Waiting for npm start (process ${String(first.child.pid)})`);
    writeFileSync(join(root, 'go'), '');
    await Promise.all([first.shows('goes on'), second.shows('goes on')]);
    expect(timesRun()).toBe(1);
  });

  it('takes npm with it when it is ended, and says that it was', async () => {
    const first = command('npm start', 'echo $$ > npm.pid; while :; do sleep 0.05; done');
    await first.shows('Installing packages');
    while (!existsSync(join(root, 'npm.pid'))) await new Promise((wait) => setTimeout(wait, 20));
    first.child.kill('SIGTERM');
    expect(await first.shows('Stopped')).toContain(
      'Stopped (SIGTERM) while packages were being installed: start again to go on.',
    );
    const npm = Number(readFileSync(join(root, 'npm.pid'), 'utf8'));
    expect(() => process.kill(npm, 0)).toThrow('ESRCH');
  });
});
