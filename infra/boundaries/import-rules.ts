import { existsSync, globSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractConfiguration from 'dependency-cruiser/config-utl/extract-depcruise-config';
import extractTsConfig from 'dependency-cruiser/config-utl/extract-ts-config';

const workspace = join(import.meta.dirname, '../..');
const fixtures = join(import.meta.dirname, 'fixtures');
const { forbidden = [], options = {} } = await extractConfiguration(
  join(workspace, '.dependency-cruiser.mjs'),
);

/** One dependency that a rule forbids. */
export interface Violation {
  rule: string;
  from: string;
  to: string;
}

/** Every library's sources under `@customer-platform/<name>`, within one tree. */
function aliases(tree: string): Record<string, string> {
  return Object.fromEntries(
    globSync('libs/*/src/index.ts', { cwd: tree }).map((index) => [
      `@customer-platform/${index.split('/')[1] ?? ''}`,
      join(tree, index),
    ]),
  );
}

/** The violations within one tree, the workspace itself or a fixture laid out like it. */
async function violationsIn(tree: string): Promise<Violation[]> {
  const folders = ['apps', 'libs', 'infra'].filter((folder) => existsSync(join(tree, folder)));
  const { enhancedResolveOptions, tsConfig: _file, exclude, ...rest } = options;
  const result = await cruise(
    folders,
    {
      ...rest,
      ...(tree === workspace ? { exclude } : {}),
      baseDir: tree,
      validate: true,
      ruleSet: { forbidden },
    },
    {
      ...enhancedResolveOptions,
      alias: aliases(tree),
      bustTheCache: true,
    },
    { tsConfig: extractTsConfig(join(workspace, 'tsconfig.json')) },
  );
  return (result.output as ICruiseResult).summary.violations.map(({ rule, from, to }) => ({
    rule: rule.name,
    from,
    to,
  }));
}

/** Files of apps, libs and infra that import what they must not. */
export async function checkWorkspaceImports(): Promise<string[]> {
  return (await violationsIn(workspace)).map(({ rule, from, to }) => `${rule}: ${from} → ${to}`);
}

/** Rules that miss their illegal fixture, that hit their legal one, or that have none. */
export async function checkImportFixtures(): Promise<{ proved: string[]; failures: string[] }> {
  const rules = forbidden.map(({ name }) => name ?? '');
  const failures = readdirSync(fixtures)
    .filter((folder) => !rules.includes(folder))
    .map((folder) => `${folder}: a fixture without a rule`);
  const proved: string[] = [];
  for (const rule of rules) {
    const illegal = join(fixtures, rule, 'illegal');
    const legal = join(fixtures, rule, 'legal');
    if (!existsSync(illegal) || !existsSync(legal)) {
      failures.push(`${rule}: no fixture`);
      continue;
    }
    const caught = await violationsIn(illegal);
    const wronglyCaught = await violationsIn(legal);
    if (!caught.some((violation) => violation.rule === rule))
      failures.push(`${rule}: its illegal import passes`);
    for (const violation of wronglyCaught)
      failures.push(
        `${rule}: its legal twin is refused by ${violation.rule} (${violation.from} → ${violation.to})`,
      );
    if (!failures.some((failure) => failure.startsWith(`${rule}:`))) proved.push(rule);
  }
  return { proved, failures };
}
