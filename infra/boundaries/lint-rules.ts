import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createProjectGraphAsync } from '@nx/devkit';
import { ESLint, Linter } from 'eslint';
import tseslint from 'typescript-eslint';
import { CLOCK_PLACES } from '../lint/clocks-read-alone.ts';
import { house } from '../lint/house.plugin.ts';
import type { LintCase } from './lint-case.ts';
import { lintCases } from './lint-cases.ts';

const workspace = join(import.meta.dirname, '../..');

async function rulesHit(linter: ESLint, source: LintCase['illegal']): Promise<string[]> {
  const [result] = await linter.lintText(source.code, { filePath: join(workspace, source.path) });
  return (result?.messages ?? []).map(({ ruleId, message }) => ruleId ?? message);
}

/** In how many places of a file the rule on clocks finds one. */
function clocksIn(path: string): number {
  const file = join(workspace, path);
  if (!existsSync(file)) return 0;
  const messages = new Linter({ cwd: workspace }).verify(
    readFileSync(file, 'utf8'),
    {
      files: ['**/*.ts'],
      languageOptions: { parser: tseslint.parser },
      linterOptions: { reportUnusedDisableDirectives: 'off' },
      plugins: { house },
      rules: { 'house/time-after-locks': 'error' },
    },
    { filename: path },
  );
  return messages.filter(({ ruleId }) => ruleId === 'house/time-after-locks').length;
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
  for (const [path, count] of CLOCK_PLACES) {
    const there = clocksIn(path);
    if (there !== count)
      failures.push(
        `house/time-after-locks: ${path} has ${there} places, and ${count} are written down in clocks-read-alone.ts`,
      );
  }
  const failed = (rule: string): boolean => failures.some((failure) => failure.startsWith(`${rule}:`));
  return { proved: [...covered].filter((rule) => !failed(rule)), failures };
}
