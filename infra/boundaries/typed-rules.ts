import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tseslint from 'typescript-eslint';

const workspace = join(import.meta.dirname, '../..');
const FIXTURES = 'infra/lint/fixtures';

/** Rules that typescript-eslint recommends and this repository does without. */
const DONE_WITHOUT = ['require-await']; // an async signature is often the interface's, not the body's

interface Settings {
  readonly rules: Readonly<Record<string, unknown>>;
  readonly ignorePatterns?: readonly string[];
}

/** What the linter that reads types says of the fixtures, by file: the names of the rules. */
function rulesHit(config: string): Promise<Map<string, Set<string>>> {
  return new Promise((resolve, reject) => {
    const args = ['--config', config, '--type-aware', '--format', 'json', FIXTURES];
    execFile(
      join(workspace, 'node_modules/.bin/oxlint'),
      args,
      { cwd: workspace },
      (error, stdout, stderr) => {
        if (!stdout.startsWith('{'))
          reject(new Error(`oxlint said nothing: ${stdout}${stderr}`, { cause: error }));
        else {
          const { diagnostics } = JSON.parse(stdout) as { diagnostics: { filename: string; code: string }[] };
          const hit = new Map<string, Set<string>>();
          for (const { filename, code } of diagnostics) {
            const file = filename.split('/').at(-1) ?? '';
            const rule = code.replace(/^typescript\((.*)\)$/, 'typescript/$1');
            hit.set(file, (hit.get(file) ?? new Set<string>()).add(rule));
          }
          resolve(hit);
        }
      },
    );
  });
}

/** Rules that need types: each is broken once in illegal.ts, none in legal.ts, and all that are recommended are on. */
export async function checkTypedRules(): Promise<{ proved: string[]; failures: string[] }> {
  const settings = JSON.parse(readFileSync(join(workspace, '.oxlintrc.json'), 'utf8')) as Settings;
  const folder = mkdtempSync(join(tmpdir(), 'typed-rules-'));
  try {
    const config = join(folder, 'oxlint.json');
    writeFileSync(config, JSON.stringify({ ...settings, ignorePatterns: [] }));
    const hit = await rulesHit(config);
    const rules = Object.keys(settings.rules);
    const missed = rules.filter((rule) => !hit.get('illegal.ts')?.has(rule));
    const wrong = [...(hit.get('legal.ts') ?? [])];
    const absent = recommended().filter((rule) => !rules.includes(rule));
    return {
      proved: rules.filter((rule) => !missed.includes(rule)),
      failures: [
        ...missed.map((rule) => `${rule}: its illegal source passes`),
        ...wrong.map((rule) => `${rule}: the legal source is refused`),
        ...absent.map((rule) => `${rule}: is recommended, and neither on nor done without`),
      ],
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function recommended(): string[] {
  const rules = tseslint.configs.recommendedTypeCheckedOnly.flatMap((config) =>
    Object.entries(config.rules ?? {}),
  );
  return rules
    .filter(([name, level]) => name.startsWith('@typescript-eslint/') && level !== 'off')
    .map(([name]) => name.replace('@typescript-eslint/', ''))
    .filter((name) => !DONE_WITHOUT.includes(name))
    .map((name) => `typescript/${name}`);
}
