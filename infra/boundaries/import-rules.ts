import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { importRules, importsOf, workspace } from './imports.ts';

const fixtures = join(import.meta.dirname, 'fixtures');

/** One dependency that a rule forbids. */
interface Violation {
  rule: string;
  from: string;
  to: string;
}

async function violationsIn(tree: string): Promise<Violation[]> {
  const { summary } = await importsOf(tree);
  return summary.violations.map(({ rule, from, to }) => ({ rule: rule.name, from, to }));
}

/** Files of apps, libs and infra that import what they must not. */
export async function checkWorkspaceImports(): Promise<string[]> {
  return (await violationsIn(workspace)).map(({ rule, from, to }) => `${rule}: ${from} → ${to}`);
}

/** What is wrong with one rule's fixture: its illegal import passes, or its legal twin does not. */
async function fixtureFailures(rule: string): Promise<string[]> {
  const illegal = join(fixtures, rule, 'illegal');
  const legal = join(fixtures, rule, 'legal');
  if (!existsSync(illegal) || !existsSync(legal)) return [`${rule}: no fixture`];
  const caught = (await violationsIn(illegal)).some((violation) => violation.rule === rule);
  return [
    ...(caught ? [] : [`${rule}: its illegal import passes`]),
    ...(await violationsIn(legal)).map(
      (violation) =>
        `${rule}: its legal twin is refused by ${violation.rule} (${violation.from} → ${violation.to})`,
    ),
  ];
}

/** Rules that miss their illegal fixture, that hit their legal one, or that have none. */
export async function checkImportFixtures(): Promise<{ proved: string[]; failures: string[] }> {
  const failures = readdirSync(fixtures)
    .filter((folder) => !importRules.includes(folder))
    .map((folder) => `${folder}: a fixture without a rule`);
  const proved: string[] = [];
  for (const rule of importRules) {
    const found = await fixtureFailures(rule);
    failures.push(...found);
    if (found.length === 0) proved.push(rule);
  }
  return { proved, failures };
}
