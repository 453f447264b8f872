import { AsyncLocalStorage } from 'node:async_hooks';
import { Inject, Injectable } from '@nestjs/common';
import { log, turns } from '@customer-platform/http';
import { escapeLiteral } from 'pg';
import { DataSource, type MigrationInterface, QueryRunnerAlreadyReleasedError } from 'typeorm';
import { CallUnits } from './call-units.js';
import {
  DatabaseUnavailable,
  isContended,
  isDatabaseUnavailable,
  lostToAnother,
  withoutValues,
} from './errors.js';
import {
  ofOrganization,
  OpenTransaction,
  type Opening,
  type Transaction,
  type WorkerTransaction,
} from './transaction.js';
import { readAtOnce, type Promises, type ReadsOf } from './reads-at-once.js';
import { TransactionRunner } from './transaction-runner.js';

/** The injection token of the module's one data source. */
export const DATA_SOURCE = Symbol('DATA_SOURCE');

/** Whoever says which organization is meant: a request's context, or the bare id. */
export interface OrganizationScope {
  readonly organizationId: string;
}

/** What is done in one transaction, given what its beginning answered. */
type Work<T> = (tx: OpenTransaction, answer: Record<string, unknown> | undefined) => Promise<T>;

/** How often a transaction is tried that loses to others. */
const ATTEMPTS = 3;
/** The winner wakes up and takes what it waits for; who begins anew at once may take it first, and lose again. */
const LET_PASS_MS = 10;
const AS_WORKER = `SET LOCAL app.worker = 'on'`;

/**
 * A statement that is planned while its tables are small or not analyzed yet would go on reading all of them when they
 * are large. What it is given is keys: no plan is better for some of them than for others.
 */
const ALONG_INDEXES = ['enable_seqscan = off', 'enable_hashjoin = off', 'enable_mergejoin = off']
  .map((setting) => `SET LOCAL ${setting}`)
  .join('; ');

/**
 * Postgres plans a prepared statement that is given a list anew with each call: it takes a list whose length it knows
 * to be cheaper than one of ten.
 */
const ONE_PLAN = 'SET LOCAL plan_cache_mode = force_generic_plan';

/** How a transaction of one organization works. */
interface WithinOptions {
  /**
   * Statements with parameters, prepared or not, are planned without a look at what they are given: for those whose
   * plan is the same for all of it.
   */
  readonly onePlan?: boolean;
  /** Of a call that is answered once (`answered`): commits by itself and at once, whatever the call comes to. */
  readonly alone?: boolean;
  /** Once it aborts, nothing waits for the transaction any longer: it fails, and its connection is closed under it. */
  readonly signal?: AbortSignal;
}

/** How a transaction that crosses organizations works. */
interface AcrossOptions extends WithinOptions {
  /** Every statement seeks its rows by keys that it is given: no plan may read a table whole. As `onePlan` besides. */
  readonly byKeys?: boolean;
  /** Statements without parameters that set what ends with the transaction; they travel with its beginning. */
  readonly settings?: string;
  /** Another, of its own snapshot, that travels with the beginning; its first row is given to the work. */
  readonly question?: string;
}

/** A unit of work: how it begins, what it does, and whether it commits with the call that it is of. */
interface Unit<T> extends Pick<WithinOptions, 'alone' | 'signal'> {
  readonly opening: Opening;
  readonly work: Work<T>;
}

/** An open transaction that units of work begun in the same call chain join instead of opening their own. */
interface Joinable {
  transaction: OpenTransaction;
  turn: Promise<unknown>;
}

const NOT_MIGRATED = 'Migrations have not run yet';

/**
 * The way to the module's database. Every statement runs in a transaction that is bound to an organization by
 * a setting which ends with it: nothing leaks to the next borrower of the connection.
 *
 * `work` that loses to another transaction (a deadlock, a serialization failure) is rolled back and begins anew, three
 * times in all: what it changes it changes through its transaction, and what it collects for others it collects anew.
 *
 * All methods throw `DatabaseUnavailable` (503) when Postgres cannot be reached or cannot do the work now, and otherwise
 * what `work` threw after rolling back.
 */
@Injectable()
export class Database {
  private readonly joinable = new AsyncLocalStorage<Joinable>();
  private readonly calls = new AsyncLocalStorage<CallUnits>();
  /** The migrations that the log was last told of as missing. */
  private toldMissing = '';

  constructor(@Inject(DATA_SOURCE) private readonly source: DataSource) {}

  /** One transaction that sees and writes the rows of this organization only. */
  async inOrganization<T>(
    where: OrganizationScope,
    work: (tx: Transaction) => Promise<T>,
    { onePlan = false, ...options }: WithinOptions = {},
  ): Promise<T> {
    const outer = this.joinable.getStore();
    if (outer && outer.transaction.organizationId === where.organizationId) return this.nest(outer, work);
    const opening = ofOrganization(where.organizationId);
    const settings = settingsOf(opening.settings, onePlan && ONE_PLAN);
    return this.transact({ opening: { ...opening, settings }, work, ...options });
  }

  /**
   * Reads by several statements in one way to Postgres and back, of one state of the database: for reads that need
   * nothing of one another. Each is asked for before `ask` returns; later ones are refused. Their texts never change: each
   * is prepared. With `byKeys` as in `acrossOrganizations`. Within a larger unit of work it is one of its transactions.
   */
  async atOnce<T extends readonly unknown[]>(
    where: OrganizationScope,
    ask: (tx: Transaction) => Promises<T>,
    { byKeys = false }: Pick<AcrossOptions, 'byKeys'> = {},
  ): Promise<T> {
    if (this.joinable.getStore() || this.calls.getStore())
      return this.inOrganization(where, async (tx) => (await Promise.all(ask(tx))) as unknown as T);
    const { organizationId } = where;
    ofOrganization(organizationId);
    return this.readOnce({ organizationId, byKeys }, ask);
  }

  /** One transaction over work queues and look-up tables: sees the tables that carry the worker policy, no others. */
  async acrossOrganizations<T>(
    work: (tx: WorkerTransaction, answer: Record<string, unknown> | undefined) => Promise<T>,
    { byKeys = false, onePlan = byKeys, settings: own, question, ...options }: AcrossOptions = {},
  ): Promise<T> {
    const settings = settingsOf(AS_WORKER, byKeys && ALONG_INDEXES, onePlan && ONE_PLAN, own);
    return this.transact({ opening: { settings, question }, work, ...options });
  }

  /**
   * One transaction in which each organization's items are worked on by themselves, bound to it: as so many of
   * `inOrganization`, for one beginning and one commit. The organizations come in one order for all who do so, so that
   * two of them wait for each other instead of deadlocking.
   */
  async forEachOrganization<T>(
    items: readonly T[],
    organizationOf: (item: T) => string,
    work: (tx: Transaction, own: T[]) => Promise<void>,
  ): Promise<void> {
    const groups = [...Map.groupBy(items, organizationOf)].sort(([a], [b]) => (a < b ? -1 : 1));
    const [only] = groups;
    if (!only) return;
    if (groups.length === 1)
      return this.transact({ opening: ofOrganization(only[0]), work: (tx) => work(tx, only[1]) });
    const inOrder = async (tx: OpenTransaction): Promise<void> => {
      for (const [organizationId, own] of groups) {
        await tx.useOrganization(organizationId);
        await work(tx, own);
      }
    };
    await this.transact({ opening: {}, work: inOrder });
  }

  /**
   * As `inOrganization`, and every `inOrganization` of the same organization that `work` leads to joins this
   * transaction as a savepoint: all of it commits at once. What makes a stored answer and its effect one.
   */
  async joined<T>(where: OrganizationScope, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.transact({
      opening: ofOrganization(where.organizationId),
      work: (tx) => this.join(tx, work),
    });
  }

  /**
   * As `joined`, but only where nobody else holds the lock of this name, which ends with the transaction.
   * @returns undefined, without having begun `work`, where somebody does
   */
  async joinedIfFree<T>(
    where: OrganizationScope,
    lock: string,
    work: (tx: Transaction) => Promise<T>,
  ): Promise<T | undefined> {
    // A statement of its own, though it travels with the beginning: what comes later sees what the last holder wrote.
    const question = `SELECT pg_try_advisory_xact_lock(hashtextextended(${escapeLiteral(lock)}, 0)) AS taken`;
    return this.transact({
      opening: { ...ofOrganization(where.organizationId), question },
      work: async (tx, answer) => (answer?.['taken'] === true ? this.join(tx, work) : undefined),
    });
  }

  /**
   * Runs a call that is answered once, and `answer` in the transaction that its effect commits in: a crash, or a commit
   * whose outcome nobody learns, leaves both or neither. Units of work that only read end as ever; the first that writes
   * stays open for those that follow and for `answer`. A call that writes nothing has `answer` in a transaction of its own.
   * @throws what the call or `answer` threw; nothing is left then but what its units wrote `alone`
   */
  async answered<T>(
    run: () => Promise<T>,
    answer: (tx: WorkerTransaction, result: T) => Promise<void>,
  ): Promise<T> {
    const call = new CallUnits();
    let result: T;
    try {
      result = await this.calls.run(call, run);
      await call.end();
      if (call.open) await this.finish(call.open, (tx) => answer(tx, result));
    } catch (error) {
      await call.end();
      await call.open?.undo(error);
      throw failureOf(error);
    } finally {
      call.open?.close();
    }
    if (call.open) call.open.takeHooks().forEach(runHook);
    else await this.transact({ opening: {}, work: (tx) => answer(tx, result) });
    return result;
  }

  /** Answers when Postgres does. */
  async ping(): Promise<void> {
    await this.transact({ opening: {}, work: (tx) => tx.query('SELECT 1') });
  }

  /** Throws while Postgres is away or one of these migrations has not run: what readiness asks. */
  async demandMigrated(migrations: readonly MigrationInterface[]): Promise<void> {
    const rows = await this.transact({
      opening: {},
      work: (tx) => tx.query<{ name: string }>('SELECT name FROM migrations'),
    });
    const done = new Set(rows.map(({ name }) => name));
    const missing = migrations
      .map((migration) => migration.name ?? migration.constructor.name)
      .filter((name) => !done.has(name));
    const names = missing.join(', ');
    // Readiness asks again and again, and its answer names no migration: the log does, once.
    if (names !== '' && names !== this.toldMissing) log.warn({ migrations: missing }, NOT_MIGRATED);
    this.toldMissing = names;
    if (names !== '') throw new Error(`${NOT_MIGRATED}: ${names}`);
  }

  private join<T>(transaction: OpenTransaction, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.joinable.run({ transaction, turn: Promise.resolve() }, () => work(transaction));
  }

  private async nest<T>(outer: Joinable, work: (tx: Transaction) => Promise<T>): Promise<T> {
    const { transaction } = outer;
    const run = (): Promise<T> => transaction.savepoint(() => this.join(transaction, work));
    // Savepoints nest, they do not run side by side: units begun in parallel take turns.
    const turn = outer.turn.then(run, run);
    outer.turn = turn;
    return turn;
  }

  /** Whether what runs now is of a call with a key that has written: all that it locks is held until its answer. */
  get isHeld(): boolean {
    const call = this.calls.getStore();
    return call?.isCurrent === true && call.open !== undefined;
  }

  /** Where the call that this is of has written, a unit in what it wrote; else a transaction of its own. */
  private async transact<T>(unit: Unit<T>): Promise<T> {
    const call = this.calls.getStore();
    const joins = call?.isCurrent === true && !unit.alone;
    if (!joins) return this.begin(unit);
    const { open } = call;
    return open ? call.inTurn(() => this.within(open, unit)) : this.begin(unit, call);
  }

  /** What it leads to is a unit inside it in turn. */
  private async within<T>(tx: OpenTransaction, { opening, work, signal }: Unit<T>): Promise<T> {
    try {
      return await abandonedBy(signal, tx, () =>
        tx.unit(opening, async (answer) => {
          const inner = new CallUnits(tx);
          try {
            return await this.calls.run(inner, () => work(tx, answer));
          } finally {
            await inner.end();
          }
        }),
      );
    } catch (error) {
      throw failureOf(withoutValues(error));
    }
  }

  private async begin<T>(unit: Unit<T>, call?: CallUnits): Promise<T> {
    for await (const { count: attempt, isLast } of turns({ most: ATTEMPTS, pauseMs: LET_PASS_MS })) {
      try {
        return await this.attempt(unit, call);
      } catch (error) {
        if (!isLast && lostToAnother(error)) {
          log.info({ err: error, attempt }, 'A transaction lost to another one; it begins anew');
          continue;
        }
        throw failureOf(error);
      }
    }
    throw new DatabaseUnavailable(new Error('No attempt was made'));
  }

  private async attempt<T>({ opening, work, signal }: Unit<T>, call?: CallUnits): Promise<T> {
    const tx = new OpenTransaction(await TransactionRunner.of(this.source));
    let result: T;
    try {
      // What it leads to does not join what may yet be undone without it.
      result = await abandonedBy(signal, tx, async () => {
        const answer = await tx.open(opening);
        return this.calls.exit(() => work(tx, answer));
      });
      if (call && (await tx.hasWritten()) && call.hold(tx)) return result;
      await tx.commit();
    } catch (error) {
      await tx.undo(error);
      throw error;
    } finally {
      if (call?.open !== tx) tx.close();
    }
    tx.takeHooks().forEach(runHook);
    return result;
  }

  private async readOnce<T extends readonly unknown[]>(
    reads: ReadsOf,
    ask: (tx: Transaction) => Promises<T>,
  ): Promise<T> {
    let runner: TransactionRunner | undefined;
    try {
      runner = await TransactionRunner.of(this.source);
      return await readAtOnce(runner, reads, ask);
    } catch (error) {
      throw failureOf(withoutValues(error));
    } finally {
      runner?.giveBack();
    }
  }

  private async finish(tx: OpenTransaction, last: (tx: OpenTransaction) => Promise<void>): Promise<void> {
    await this.calls.exit(() => last(tx));
    await tx.commit();
  }
}

/** Whatever is under way in the transaction fails once the signal aborts, and its connection is closed. */
async function abandonedBy<T>(
  signal: AbortSignal | undefined,
  tx: OpenTransaction,
  work: () => Promise<T>,
): Promise<T> {
  // No request to Postgres to cancel it: one that is frozen would not answer that either.
  const abandon = (): void => tx.discard(new Error('The transaction is no longer waited for'));
  signal?.addEventListener('abort', abandon);
  try {
    if (signal?.aborted) abandon();
    return await work();
  } finally {
    signal?.removeEventListener('abort', abandon);
  }
}

/** What is thrown for a transaction that failed so. */
function failureOf(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable) return error;
  const isPassing = isDatabaseUnavailable(error) || isContended(error) || isTakenBack(error);
  return isPassing ? new DatabaseUnavailable(error) : error;
}

/** What an entity manager says once TypeORM has taken the runner back: within a transaction its connection broke. */
function isTakenBack(error: unknown): boolean {
  return error instanceof QueryRunnerAlreadyReleasedError;
}

function runHook(run: () => void): void {
  try {
    run();
  } catch (error) {
    log.error({ err: error }, 'What was to run after a commit failed');
  }
}

/** Those that are wanted, as they travel with the beginning of a transaction. */
function settingsOf(...wanted: readonly (string | false | undefined)[]): string {
  return wanted.filter((each) => typeof each === 'string').join('; ');
}
