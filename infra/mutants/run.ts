/**
 * `npm run mutants -- [--count N] [--seed N] [--specs N] [PATH…]`
 *
 * Puts small faults into the sources, one at a time, and looks whether a test fails: a comparison turned, a condition or
 * a term of a WHERE left out, a lock or an await forgotten, a limit off by one, another permission's name, a field
 * without one of its decorators. Chosen by chance from all apps and libraries, or from what lies under the paths; the
 * same for a seed. First every spec file is run once, and what lines it runs is noted; then of each fault the nearest
 * files, at most `--specs`, up to the first that fails. Walks, which run what is built, take no part.
 *
 * What is known is kept in `.data/mutants`, by the text of a fault's line: a run that was stopped goes on.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import startTestServices, { endTestServices } from '../test/global-setup.ts';
import { readCoverage, specsOf, type Coverage } from './coverage.ts';
import { draw, type Mutant, type Source } from './draw.ts';
import { Ledger, type Judged } from './ledger.ts';
import { KINDS, mutationsOf } from './mutations.ts';

const root = resolve(import.meta.dirname, '../..');
const data = join(root, '.data/mutants');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    specs: { type: 'string', default: '1000' },
  },
});
const HANGS_AFTER_MS = 600_000;
const RECORDS_WITHIN_MS = 7_200_000;
const say = (line: string): void => void process.stdout.write(`${line}\n`);
let running: ChildProcess | undefined;
let stopping = false;

async function main(): Promise<void> {
  await startTestServices();
  try {
    const coverage = await coverageOf(join(data, 'coverage'));
    const ledger = new Ledger(join(data, 'ledger.json'));
    const drawn = draw(sources(), Number(values.count), Number(values.seed));
    const all: Judged[] = [];
    for (const [index, mutant] of drawn.entries()) {
      if (stopping) break;
      const known = ledger.of(mutant);
      const judged = known ?? (await judge(mutant, coverage));
      if (stopping) break;
      if (!known) ledger.note(judged);
      all.push(judged);
      say(`${index + 1} of ${drawn.length} ${described(judged)}`);
    }
    report(all);
  } finally {
    if (globalThis.testServices) await endTestServices(globalThis.testServices);
  }
}

function sources(): Source[] {
  const permissions = new Set(
    globSync('libs/permissions/src/*.permissions.ts', { cwd: root }).flatMap(named),
  );
  const under = positionals.length > 0 ? positionals : ['apps', 'libs'];
  return globSync('{apps,libs}/*/src/**/*.ts', { cwd: root })
    .filter((path) => under.some((folder) => path.startsWith(folder)))
    .filter((path) => !/\.(?:spec|fixture|suite|d)\.ts$|\/migrations\/|generated|^libs\/testing\//.test(path))
    .sort()
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      return { path, text, mutations: mutationsOf(path, text, permissions) };
    });
}

/** The permissions that a file of the registry names. */
function named(path: string): string[] {
  const names = readFileSync(join(root, path), 'utf8').matchAll(/^ {2}'([a-z_.]+)':/gm);
  return [...names].map(([, name = '']) => name);
}

/** What each spec file runs: noted once, and anew after the folder was removed. */
async function coverageOf(folder: string): Promise<Coverage[]> {
  if (!existsSync(folder)) {
    say('Running every spec file once, to see what it runs …');
    mkdirSync(folder, { recursive: true });
    await jest([...positionals, '--testMatch', '**/*.spec.ts'], { SPEC_COVERAGE: folder }, RECORDS_WITHIN_MS);
    if (stopping) rmSync(folder, { recursive: true });
  }
  return readCoverage(folder);
}

async function judge(mutant: Mutant, coverage: readonly Coverage[]): Promise<Judged> {
  const { path, start, end, replacement } = mutant;
  const specs = specsOf(coverage, path, mutant.line).slice(0, Number(values.specs));
  if (specs.length === 0) return { ...mutant, tried: 0 };
  const environment = {
    MUTANT: JSON.stringify({ path, start, end, replacement }),
    MUTANT_SPECS: JSON.stringify(specs),
  };
  const order = ['--testSequencer', join(import.meta.dirname, 'given-order.mjs')];
  const { status, output } = await jest(
    ['-i', '--bail', ...order, '--runTestsByPath', ...specs],
    environment,
  );
  if (status === undefined) return { ...mutant, tried: specs.length, hung: true };
  const by = /^FAIL (\S+)/m.exec(output)?.[1];
  if (status !== 0 && by === undefined) throw new Error(`Jest ended with ${status}: ${output.slice(-2_000)}`);
  return { ...mutant, tried: specs.length, ...(status === 0 ? {} : { by }) };
}

interface Ended {
  /** Undefined where it was ended from here. */
  readonly status: number | undefined;
  readonly output: string;
}

function jest(
  args: readonly string[],
  environment: Record<string, string>,
  withinMs = HANGS_AFTER_MS,
): Promise<Ended> {
  const { promise, resolve: tell } = Promise.withResolvers<Ended>();
  const child = spawn(process.execPath, ['node_modules/jest/bin/jest.js', '--colors=false', ...args], {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  running = child;
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => output.push(String(chunk)));
  const late = setTimeout(end, withinMs);
  child.once('close', (code) => {
    clearTimeout(late);
    running = undefined;
    tell({ status: code ?? undefined, output: output.join('') });
  });
  return promise;
}

/** Ends the run of Jest, and what it has started. */
function end(): void {
  if (running?.pid !== undefined) process.kill(-running.pid, 'SIGKILL');
}

function described({ kind, path, line, before, after, by, hung, tried }: Judged): string {
  const place = `${kind} ${path}:${line}`;
  if (by !== undefined) return `caught by ${by}: ${place}`;
  if (hung) return `caught, for it does not end: ${place}`;
  const told = tried === 0 ? 'RUN BY NO SPEC' : `SURVIVED ${tried} files`;
  return `${told}: ${place}\n    - ${before}\n    + ${after}`;
}

function report(all: readonly Judged[]): void {
  say('\nkind          put in   caught   survived   run by no spec');
  for (const kind of KINDS) {
    const of = all.filter((each) => each.kind === kind);
    const caught = of.filter(({ by, hung }) => by !== undefined || hung).length;
    const unseen = of.filter(({ tried }) => tried === 0).length;
    const figures = [of.length, caught, of.length - caught - unseen, unseen];
    say(
      `${kind.padEnd(12)} ${figures.map((figure, index) => String(figure).padStart([7, 8, 10, 16][index] ?? 0)).join(' ')}`,
    );
  }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    stopping = true;
    process.exitCode = 130;
    end();
  });

await main();
