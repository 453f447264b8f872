import { databaseConfig, readConfig } from '@customer-platform/config';
import { log } from '@customer-platform/http';
import { DataSource, MigrationExecutor, type MigrationInterface, type QueryRunner } from 'typeorm';
import { setTimeout as wait } from 'node:timers/promises';
import { SnakeCaseNaming } from '../snake-case.naming.js';
import { LOCK_PATIENCE, withLockPatience, type LockPatience } from './lock-patience.js';
import { seedStatistics } from './seed-statistics.js';

/** A migration as `MigrationInterface`, with the time stamp TypeORM orders by at the end of its class name. */
export type MigrationClass = new () => MigrationInterface;

/** What a module's `migrate.ts` says. */
export interface MigrationOptions {
  /** The module whose tables these are; its roles are `<module>_owner` and `<module>_app`. */
  module: string;
  /** All of the module's migrations. */
  migrations: MigrationClass[];
  /** The owner's address; `DATABASE_OWNER_URL` unless given. */
  url?: string;
  /** Where it is to differ from `LOCK_PATIENCE`. */
  lockPatience?: Partial<LockPatience>;
}

/** Migrations run as the owner of the tables, which the service is not. */
const ownerConfig = databaseConfig.pick({ DATABASE_OWNER_URL: true }).required();

/** One lock for all modules: each has its own database, and advisory locks are per database. */
const MIGRATION_LOCK = 7_230_418_001;
const LOOK_AGAIN_MS = 500;

/** The role that a module's service connects as. */
export function appRoleOf(module: string): string {
  return `${module}_app`;
}

/** Runs statements one after another: `await execute(queryRunner, rowSecurity('rules'))`. */
export async function execute(runner: QueryRunner, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await runner.query(statement);
}

/**
 * Brings the module's database to the newest schema, as its owner. Several starting at once wait for each other;
 * each migration commits by itself, and one that finds its tables locked gives way and begins anew. Returns the names of
 * those that ran.
 */
export async function runMigrations(options: MigrationOptions): Promise<string[]> {
  return asOwner(options, async (source) => {
    const before = await pendingIn(source);
    await withLockPatience(
      { ...LOCK_PATIENCE, ...options.lockPatience },
      async () => (await pendingIn(source))[0],
      () => source.runMigrations({ transaction: 'each' }),
    );
    before.forEach((name) => log.info({ module: options.module, migration: name }, 'Migrated'));
    return before;
  });
}

/** Takes back the last `count` migrations (all of them unless given), newest first; for checks of `down`. */
export async function revertMigrations(options: MigrationOptions, count = Infinity): Promise<void> {
  await asOwner(options, async (source) => {
    const applied = await source.query<unknown[]>('SELECT 1 FROM migrations');
    for (let left = Math.min(count, applied.length); left > 0; left -= 1) {
      await source.undoLastMigration({ transaction: 'each' });
    }
  });
}

/** The names of those that have not run yet, in their order. */
async function pendingIn(source: DataSource): Promise<string[]> {
  return (await new MigrationExecutor(source).getPendingMigrations()).map(({ name }) => name);
}

async function asOwner<T>(options: MigrationOptions, work: (source: DataSource) => Promise<T>): Promise<T> {
  const url = options.url ?? readConfig(ownerConfig).DATABASE_OWNER_URL;
  const source = new DataSource({
    type: 'postgres',
    url,
    migrations: options.migrations,
    migrationsTableName: 'migrations',
    namingStrategy: new SnakeCaseNaming(),
    poolSize: 2,
    extra: { lock_timeout: { ...LOCK_PATIENCE, ...options.lockPatience }.lockTimeoutMs },
    applicationName: `${options.module}-migrations`,
  });
  await source.initialize();
  const lock = source.createQueryRunner();
  try {
    await takeTurn(lock);
    await grantToApp(lock, appRoleOf(options.module));
    const result = await work(source);
    await seedStatistics(lock);
    return result;
  } finally {
    await lock.release();
    await source.destroy();
  }
}

/**
 * Asks again and again rather than wait in the database: an index that is made concurrently waits for every statement
 * that is under way, and so for one that waits for the lock of whoever makes it.
 */
async function takeTurn(runner: QueryRunner): Promise<void> {
  const attempt = async (): Promise<boolean> => {
    const [row] = (await runner.query('SELECT pg_try_advisory_lock($1) AS taken', [MIGRATION_LOCK])) as {
      taken: boolean;
    }[];
    return row?.taken === true;
  };
  // eslint-disable-next-line house/no-endless-turns -- another’s migrations take as long as they take; whoever started this command may end it
  while (!(await attempt())) await wait(LOOK_AGAIN_MS);
}

/** Whatever the owner makes from now on, the service may read and write: rows only, no definition. */
async function grantToApp(runner: QueryRunner, role: string): Promise<void> {
  await runner.query(`GRANT USAGE ON SCHEMA public TO ${role}`);
  await runner.query(
    `ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${role}`,
  );
  await runner.query(`ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO ${role}`);
}
