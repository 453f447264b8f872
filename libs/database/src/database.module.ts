import { setTimeout as pause } from 'node:timers/promises';
import {
  type DynamicModule,
  Global,
  Inject,
  Module,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { databaseConfig, readConfig } from '@customer-platform/config';
import { IDEMPOTENCY_STORE, log, registerReadiness } from '@customer-platform/http';
import { DataSource, type EntityTarget, type ObjectLiteral } from 'typeorm';
import { Clock } from './clock.js';
import { DATA_SOURCE, Database } from './database.js';
import { isDatabaseUnavailable } from './errors.js';
import { AnswerStore } from './idempotency/answer.store.js';
import { IdempotentCalls } from './idempotency/idempotent-calls.js';
import type { MigrationClass } from './migrations/run-migrations.js';
import { SnakeCaseNaming } from './snake-case.naming.js';

/** What a module says of its database. */
export interface DatabaseModuleOptions {
  /** The module's name; shown in `pg_stat_activity`. */
  module: string;
  entities: EntityTarget<ObjectLiteral>[];
  /** The module's migrations; readiness fails while the newest of them has not run. */
  migrations: MigrationClass[];
}

/** How long a start waits for Postgres before it gives up with one sentence. */
const START_PATIENCE_MS = 60_000;

/** Provides `Database` and `Clock` to the whole application and closes the pool at the end. */
@Global()
@Module({})
export class DatabaseModule implements OnModuleInit, OnApplicationShutdown {
  constructor(
    @Inject(DATA_SOURCE) private readonly source: DataSource,
    private readonly database: Database,
  ) {}

  /** Reads `DATABASE_URL` and `DATABASE_POOL_SIZE`; the start fails with one sentence if Postgres stays away. */
  static forRoot(options: DatabaseModuleOptions): DynamicModule {
    return {
      module: DatabaseModule,
      providers: [
        { provide: DATA_SOURCE, useFactory: () => connect(options) },
        Database,
        Clock,
        AnswerStore,
        { provide: IDEMPOTENCY_STORE, useExisting: AnswerStore },
        IdempotentCalls,
      ],
      exports: [DATA_SOURCE, Database, Clock, IDEMPOTENCY_STORE, IdempotentCalls],
    };
  }

  onModuleInit(): void {
    registerReadiness({ name: 'database', check: () => this.database.ping() });
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.source.isInitialized) await this.source.destroy();
  }
}

async function connect(options: DatabaseModuleOptions): Promise<DataSource> {
  const config = readConfig(databaseConfig);
  const source = new DataSource({
    type: 'postgres',
    url: config.DATABASE_URL,
    poolSize: config.DATABASE_POOL_SIZE,
    applicationName: options.module,
    connectTimeoutMS: 3_000,
    entities: options.entities as never,
    migrations: options.migrations,
    migrationsTableName: 'migrations',
    namingStrategy: new SnakeCaseNaming(),
    synchronize: false,
    logging: false,
    poolErrorHandler: (error: unknown) => log.warn({ err: error }, 'An idle database connection broke'),
    extra: {
      statement_timeout: 15_000,
      lock_timeout: 10_000,
      idle_in_transaction_session_timeout: 30_000,
      keepAlive: true,
    },
  });
  return initialize(source);
}

async function initialize(source: DataSource): Promise<DataSource> {
  const giveUpAt = Date.now() + START_PATIENCE_MS;
  for (;;) {
    try {
      return await source.initialize();
    } catch (error) {
      if (!isDatabaseUnavailable(error) || Date.now() > giveUpAt) throw error;
      log.warn({ err: error }, 'The database does not answer yet');
      await pause(500);
    }
  }
}
