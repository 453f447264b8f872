import { randomBytes } from 'node:crypto';
import { eventually } from './eventually.js';
import type { TestDatabase } from './test-database.js';

/** Which changes of which rows Postgres is to fail at. */
export interface Fault {
  readonly table: string;
  readonly on: 'INSERT' | 'UPDATE' | 'DELETE';
  /** PL/pgSQL over NEW and OLD. */
  readonly when: string;
  /** SQLSTATE; by default that of a fault of the statement itself. */
  readonly code?: string;
  /** In place of one: each in turn. */
  readonly codes?: readonly string[];
  /** PL/pgSQL in place of the failure, such as `RETURN NULL;`: the row is not written, and nothing is said. */
  readonly instead?: string;
  /** So many times only; a transaction that is rolled back counts. */
  readonly times?: number;
}

/** A table at which Postgres fails, in real transactions of the service. */
export class DatabaseFault {
  private constructor(
    private readonly database: Pick<TestDatabase, 'query'>,
    private readonly name: string,
    private readonly table: string,
    private readonly row: 'NEW' | 'OLD',
  ) {}

  /** Fails from now on, until it is mended. */
  static async in(database: Pick<TestDatabase, 'query'>, fault: Fault): Promise<DatabaseFault> {
    const { table, on, when, code = 'P0001', codes = [code], times = Number.MAX_SAFE_INTEGER } = fault;
    const name = `fault_${randomBytes(6).toString('hex')}`;
    const turn = `currval('${name}') % ${String(codes.length)} + 1`;
    const said = codes.map((each) => `'${each}'`).join(', ');
    const effect = fault.instead ?? `RAISE EXCEPTION 'refused' USING ERRCODE = (ARRAY[${said}])[${turn}];`;
    // A sequence does not go back with the transaction; the service's role need not be granted it.
    const row = on === 'DELETE' ? 'OLD' : 'NEW';
    await database.query(`
      CREATE SEQUENCE ${name};
      CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
      BEGIN
        IF ${when} THEN
          IF nextval('${name}') <= ${String(times)} THEN ${effect} END IF;
        END IF;
        RETURN ${row};
      END $$;
      CREATE TRIGGER ${name} BEFORE ${on} ON ${table} FOR EACH ROW EXECUTE FUNCTION ${name}()`);
    return new DatabaseFault(database, name, table, row);
  }

  /** How often it was come to. */
  async tries(): Promise<number> {
    const [row] = await this.database.query<{ tries: number }>(
      `SELECT CASE WHEN is_called THEN last_value ELSE 0 END::int AS tries FROM ${this.name}`,
    );
    return row?.tries ?? 0;
  }

  /**
   * Fails no more, once the changes of the table that are going on have ended. The trigger stays and does nothing: whoever
   * met it, went back to a savepoint and tries again holds its sequence, and would deadlock with the drop.
   */
  async mend(): Promise<void> {
    await this.database.query(
      `CREATE OR REPLACE FUNCTION ${this.name}() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN ${this.row}; END'`,
    );
    const changing = await this.database.query<{ xid: string }>(
      `SELECT DISTINCT virtualtransaction AS xid FROM pg_locks
        WHERE relation = '${this.table}'::regclass AND mode = 'RowExclusiveLock'
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
    const those = changing.map(({ xid }) => `'${xid}'`).join(', ');
    const hasEnded = async (): Promise<void> => {
      const going = await this.database.query(
        `SELECT 1 FROM pg_locks WHERE virtualxid = ANY (ARRAY[${those}]::text[])`,
      );
      if (going.length > 0) throw new Error(`Changes of ${this.table} still go on`);
    };
    await eventually(hasEnded, { within: 60_000 });
  }
}
