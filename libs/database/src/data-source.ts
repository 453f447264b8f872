import { log } from '@customer-platform/http';
import { DataSource, type ObjectLiteral } from 'typeorm';
import { withoutValues } from './errors.js';
import type { MigrationClass } from './migrations/run-migrations.js';
import { SnakeCaseNaming } from './snake-case.naming.js';

/** An entity of a module. */
export type EntityClass = new () => ObjectLiteral;

/** What a data source is made of. */
interface DataSourceSettings {
  module: string;
  entities: EntityClass[];
  migrations: MigrationClass[];
  url: string;
  poolSize: number;
  /** How long is waited for a connection, a free one or a new one. */
  waitMs?: number;
}

/**
 * The module's pool, not yet connected. Statements end after 15 s, waits for a lock after 10 s, a transaction that
 * nobody goes on with after 30 s: nothing that hangs can hold others for long.
 */
export function dataSourceOf(settings: DataSourceSettings): DataSource {
  return new DataSource({
    type: 'postgres',
    url: settings.url,
    poolSize: settings.poolSize,
    applicationName: settings.module,
    connectTimeoutMS: settings.waitMs ?? 3_000,
    entities: settings.entities,
    migrations: settings.migrations,
    migrationsTableName: 'migrations',
    namingStrategy: new SnakeCaseNaming(),
    synchronize: false,
    logging: false,
    poolErrorHandler: (error: unknown) => {
      log.warn({ err: withoutValues(error) }, 'An idle database connection broke');
    },
    extra: {
      statement_timeout: 15_000,
      // A server that is frozen cannot end its statements; then we end the wait.
      query_timeout: 20_000,
      lock_timeout: 10_000,
      idle_in_transaction_session_timeout: 30_000,
      keepAlive: true,
    },
  });
}
