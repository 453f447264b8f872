import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractConfiguration from 'dependency-cruiser/config-utl/extract-depcruise-config';
import extractTsConfig from 'dependency-cruiser/config-utl/extract-ts-config';

export const workspace = join(import.meta.dirname, '../..');
const { forbidden = [], options = {} } = await extractConfiguration(
  join(workspace, '.dependency-cruiser.mjs'),
);

/** Names of all import rules; several rules may share one. */
export const importRules: readonly string[] = [...new Set(forbidden.map(({ name }) => name ?? ''))];

/** Every library's sources under `@customer-platform/<name>`, within one tree. */
function aliases(tree: string): Record<string, string> {
  return Object.fromEntries(
    globSync('libs/*/src/index.ts', { cwd: tree }).map((index) => [
      `@customer-platform/${index.split('/')[1] ?? ''}`,
      join(tree, index),
    ]),
  );
}

/** All imports within one tree, the workspace itself or a fixture laid out like it, judged by the rules. */
export async function importsOf(tree: string): Promise<ICruiseResult> {
  const folders = ['apps', 'libs', 'infra'].filter((folder) => existsSync(join(tree, folder)));
  const { enhancedResolveOptions, tsConfig: _file, exclude, ...rest } = options;
  const { output } = await cruise(
    folders,
    {
      ...rest,
      ...(tree === workspace ? { exclude } : {}),
      baseDir: tree,
      validate: true,
      ruleSet: { forbidden },
    },
    { ...enhancedResolveOptions, alias: aliases(tree), bustTheCache: true },
    { tsConfig: extractTsConfig(join(workspace, 'tsconfig.json')) },
  );
  if (typeof output === 'string') throw new Error(output);
  return output;
}
