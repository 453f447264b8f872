import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { ROOT } from '@customer-platform/local/platform/modules.ts';
import { type MigrationSql, sqlOf } from './migration-sql.ts';

/** What squawk has against a statement of a migration. */
interface Finding {
  migration: string;
  rule: string;
  message: string;
  /** The statement's first line. */
  statement: string;
}

/** Findings that are accepted, and why. */
interface Excuses {
  /** Migrations up to this time stamp are not judged: they ran before anything was in use. */
  baseline: number;
  excused: { migration: string; rules: string[]; reason: string }[];
}

interface SquawkFinding {
  file: string;
  line: number;
  message: string;
  rule_name: string;
}

const SQUAWK = join(ROOT, 'node_modules/.bin/squawk');
const CONFIG = join(import.meta.dirname, 'squawk.toml');
const EXCUSES = join(import.meta.dirname, 'excused-migrations.json');

/** The committed ones. */
export function readExcuses(): Excuses {
  return JSON.parse(readFileSync(EXCUSES, 'utf8')) as Excuses;
}

/** A rule of squawk's newer releases; the one here is the newest that there is for every platform (ADR 16). */
const DROPPED_CONSTRAINT = {
  rule: 'ban-drop-constraint',
  message:
    'The release before may name it: an ON CONFLICT, a foreign key, the problem that a violation becomes.',
};

/** What is found in these migrations. @throws Error where squawk cannot judge */
export function findingsIn(migrations: readonly MigrationSql[]): Finding[] {
  const dropped = migrations.flatMap(({ name: migration, statements }) =>
    statements
      .filter((statement) => /\bDROP\s+CONSTRAINT\b/i.test(statement))
      .map((statement) => ({ migration, ...DROPPED_CONSTRAINT, statement: statement.split('\n')[0] ?? '' })),
  );
  return [...bySquawk(migrations), ...dropped];
}

function bySquawk(migrations: readonly MigrationSql[]): Finding[] {
  const folder = mkdtempSync(join(tmpdir(), 'customer-platform-migrations-'));
  try {
    return [true, false].flatMap((transactional) => {
      const group = migrations.filter((migration) => migration.transactional === transactional);
      const part = join(folder, transactional ? 'wrapped' : 'bare');
      mkdirSync(part);
      return group.length === 0 ? [] : judge(group, part, transactional);
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function judge(migrations: readonly MigrationSql[], folder: string, transactional: boolean): Finding[] {
  const files = migrations.map((migration) => {
    const file = join(folder, `${migration.module}-${migration.name}.sql`);
    writeFileSync(file, sqlOf(migration));
    return file;
  });
  const flag = transactional ? '--assume-in-transaction' : '--no-assume-in-transaction';
  const { stdout, stderr, error } = spawnSync(
    SQUAWK,
    ['--config', CONFIG, '--reporter', 'json', flag, ...files],
    { encoding: 'utf8', maxBuffer: 64 * 2 ** 20 },
  );
  if (error) throw new Error(`squawk could not be run: ${error.message}`);
  return parse(stdout, stderr).map(({ file, line, message, rule_name: rule }) => ({
    migration: basename(file, '.sql').replace(/^[a-z]+-/, ''),
    rule,
    message,
    statement: readFileSync(file, 'utf8').split('\n')[line]?.trim() ?? '',
  }));
}

function parse(stdout: string, stderr: string): SquawkFinding[] {
  try {
    return JSON.parse(stdout) as SquawkFinding[];
  } catch (cause) {
    throw new Error(`squawk gave no result: ${stderr || stdout}`, { cause });
  }
}

/** Those that nobody excused, and excuses that excuse nothing. */
export function unexcused(
  findings: readonly Finding[],
  { excused }: Pick<Excuses, 'excused'>,
): { findings: Finding[]; idle: string[] } {
  const given = excused.flatMap(({ migration, rules }) => rules.map((rule) => `${migration} ${rule}`));
  const found = new Set(findings.map(({ migration, rule }) => `${migration} ${rule}`));
  return {
    findings: findings.filter(({ migration, rule }) => !given.includes(`${migration} ${rule}`)),
    idle: given.filter((excuse) => !found.has(excuse)),
  };
}
