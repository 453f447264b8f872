import { spawn } from 'node:child_process';
import { foreground } from '@customer-platform/kit/foreground.ts';
import { findGoProgram } from '@customer-platform/kit/go-program.ts';

const K6 = { name: 'k6', module: 'go.k6.io/k6', version: 'v1.8.1', probe: ['version'] };

/** Where k6 is: `$K6`, on the PATH, or built once into `.data/bin` by Go. @throws Error with the remedy. */
export function findK6(root: string, say: (line: string) => void): Promise<string> {
  return findGoProgram(K6, root, say);
}

/** Runs one k6 script to its end, behind the words of `prefix`, and has it write its summary. */
export async function runK6(
  k6: string,
  script: string,
  environment: Record<string, string>,
  summaryFile: string,
  prefix: readonly string[] = [],
): Promise<void> {
  const flags = Object.entries(environment).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  const run = ['run', '--quiet', '--no-usage-report', '--address', '', ...flags];
  const [program = k6, ...words] = [...prefix, k6, ...run, '-e', `SUMMARY=${summaryFile}`, script];
  const child = spawn(program, words, { stdio: ['ignore', 'ignore', 'inherit'] });
  const code = await foreground(child);
  if (code !== 0) throw new Error(`k6 ended with ${code}`);
}
