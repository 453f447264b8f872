/**
 * `npm run client:runtimes`: the packed client and the packed sender in Bun and in Deno, beside every Node of this machine.
 * Both runtimes come from the registry as packages that hold the program itself, 100 MB each, into a folder that is taken
 * away afterwards: too much for everybody's `npm ci`. `npm test` asks them where they are on the PATH.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const SPECS = ['libs/client/src/package.spec.ts', 'libs/track/src/package.spec.ts'];
const CASES = 'every Node, Bun and Deno|keep a queue to one process';
const BUN = '1.4.5';
const DENO = '2.9.6';

interface Runtime {
  name: string;
  version: string;
  /** The package of this machine, and the program in it. */
  package: string;
  program: string;
}

const PACKAGES: Readonly<Record<string, { bun: string; deno: string }>> = {
  'linux-x64': { bun: '@oven/bun-linux-x64', deno: '@deno/linux-x64-glibc' },
  'linux-arm64': { bun: '@oven/bun-linux-aarch64', deno: '@deno/linux-arm64-glibc' },
  'darwin-x64': { bun: '@oven/bun-darwin-x64', deno: '@deno/darwin-x64' },
  'darwin-arm64': { bun: '@oven/bun-darwin-aarch64', deno: '@deno/darwin-arm64' },
};

/** @throws Error where none is made for this machine */
function runtimesOfThisMachine(): Runtime[] {
  const machine = `${process.platform}-${process.arch}`;
  const packages = PACKAGES[machine];
  if (packages === undefined) throw new Error(`There is no Bun or Deno for ${machine} here.`);
  return [
    { name: 'bun', version: BUN, package: packages.bun, program: 'bin/bun' },
    { name: 'deno', version: DENO, package: packages.deno, program: 'deno' },
  ];
}

/** @throws Error where it ends with another code than 0 */
function run(command: string, words: string[], options: { cwd: string; env?: NodeJS.ProcessEnv }): void {
  const { status, error } = spawnSync(command, words, { ...options, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${command} ${words.join(' ')} ended with ${status ?? error?.message}`);
}

function main(): void {
  const runtimes = runtimesOfThisMachine();
  const folder = mkdtempSync(join(tmpdir(), 'runtimes-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save'];
    const wanted = runtimes.map((runtime) => `${runtime.package}@${runtime.version}`);
    run('npm', ['install', ...quiet, ...wanted], { cwd: folder });
    const programs = join(folder, 'bin');
    mkdirSync(programs);
    for (const runtime of runtimes) {
      const program = join(folder, 'node_modules', runtime.package, runtime.program);
      chmodSync(program, 0o755);
      symlinkSync(program, join(programs, runtime.name));
    }
    const PATH = [programs, process.env['PATH']].join(delimiter);
    const RUNTIMES = runtimes.map(({ name }) => name).join(',');
    const words = ['run', '--silent', 'jest', '--', ...SPECS, '-t', CASES];
    run('npm', words, { cwd: ROOT, env: { ...process.env, PATH, RUNTIMES } });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

try {
  main();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
