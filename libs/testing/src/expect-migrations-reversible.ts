import { revertMigrations, runMigrations, type MigrationClass } from '@customer-platform/database';
import { testDatabase, type TestDatabase } from './test-database.js';

const SCHEMA = `
SELECT 'column ' || table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable
  || coalesce(' ' || column_default, '') AS part
FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> 'migrations'
UNION ALL SELECT 'constraint ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
  WHERE connamespace = 'public'::regnamespace AND conrelid <> to_regclass('migrations')
UNION ALL SELECT 'index ' || indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename <> 'migrations'
UNION ALL SELECT 'policy ' || tablename || ' ' || policyname || ' ' || qual FROM pg_policies
UNION ALL SELECT 'trigger ' || pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
UNION ALL SELECT 'function ' || proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace
UNION ALL SELECT 'grant ' || table_name || ' ' || grantee || ' ' || privilege_type
  FROM information_schema.role_table_grants WHERE table_schema = 'public' AND table_name <> 'migrations'
ORDER BY 1`;

/** Proves that the migrations run up, all the way down to nothing, and up again to the very same schema. */
export async function expectMigrationsReversible(
  module: string,
  migrations: MigrationClass[],
): Promise<void> {
  const database = await testDatabase(module, migrations);
  try {
    const first = await schemaOf(database);
    await revertMigrations({ module, migrations, url: database.ownerUrl });
    expect(await schemaOf(database)).toEqual([]);
    await runMigrations({ module, migrations, url: database.ownerUrl });
    expect(await schemaOf(database)).toEqual(first);
  } finally {
    await database.drop();
  }
}

async function schemaOf(database: TestDatabase): Promise<string[]> {
  return (await database.query<{ part: string }>(SCHEMA)).map(({ part }) => part);
}
