import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { RegistryUnavailable } from '@customer-platform/authorization';
import { databaseConfig, readConfig } from '@customer-platform/config';
import { isTransient } from '@customer-platform/database';
import { log } from '@customer-platform/http';
import { Pool } from 'pg';

/** Look-ups take a fraction of a millisecond: a few connections carry thousands of them a second. */
const CONNECTIONS = 6;
/** Nobody waits longer for an answer of the registry (identity.md §8). */
const TIMEOUT_MS = 500;

/** A statement by its name: prepared once on each connection, for planning costs more than looking up. */
export interface NamedStatement {
  name: string;
  text: string;
}

/**
 * Connections of the registry's own. Its statements look across organizations, so these connections are workers for
 * all their life and are lent to nobody else; one round trip, without a transaction around it. And a slow request of
 * the administrative routes never stands before a look-up.
 */
@Injectable()
export class RegistryPool implements OnApplicationShutdown {
  private readonly pool: Pool;

  constructor() {
    this.pool = new Pool({
      connectionString: readConfig(databaseConfig).DATABASE_URL,
      application_name: 'identity-registry',
      options: '-c app.worker=on',
      max: CONNECTIONS,
      // Who has waited so long has been given up by its module: doing its work yet would make all others late.
      connectionTimeoutMillis: TIMEOUT_MS,
      statement_timeout: TIMEOUT_MS,
      idleTimeoutMillis: 0,
      keepAlive: true,
    });
    this.pool.on('error', (error) => log.warn({ err: error }, 'An idle connection of the registry broke'));
  }

  /** @throws RegistryUnavailable when Postgres is away or slow */
  async select<Row>({ name, text }: NamedStatement, values: readonly unknown[]): Promise<Row[]> {
    try {
      const { rows } = await this.pool.query({ name, text, values: [...values] });
      return rows as Row[];
    } catch (error) {
      if (isTransient(error)) {
        throw new RegistryUnavailable('The registry’s database does not answer', { cause: error });
      }
      throw error;
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool.end();
  }
}
