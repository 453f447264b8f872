import { postgresFailure, type Transaction } from '@customer-platform/database';

/** Less is not given to a statement: the end of the transaction is one, too. */
const LEAST_MS = 50;
const CANCELLED = '57014';

/** Of the two seconds that an answer may take at most. */
export const ANSWER_MS = 1_500;

class TimeIsUp extends Error {}

/** So much time for several steps of one transaction. */
export class TimeLimit {
  private readonly endsAt: number;

  constructor(ms: number) {
    this.endsAt = performance.now() + ms;
  }

  get over(): boolean {
    return performance.now() >= this.endsAt;
  }

  /** For steps that look by themselves; throws within {@link attempt}. */
  readonly goOn = (): void => {
    if (this.over) throw new TimeIsUp();
  };

  /**
   * A step, each of whose statements ends when time is up, at the latest after `mostMs`; then undefined, and the
   * transaction can go on.
   */
  async attempt<T>(
    tx: Transaction,
    work: (timed: Transaction) => Promise<T>,
    mostMs: number = Number.MAX_SAFE_INTEGER,
  ): Promise<T | undefined> {
    try {
      return await tx.savepoint(() => work(this.timed(tx, mostMs)));
    } catch (error) {
      if (error instanceof TimeIsUp || postgresFailure(error)?.code === CANCELLED) return undefined;
      throw error;
    }
  }

  private timed(tx: Transaction, mostMs: number): Transaction {
    const limited = async (): Promise<void> => {
      this.goOn();
      const left = Math.max(LEAST_MS, Math.ceil(Math.min(this.endsAt - performance.now(), mostMs)));
      await tx.query(`SET LOCAL statement_timeout = ${String(left)}`);
    };
    return {
      manager: tx.manager,
      organizationId: tx.organizationId,
      query: async (sql, parameters) => {
        await limited();
        return tx.query(sql, parameters);
      },
      prepared: async (sql, parameters) => {
        await limited();
        return tx.prepared(sql, parameters);
      },
      savepoint: (unit) => tx.savepoint(unit),
      afterCommit: (run) => tx.afterCommit(run),
    };
  }
}
