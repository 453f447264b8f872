import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MODULES, type ModuleName } from '@customer-platform/local/platform/modules.ts';

/** The SQL of one migration, as it runs in a database whose look-ups find nothing yet. */
export interface MigrationSql {
  module: ModuleName;
  /** The class, by which `migrations` in the database knows it. */
  name: string;
  timestamp: number;
  statements: string[];
  /** Whether TypeORM wraps it in a transaction. */
  transactional: boolean;
}

/** What TypeORM gives a migration, as far as migrations here use it. */
interface Recorder {
  query(sql: string): Promise<unknown[]>;
  startTransaction(): Promise<void>;
  commitTransaction(): Promise<void>;
  rollbackTransaction(): Promise<void>;
}

interface Migration {
  transaction?: boolean;
  up(runner: Recorder): Promise<void>;
}

/** The built migrations of every module, oldest first. */
export async function migrationsOf(root: string): Promise<MigrationSql[]> {
  const read = async (module: ModuleName): Promise<MigrationSql[]> => {
    const files = globSync(`apps/${module}/dist/migrations/[0-9]*-*.js`, { cwd: root }).sort();
    if (files.length === 0) throw new Error(`${module} has no built migrations: run "npm run build" first.`);
    return Promise.all(files.map((file) => readMigration(module, join(root, file))));
  };
  return (await Promise.all(MODULES.map(read))).flat();
}

async function readMigration(module: ModuleName, file: string): Promise<MigrationSql> {
  const exported = (await import(pathToFileURL(file).href)) as Record<string, new () => Migration>;
  const timestamp = Number(basename(file).split('-')[0]);
  const [name, Class] =
    Object.entries(exported).find(([candidate]) => candidate.endsWith(String(timestamp))) ?? [];
  if (name === undefined || Class === undefined)
    throw new Error(`${file} exports no class whose name ends with ${timestamp}.`);
  const migration = new Class();
  return { module, name, timestamp, ...(await statementsOf(migration)) };
}

/** What a migration says to its database. Nothing runs: a look-up is answered with no row, as in a new database. */
export async function statementsOf(
  migration: Migration,
): Promise<Pick<MigrationSql, 'statements' | 'transactional'>> {
  const statements: string[] = [];
  const say = (sql: string) => async (): Promise<void> => void statements.push(sql);
  await migration.up({
    query: async (sql) => {
      statements.push(sql.trim());
      return [];
    },
    startTransaction: say('BEGIN'),
    commitTransaction: say('COMMIT'),
    rollbackTransaction: say('ROLLBACK'),
  });
  return { statements, transactional: migration.transaction ?? true };
}

/** The statements as one file. */
export function sqlOf({ statements }: Pick<MigrationSql, 'statements'>): string {
  return statements.map((statement) => `${statement.replace(/;\s*$/, '')};\n`).join('\n');
}
