import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createProjectGraphAsync } from '@nx/devkit';
import { ESLint } from 'eslint';
import { CLOCKS_READ_ALONE } from '../lint/clocks-read-alone.ts';
import { house } from '../lint/house.plugin.ts';
import type { LintCase } from './lint-case.ts';
import { lintCases } from './lint-cases.ts';

const workspace = join(import.meta.dirname, '../..');

/** So many files are passed over by the rule on clocks: the number only ever falls. */
const CLOCKS_LEFT = 103;

async function rulesHit(linter: ESLint, source: LintCase['illegal']): Promise<string[]> {
  const [result] = await linter.lintText(source.code, { filePath: join(workspace, source.path) });
  return (result?.messages ?? []).map(({ ruleId, message }) => ruleId ?? message);
}

/** Lint rules that miss their illegal source, that hit their legal one, or that have none. */
export async function checkLintFixtures(): Promise<{ proved: string[]; failures: string[] }> {
  // Written where Nx's rule reads it: without a graph that rule passes everything in silence.
  process.env['NX_DAEMON'] = 'false';
  await createProjectGraphAsync({ exitOnError: false });
  const linter = new ESLint({ cwd: workspace });
  const failures: string[] = [];
  for (const source of lintCases) {
    const caught = await rulesHit(linter, source.illegal);
    if (!caught.includes(source.rule))
      failures.push(`${source.rule}: "${source.name}" passes (${caught.join(', ') || 'nothing reported'})`);
    const wronglyCaught = await rulesHit(linter, source.legal);
    if (wronglyCaught.includes(source.rule))
      failures.push(`${source.rule}: the legal twin of "${source.name}" is refused`);
  }
  const covered = new Set(lintCases.map(({ rule }) => rule));
  for (const rule of Object.keys(house.rules))
    if (!covered.has(`house/${rule}`)) failures.push(`house/${rule}: no fixture`);
  const gone = CLOCKS_READ_ALONE.filter((path) => !existsSync(join(workspace, path)));
  if (gone.length > 0 || CLOCKS_READ_ALONE.length !== CLOCKS_LEFT)
    failures.push(
      `house/time-after-locks: its list has not ${CLOCKS_LEFT} files that are there (${gone.join(', ')})`,
    );
  const failed = (rule: string): boolean => failures.some((failure) => failure.startsWith(`${rule}:`));
  return { proved: [...covered].filter((rule) => !failed(rule)), failures };
}
