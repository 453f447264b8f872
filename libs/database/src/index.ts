export { Clock } from './clock.js';
export { DATA_SOURCE, Database, type OrganizationScope } from './database.js';
export { DatabaseModule, type DatabaseModuleOptions } from './database.module.js';
export {
  DatabaseUnavailable,
  isDatabaseUnavailable,
  isTransient,
  postgresFailure,
  type PostgresFailure,
} from './errors.js';
export { isUuid, newId } from './ids.js';
export { dropPlatformTables, platformTables } from './migrations/platform-tables.js';
export {
  provisionDatabase,
  type ProvisionedDatabase,
  type ProvisionOptions,
} from './migrations/provision.js';
export { appendOnly, rowSecurity, type RowSecurity } from './migrations/row-security.js';
export {
  appRoleOf,
  execute,
  revertMigrations,
  runMigrations,
  type MigrationClass,
  type MigrationOptions,
} from './migrations/run-migrations.js';
export { SnakeCaseNaming } from './snake-case.naming.js';
export type { Transaction, WorkerTransaction } from './transaction.js';
