import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { databaseConfig, readConfig } from '@customer-platform/config';
import { Database } from '@customer-platform/database';
import { log } from '@customer-platform/http';
import { DataSource } from 'typeorm';

/** Writers wait for dispatchers: four of them at once leave the dispatchers' connections alone. */
const POOL_SIZE = 4;

/**
 * The pool of those who write suppressions and opt-outs (messaging.md §1): apart from the dispatchers', so that neither
 * a backlog of sends nor a flood of suppressions can keep the other from its connections.
 */
@Injectable()
export class GateDatabase implements OnApplicationShutdown {
  private readonly config = readConfig(databaseConfig);
  private source: DataSource | undefined;
  private opening: Promise<Database> | undefined;

  /** Connects when it is first needed. @throws DatabaseUnavailable through the returned database's methods */
  async get(): Promise<Database> {
    this.opening ??= this.open().catch((error: unknown) => {
      this.opening = undefined;
      throw error;
    });
    return this.opening;
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.source?.isInitialized) await this.source.destroy();
  }

  private async open(): Promise<Database> {
    this.source = new DataSource({
      type: 'postgres',
      url: this.config.DATABASE_URL,
      poolSize: POOL_SIZE,
      applicationName: 'messaging-gate',
      connectTimeoutMS: this.config.DATABASE_WAIT_MS,
      poolErrorHandler: (error: unknown) => log.warn({ err: error }, 'An idle connection of the gate broke'),
      extra: { statement_timeout: 15_000, lock_timeout: 10_000, idle_in_transaction_session_timeout: 30_000 },
    });
    return new Database(await this.source.initialize());
  }
}
