import type { PoolClient } from 'pg';
import type { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner.js';

/**
 * What an entity manager of TypeORM sends its statements through, in a transaction that {@link OpenTransaction} begins
 * and ends: on a connection that is given, and closed where it is broken.
 */
export class TransactionRunner extends PostgresQueryRunner {
  /** What locks rows demands a transaction, and what saves would begin one. */
  override isTransactionActive = true;

  private readonly broke = (error: Error): void => this.giveBack(error);

  private constructor(
    driver: PostgresDriver,
    readonly client: PoolClient,
  ) {
    super(driver, 'master');
    this.manager = driver.dataSource.createEntityManager(this);
    // The driver takes back what is still lent when the pool is closed.
    driver.connectedQueryRunners.push(this);
    client.on('error', this.broke);
  }

  /** A runner on a connection of the pool, which `release` or `discard` gives back. */
  static async of(source: DataSource): Promise<TransactionRunner> {
    const driver = source.driver as PostgresDriver;
    const [client] = (await driver.obtainMasterConnection()) as [PoolClient, unknown];
    return new TransactionRunner(driver, client);
  }

  override connect(): Promise<PoolClient> {
    return Promise.resolve(this.client);
  }

  override release(): Promise<void> {
    this.giveBack();
    return Promise.resolve();
  }

  /** Closes the connection; Postgres then undoes what it began. */
  discard(reason: unknown): void {
    this.giveBack(reason instanceof Error ? reason : true);
  }

  override startTransaction(): Promise<void> {
    return Promise.reject(new Error('A transaction is open: a unit inside it is a savepoint'));
  }

  /** Gives the connection back to the pool, or closes one that is broken. */
  giveBack(broken?: Error | boolean): void {
    if (this.isReleased) return;
    this.isReleased = true;
    this.client.off('error', this.broke);
    this.client.release(broken);
    const { connectedQueryRunners } = this.driver;
    connectedQueryRunners.splice(connectedQueryRunners.indexOf(this), 1);
  }
}
