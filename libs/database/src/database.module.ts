import {
  type DynamicModule,
  Global,
  Inject,
  Module,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { databaseConfig, readConfig } from '@customer-platform/config';
import {
  IDEMPOTENCY_STORE,
  log,
  registerDependency,
  registerReadiness,
  turns,
} from '@customer-platform/http';
import { DataSource } from 'typeorm';
import { askedAtStart } from './at-start.js';
import { Clock } from './clock.js';
import { dataSourceOf, type EntityClass } from './data-source.js';
import { DATA_SOURCE, Database } from './database.js';
import { isDatabaseUnavailable } from './errors.js';
import { AnswerStore, EXPIRED_ANSWERS } from './idempotency/answer.store.js';
import { Installation } from './installation/installation.js';
import { retentionOf } from './jobs/retention.js';
import { tellOfOtherCollations } from './lists/other-collations.js';
import type { MigrationClass } from './migrations/run-migrations.js';

/** What a module says of its database. */
interface DatabaseModuleOptions {
  /** The module's name; shown in `pg_stat_activity`. */
  module: string;
  entities: EntityClass[];
  /** The module's migrations; the process is not ready before the newest of them has run. */
  migrations: MigrationClass[];
}

/** How long a start waits for Postgres before it gives up with one sentence. */
const START_PATIENCE_MS = 60_000;

/** Provides `Database`, `Clock` and `Installation` to the whole application and closes the pool at the end. */
@Global()
@Module({})
export class DatabaseModule implements OnModuleInit, OnApplicationShutdown {
  private readonly endings: (() => void)[] = [];

  constructor(
    @Inject(DATA_SOURCE) private readonly source: DataSource,
    private readonly database: Database,
    private readonly installation: Installation,
  ) {}

  /** Reads `DATABASE_URL`, `DATABASE_POOL_SIZE`, `DATABASE_WAIT_MS`; the start fails with one sentence if Postgres stays away. */
  static forRoot(options: DatabaseModuleOptions): DynamicModule {
    return {
      module: DatabaseModule,
      providers: [
        { provide: DATA_SOURCE, useFactory: () => connect(options) },
        Database,
        Clock,
        Installation,
        AnswerStore,
        retentionOf(EXPIRED_ANSWERS),
        { provide: IDEMPOTENCY_STORE, useExisting: AnswerStore },
      ],
      exports: [DATA_SOURCE, Database, Clock, Installation, IDEMPOTENCY_STORE],
    };
  }

  /** Before anything of the app begins. @throws OtherInstallation */
  async onModuleInit(): Promise<void> {
    const { migrations } = this.source;
    this.endings.push(
      registerReadiness({ name: 'database', check: () => this.database.demandMigrated(migrations) }),
      registerDependency({ name: 'database', check: () => this.database.ping() }),
    );
    await this.installation.atStart();
    await askedAtStart(() => tellOfOtherCollations(this.database));
  }

  async onApplicationShutdown(): Promise<void> {
    this.endings.forEach((end) => end());
    if (this.source.isInitialized) await this.source.destroy();
  }
}

async function connect(options: DatabaseModuleOptions): Promise<DataSource> {
  const config = readConfig(databaseConfig);
  const source = dataSourceOf({
    ...options,
    url: config.DATABASE_URL,
    poolSize: config.DATABASE_POOL_SIZE,
    waitMs: config.DATABASE_WAIT_MS,
  });
  for await (const { isLast } of turns({ forMs: START_PATIENCE_MS, pauseMs: 500 })) {
    try {
      return await source.initialize();
    } catch (error) {
      if (!isDatabaseUnavailable(error) || isLast) throw error;
      log.warn({ err: error }, 'The database does not answer yet');
    }
  }
  throw new Error('The database was not asked');
}
