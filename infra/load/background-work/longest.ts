import { setTimeout as pause } from 'node:timers/promises';
import { connected } from '@customer-platform/kit/databases.ts';
import type pg from 'pg';

const LOOK_EVERY_MS = 10;

/** What a service had its database do, of all of its connections. */
interface Longest {
  /** Milliseconds. */
  statementMs: number;
  transactionMs: number;
  /** The beginning of that statement. */
  statement: string;
}

const LOOK = `
  SELECT 1000 * extract(epoch FROM clock_timestamp() - query_start)::float8 AS statement_ms,
         1000 * extract(epoch FROM clock_timestamp() - xact_start)::float8 AS transaction_ms,
         state = 'active' AS active, regexp_replace(query, '\\s+', ' ', 'g') AS query
    FROM pg_stat_activity
   WHERE datname = current_database() AND usename = $1 AND xact_start IS NOT NULL`;

/** Looks at a role's connections a hundred times a second: what lasts is seen, to one look. */
export class Watch {
  private found: Longest = { statementMs: 0, transactionMs: 0, statement: '' };
  private going = true;
  private readonly client: pg.Client;
  private readonly role: string;
  private readonly looking: Promise<void>;

  private constructor(client: pg.Client, role: string) {
    this.client = client;
    this.role = role;
    this.looking = this.look();
  }

  static async begin(databaseUrl: string, role: string): Promise<Watch> {
    return new Watch(await connected(databaseUrl), role);
  }

  /** The longest since this was asked last. */
  take(): Longest {
    const found = this.found;
    this.found = { statementMs: 0, transactionMs: 0, statement: '' };
    return found;
  }

  async end(): Promise<void> {
    this.going = false;
    await this.looking;
    await this.client.end();
  }

  private async look(): Promise<void> {
    interface Row {
      statement_ms: number;
      transaction_ms: number;
      active: boolean;
      query: string;
    }
    for (; this.going; await pause(LOOK_EVERY_MS)) {
      const { rows } = await this.client.query<Row>(LOOK, [this.role]);
      for (const row of rows) {
        this.found.transactionMs = Math.max(this.found.transactionMs, row.transaction_ms);
        if (!row.active || row.statement_ms <= this.found.statementMs) continue;
        this.found.statementMs = row.statement_ms;
        this.found.statement = row.query.trim().slice(0, 110);
      }
    }
  }
}
