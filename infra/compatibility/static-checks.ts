import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '@customer-platform/local/platform/modules.ts';
import type { Row } from './report.ts';

/** What ends with this could not be run on this machine. */
const SKIPPED = 77;

/** squawk and oasdiff, as `npm test` runs them. */
export function staticChecks(ref: string): Row[] {
  return [
    rowOf('migrations (squawk)', 'check-migrations.ts', []),
    rowOf('API (oasdiff)', 'check-openapi.ts', [ref]),
  ];
}

function rowOf(part: string, program: string, args: string[]): Row {
  const { status, stdout } = spawnSync(process.execPath, [join(import.meta.dirname, program), ...args], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 2 ** 20,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = stdout.trim().split('\n');
  if (status === 0) return { part, run: lines.at(-1) ?? '', verdict: 'ok', details: [] };
  const verdict = status === SKIPPED ? 'inconclusive' : 'broken';
  return { part, run: verdict === 'broken' ? (lines.at(-1) ?? '') : 'not run', verdict, details: lines };
}
