/**
 * `npm run lint [-- paths…] [--all]`: lints what changed since it was last found clean.
 *
 * ESLint's own cache is unsound with types, where a change in one file makes another wrong. Here the unit is a
 * package, and its key covers its files, those of every package whose types it sees, and the rules themselves.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { ESLint } from 'eslint';
import { refreshProjectGraph, type Part } from './project-graph.ts';

const workspace = join(import.meta.dirname, '../..');
const cacheFile = join(workspace, 'node_modules/.cache/lint.json');
const RULES = [
  'eslint.config.mjs',
  'infra/lint/*.ts',
  'tsconfig*.json',
  'infra/tsconfig.json',
  'package-lock.json',
  'node_modules/.package-lock.json',
];

/** Programs around the packages: linted as one part, which sees everything. */
const surroundings: Part = { name: 'infra', root: 'infra', sees: [] };

function digest(patterns: string[], exclude: string[] = []): string {
  const hash = createHash('sha256').update(process.version);
  for (const file of globSync(patterns, { cwd: workspace, exclude }).sort())
    hash.update(`\0${file}\0`).update(readFileSync(join(workspace, file)));
  return hash.digest('hex');
}

/** The parts that `part` sees, however far, itself included. */
function horizon(part: Part, parts: Part[], seen = new Set<string>()): Set<string> {
  if (seen.has(part.name)) return seen;
  seen.add(part.name);
  for (const next of parts) if (part.sees.includes(next.name)) horizon(next, parts, seen);
  return seen;
}

function keysOf(parts: Part[]): Map<string, string> {
  const rules = digest(RULES);
  const files = new Map(
    parts.map(({ name, root }) => [
      name,
      digest(
        [`${root}/**/*.{ts,mts,mjs,js}`, `${root}/**/package.json`, `${root}/**/*.json`],
        ['**/node_modules', '**/dist'],
      ),
    ]),
  );
  return new Map(
    parts.map((part) => {
      const hash = createHash('sha256').update(rules);
      for (const name of [...horizon(part, parts)].sort()) hash.update(name).update(files.get(name) ?? '');
      return [part.name, hash.digest('hex')];
    }),
  );
}

function runEslint(targets: string[]): ESLint.LintResult[] {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [
      join(workspace, 'node_modules/eslint/bin/eslint.js'),
      '--format',
      'json',
      '--no-warn-ignored',
      '--no-error-on-unmatched-pattern',
      ...targets,
    ],
    { cwd: workspace, encoding: 'utf8', maxBuffer: 1 << 28, env: { ...process.env, NX_DAEMON: 'false' } },
  );
  // 0: clean, 1: problems found; anything else: ESLint itself failed, and printed no JSON.
  if (status !== 0 && status !== 1) throw new Error(stderr || stdout || 'ESLint did not run');
  return (JSON.parse(stdout) as ESLint.LintResult[]).filter(({ messages }) => messages.length > 0);
}

function print(results: ESLint.LintResult[]): void {
  for (const { filePath, messages } of results)
    for (const { line, column, ruleId, message } of messages)
      console.error(`  ${relative(workspace, filePath)}:${line}:${column}  ${message}  ${ruleId ?? ''}`);
}

const paths = process.argv.slice(2).filter((argument) => argument !== '--all');
const packages = await refreshProjectGraph();
surroundings.sees = packages.map(({ name }) => name);
const parts = [...packages.filter(({ root }) => !root.startsWith('infra/')), surroundings];
const keys = keysOf(parts);
const clean = existsSync(cacheFile)
  ? (JSON.parse(readFileSync(cacheFile, 'utf8')) as Record<string, string>)
  : {};
const stale = parts.filter(({ name }) => process.argv.includes('--all') || clean[name] !== keys.get(name));
const targets = paths.length > 0 ? paths : [...stale.map(({ root }) => `${root}/**/*.{ts,mjs,js}`), '*.mjs'];
const results = runEslint(targets);

if (paths.length === 0) {
  for (const { name, root } of stale) {
    const dirty = results.some(({ filePath }) => relative(workspace, filePath).startsWith(`${root}/`));
    if (dirty) delete clean[name];
    else clean[name] = keys.get(name) ?? '';
  }
  mkdirSync(join(workspace, 'node_modules/.cache'), { recursive: true });
  writeFileSync(cacheFile, JSON.stringify(clean, null, 2));
}
print(results);
const problems = results.reduce((sum, { messages }) => sum + messages.length, 0);
console.log(
  problems > 0
    ? `${problems} problems in ${results.length} files.`
    : `Lint is clean (${paths.length > 0 ? paths.join(' ') : `${stale.length} of ${parts.length} packages had changed`}).`,
);
process.exitCode = problems > 0 ? 1 : 0;
