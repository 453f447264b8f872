/** Every check and test, as `npm test` and CI run them; `npm test -- --help` says which of them can be chosen, and how. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { markInUse } from '../kit/packages-in-use.mjs';
import { spent, tooFew } from './budgets.ts';
import { endSurvivors, run, signalChildren } from './child.ts';
import { isGreen, jestTotals, line, notJudged, sum, type JestResult, type Totals } from './totals.ts';

const root = join(import.meta.dirname, '../..');
const bin = (name: string): string => join(root, 'node_modules/.bin', name);
const STEPS = 'format lint types boundaries build generated migrations sql openapi manifests jest'.split(' ');
const paths: string[] = [];
const jestOptions: string[] = [];
let only: string[] | undefined;
/** Jest's configuration: of every run, or of what runs before a release. */
let configuration = 'jest.config.mjs';

for (let rest = process.argv.slice(2); rest.length > 0; rest = rest.slice(1)) {
  const [argument = '', next] = rest;
  if (argument === '--only') {
    only = next?.split(',') ?? [];
    rest = rest.slice(1);
  } else if (argument === '--release') {
    only = ['jest'];
    configuration = 'jest.release.config.mjs';
  } else if (argument.startsWith('-')) {
    jestOptions.push(...rest);
    break;
  } else paths.push(argument);
}

const unknown = only?.filter((name) => !STEPS.includes(name)) ?? [];
if (unknown.length > 0 || only?.length === 0) {
  console.error(`--only takes steps, with commas between them: ${STEPS.join(', ')}.`);
  process.exit(1);
}

type Step = () => Promise<Totals>;
/** Seconds of processor time that each part has used. */
const used = { checks: 0, tests: 0 };
const inParts = new Set(['format', 'lint', 'types', 'jest']);
const wanted = (name: string): boolean =>
  only ? only.includes(name) : paths.length === 0 || inParts.has(name);

/** The heap's bound is far above what a worker ends at by itself (`workerIdleMemoryLimit`): one file fits between them. */
const TEST_NODE_OPTIONS = '--max-old-space-size=6144';

const BUILD = `await (await import('./infra/local/platform/build.ts')).build()`;

/** What a check ends with where this machine lacks what it needs. */
const NOT_JUDGED = 77;

/** A check is one test: it passes, or what it printed is shown. One that could not be made is skipped, and says why. */
function check(name: string, title: string, command: string, args: string[]): Step {
  return async () => {
    if (!wanted(name)) return sum([]);
    const started = performance.now();
    if (process.stdout.isTTY) console.log(`… ${title}`);
    const { status, output, processor } = await run(command, args);
    used.checks += processor;
    const passed = ((performance.now() - started) / 1000).toFixed(1);
    const time = `${passed} s, ${processor.toFixed(1)} s of processor time`;
    if (status === NOT_JUDGED) {
      console.log(`○ ${title}: ${output}`);
      return { passed: 0, failed: 0, skipped: 1 };
    }
    console.log(`${status === 0 ? '✔' : '✘'} ${title} (${time})`);
    if (status !== 0)
      console.log(`${output.replaceAll(/^/gm, '    ')}\n    Again: npm test -- --only ${name}`);
    return { passed: status === 0 ? 1 : 0, failed: status === 0 ? 0 : 1, skipped: 0 };
  };
}

async function jest(): Promise<Totals> {
  if (!wanted('jest')) return sum([]);
  const folder = mkdtempSync(join(tmpdir(), 'customer-platform-test-'));
  const outputFile = join(folder, 'jest.json');
  try {
    const { status, processor } = await run(
      process.execPath,
      [
        join(root, 'node_modules/jest/bin/jest.js'),
        `--config=${join(root, configuration)}`,
        '--ci',
        '--json',
        `--outputFile=${outputFile}`,
        ...jestOptions,
        ...paths,
      ],
      { show: true, env: { NODE_OPTIONS: TEST_NODE_OPTIONS } },
    );
    used.tests = processor;
    const result = readResult(outputFile);
    for (const left of result ? notJudged(result) : []) console.log(`○ ${left}`);
    return jestTotals(result, status);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readResult(file: string): JestResult | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as JestResult;
  } catch (error) {
    console.error(`Jest left no result: ${String(error)}`);
    return undefined;
  }
}

async function leavesNoProcess(): Promise<Totals> {
  const left = await endSurvivors();
  if (left.length === 0) return sum([]);
  console.log(`✘ Processes were left behind (and are killed now):\n    ${left.join('\n    ')}`);
  return { passed: 0, failed: 1, skipped: 0 };
}

function hasAll({ passed, failed, skipped }: Totals): Totals {
  const lost = isWhole ? tooFew(passed + failed + skipped) : undefined;
  if (lost) console.log(`✘ ${lost}`);
  return { passed: 0, failed: lost ? 1 : 0, skipped: 0 };
}

async function inOrder(steps: Step[]): Promise<Totals> {
  const totals: Totals[] = [];
  for (const step of steps) totals.push(await step());
  return sum(totals);
}

let stopping = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    signalChildren(signal);
    if (!stopping) void endSurvivors().then(() => process.exit(130));
    stopping = true;
  });

process.chdir(root);
await markInUse(root, 'npm test');
const node = process.execPath;
/** The project that a path is of: the package's folder, or all of infra. */
const projectOf = (path: string): string =>
  path.startsWith('infra') ? 'infra' : path.split('/').slice(0, 2).join('/');
const folders = [...new Set(paths.map(projectOf))];
const projects = folders.length > 0 ? ['-p', folders.join(',')] : [];
const ofEach = (name: string, title: string, target: string): Step =>
  check(name, title, bin('nx'), ['run-many', '-t', target, ...projects, '--output-style=static']);
/** Each linter in one process, which reads once what the projects share. */
const lint = [
  check('lint', 'Lint', node, [
    'infra/lint/run.ts',
    ...(paths.length > 0 ? ['--no-warn-ignored', ...paths] : ['.']),
  ]),
  check('lint', 'Lint that reads types', node, [
    bin('oxlint'),
    '--type-aware',
    ...(paths.length > 0 ? paths : ['apps', 'libs', 'infra']),
  ]),
];
/** All programs in one process likewise, whatever packages are installed now. */
const types =
  folders.length > 0
    ? ofEach('types', 'Types', 'typecheck')
    : check('types', 'Types', node, [
        join(root, 'node_modules/typescript-native/bin/tsc'),
        '-b',
        '--force',
        '--checkers',
        '1',
      ]);
const isWhole = !only && paths.length === 0 && jestOptions.length === 0;
const checks = [
  ...lint,
  check('boundaries', 'Boundaries, and the fixtures that prove them', node, ['infra/boundaries/check.ts']),
  types,
  check('migrations', 'Migrations keep the release before working', node, [
    'infra/compatibility/check-migrations.ts',
  ]),
  check('sql', 'Statements fit the schemas, and their rows what is read of them', node, [
    'infra/sql/check.ts',
  ]),
  check('manifests', 'Manifests for Kubernetes and Docker Compose', node, ['infra/manifests/check.ts']),
  check('format', 'Format', node, [
    bin('prettier'),
    '--check',
    '--log-level=warn',
    ...(paths.length > 0 ? paths : ['.']),
  ]),
  check('openapi', 'The API keeps callers working', node, ['infra/compatibility/check-openapi.ts']),
];
/** Builds what whole platforms run before the first of them; nothing writes sources while they look at those. */
const first = await inOrder([
  folders.length > 0
    ? ofEach('build', 'Build', 'build')
    : check('build', 'Build', node, ['--input-type=module', '--eval', BUILD]),
  check('generated', 'Generated files are fresh', node, ['infra/docs/check.ts']),
]);
/** The tests wait for servers and for each other: the checks take the processors meanwhile. */
const all = await Promise.all([inOrder(checks), jest()]);
if (isWhole) console.log(`${spent('checks', used.checks)}\n${spent('tests', used.tests)}`);
const ran = sum([first, ...all]);
const totals = sum([ran, hasAll(ran), await leavesNoProcess()]);
console.log(`\n${line(totals)}`);
process.exitCode = isGreen(totals) ? 0 : 1;
