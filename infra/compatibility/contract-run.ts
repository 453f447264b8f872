import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { jestTotals, type JestResult, type Totals } from '../test/totals.ts';

/** Jest's JSON, as far as it is read here. */
interface Result extends JestResult {
  testResults: {
    name: string;
    message: string;
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[];
  }[];
}

/** A test that failed, or a file that could not be run. */
export interface Failure {
  file: string;
  test: string;
  /** The first line of what went wrong. */
  message: string;
}

/** How a part of a release's tests ended. */
export interface ContractRun extends Totals {
  files: number;
  failures: Failure[];
  seconds: number;
}

const NODE_OPTIONS = '--experimental-vm-modules --no-warnings --max-old-space-size=6144';

/** Runs spec files of a checkout by its own Jest, on the servers that this process's environment names. */
export async function runSpecs(
  root: string,
  files: readonly string[],
  { report, env = {} }: { report: string; env?: Record<string, string> },
): Promise<ContractRun> {
  const started = performance.now();
  if (files.length === 0) return { files: 0, failures: [], seconds: 0, passed: 0, failed: 0, skipped: 0 };
  const child = spawn(
    join(root, 'node_modules/node/bin/node'),
    [
      join(root, 'node_modules/jest/bin/jest.js'),
      ...['--ci', '--json', `--outputFile=${report}`, '--silent', '--runTestsByPath', ...files],
    ],
    {
      cwd: root,
      stdio: ['ignore', 'ignore', 'ignore'],
      env: { ...process.env, ...env, NODE_OPTIONS, NO_COLOR: '1' },
    },
  );
  const end = (): void => void child.kill();
  process.once('exit', end);
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  process.off('exit', end);
  const result = existsSync(report) ? (JSON.parse(readFileSync(report, 'utf8')) as Result) : undefined;
  return {
    ...jestTotals(result, status),
    files: files.length,
    failures: result ? failuresOf(root, result) : [],
    seconds: (performance.now() - started) / 1_000,
  };
}

function failuresOf(root: string, { testResults }: Result): Failure[] {
  return testResults.flatMap(({ name, message, assertionResults }) => {
    const file = relative(root, name);
    const failed = assertionResults.filter(({ status }) => status === 'failed');
    if (failed.length === 0 && message !== '') return [{ file, test: '', message: firstLine(message) }];
    return failed.map(({ fullName: test, failureMessages }) => ({
      file,
      test,
      message: firstLine(failureMessages.join('\n')),
    }));
  });
}

/** What says most in one line; colours and stack are left out. */
function firstLine(message: string): string {
  const plain = message.replaceAll(/\u001B\[[\d;]*m/g, '');
  return (
    plain
      .split('\n')
      .find((line) => line.trim() !== '')
      ?.trim()
      .slice(0, 200) ?? ''
  );
}
