import type { PoolClient, QueryConfig, QueryResult } from 'pg';
import type { EntityManager } from 'typeorm';
import { log } from '@customer-platform/http';
import { DatabaseUnavailable, spoilsConnection, withoutValues } from './errors.js';
import { isUuid } from '@customer-platform/http';
import type { TransactionRunner } from './transaction-runner.js';

/**
 * One database transaction, bound to one organization by row level security: a statement sees and writes
 * only rows whose `organization_id` is {@link Transaction.organizationId}.
 */
export interface Transaction {
  /** For entities. Every statement through it runs in this transaction. */
  readonly manager: EntityManager;
  /** The organization whose rows are visible. Throws in a worker transaction before `useOrganization`. */
  readonly organizationId: string;
  /** Runs one parametrised statement and returns its rows (`RETURNING` included). For bulk and hot paths. */
  query<Row = Record<string, unknown>>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
  /**
   * As `query`, planned once in five seconds on each connection: for statements of hot paths whose text never changes and whose plan does
   * not depend on its values, such as inserts and look-ups by a key. What lists and reports ask is planned each time.
   */
  prepared<Row = Record<string, unknown>>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
  /**
   * A unit inside the transaction that can fail alone: what it wrote is undone, the rest stands. The way to look at
   * what an insert collided with, for an error ends a transaction otherwise.
   */
  savepoint<T>(work: () => Promise<T>): Promise<T>;
  /** Runs after the commit has been acknowledged, never after a rollback. A throw is logged, not raised. */
  afterCommit(run: () => void): void;
}

/** A transaction that begins without an organization: sees only tables with the worker policy until it chooses one. */
export interface WorkerTransaction extends Transaction {
  /** From here on the transaction is bound to this organization; may be called again for the next one. */
  useOrganization(organizationId: string): Promise<void>;
}

/** How a transaction begins: bound to an organization, and with what else its policies look at. */
export interface Opening {
  readonly organizationId?: string;
  /** A statement without parameters. */
  readonly settings?: string;
  /** Another, whose answer the beginning gives. */
  readonly question?: string;
}

/**
 * A transaction that is bound to an organization from its beginning.
 * @throws TypeError for what is no UUID
 */
export function ofOrganization(organizationId: string): Opening {
  if (!isUuid(organizationId)) throw new TypeError('An organization id must be a UUID');
  return { organizationId, settings: `SET LOCAL app.organization_id = '${organizationId}'` };
}

/** What policies look at; a worker's transaction has no organization until it chooses one. */
const BOUND_TO = `
  SELECT current_setting('app.organization_id', true) AS organization, current_setting('app.worker', true) AS worker`;
const UNBOUND = `SET LOCAL app.organization_id = ''; SET LOCAL app.worker = ''`;
const BIND = `SELECT set_config('app.organization_id', $1, true), set_config('app.worker', $2, true)`;

/** The one implementation of both; made by `Database` only. */
export class OpenTransaction implements WorkerTransaction {
  private organization: string | undefined;
  private over = false;
  /** How many units are open: the transaction, and savepoints in it. */
  private depth = 0;
  private readonly hooks: (() => void)[] = [];
  private readonly client: PoolClient;

  constructor(private readonly runner: TransactionRunner) {
    this.client = runner.client;
  }

  get manager(): EntityManager {
    return this.runner.manager;
  }

  get organizationId(): string {
    if (this.organization === undefined) {
      throw new Error('This transaction has no organization yet: call useOrganization first');
    }
    return this.organization;
  }

  async query<Row = Record<string, unknown>>(
    sql: string,
    parameters: readonly unknown[] = [],
  ): Promise<Row[]> {
    return this.run({ text: sql, values: [...parameters] });
  }

  async prepared<Row = Record<string, unknown>>(
    sql: string,
    parameters: readonly unknown[] = [],
  ): Promise<Row[]> {
    notePlans(this.client);
    return this.run({ name: nameOf(sql), text: sql, values: [...parameters] });
  }

  /**
   * A connection that breaks while no statement is under way tells nobody: it is taken from the transaction.
   * @throws DatabaseUnavailable
   */
  demandConnected(): void {
    if (this.runner.isReleased) throw new DatabaseUnavailable(new Error('The connection broke'));
  }

  /** Gives the connection back. Whoever asks it for more from here on has kept it for too long. */
  close(): void {
    this.over = true;
    this.runner.giveBack();
  }

  /** Whether there is anything to commit, locks of rows included. */
  async hasWritten(): Promise<boolean> {
    const [row] = await this.query<{ wrote: boolean }>(
      'SELECT pg_current_xact_id_if_assigned() IS NOT NULL AS wrote',
    );
    return row?.wrote === true;
  }

  private async run<Row>(statement: QueryConfig): Promise<Row[]> {
    if (this.over) throw new Error('The transaction is over: its query function cannot be used later');
    this.demandConnected();
    const result = await this.client.query(statement);
    return result.rows as Row[];
  }

  afterCommit(run: () => void): void {
    this.hooks.push(run);
  }

  /**
   * Begins; the settings travel with the beginning, for half of what a small read costs is its ways to Postgres. So does
   * the end of plans that have become old.
   */
  async open({ organizationId, settings, question }: Opening): Promise<Record<string, unknown> | undefined> {
    this.depth = 1;
    const statements = ['START TRANSACTION', forgetOldPlans(this.client), settings, question].filter(
      (text) => text !== undefined,
    );
    const answers: unknown = await this.client.query(statements.join('; '));
    this.organization = organizationId;
    return question === undefined ? undefined : lastRowOf(answers);
  }

  /** A unit inside the transaction that sees what a transaction begun so sees; what comes behind it sees what came before. */
  async unit<T>(
    { organizationId, settings, question }: Opening,
    work: (answer: Record<string, unknown> | undefined) => Promise<T>,
  ): Promise<T> {
    const before = this.organization;
    const [bound] = await this.query<{ organization: string | null; worker: string | null }>(BOUND_TO);
    try {
      return await this.savepoint(async () => {
        const statements = [UNBOUND, settings, question].filter((text) => text !== undefined && text !== '');
        const answers: unknown = await this.client.query(statements.join('; '));
        this.organization = organizationId;
        const result = await work(question === undefined ? undefined : lastRowOf(answers));
        await this.query(BIND, [bound?.organization ?? '', bound?.worker ?? '']);
        return result;
      });
    } finally {
      this.organization = before;
    }
  }

  async commit(): Promise<void> {
    // A connection that was taken back may be another's by now, with a transaction of its own.
    this.demandConnected();
    await this.client.query('COMMIT');
    this.depth = 0;
  }

  async useOrganization(organizationId: string): Promise<void> {
    const { settings = '' } = ofOrganization(organizationId);
    await this.query(settings);
    this.organization = organizationId;
  }

  async savepoint<T>(work: () => Promise<T>): Promise<T> {
    const hooks = this.hooks.length;
    this.demandConnected();
    await this.client.query(`SAVEPOINT unit_${String(this.depth)}`);
    this.depth += 1;
    try {
      const result = await work();
      this.demandConnected();
      await this.client.query(`RELEASE SAVEPOINT unit_${String(this.depth - 1)}`);
      this.depth -= 1;
      return result;
    } catch (error) {
      this.hooks.length = hooks;
      await this.rollBack();
      throw error;
    }
  }

  /** Undoes the innermost unit. If that fails the connection is gone, and the error that led here is the one to tell. */
  async rollBack(): Promise<void> {
    if (this.depth === 0 || this.runner.isReleased) return;
    const unit = this.depth - 1;
    try {
      await this.client.query(unit === 0 ? 'ROLLBACK' : `ROLLBACK TO SAVEPOINT unit_${String(unit)}`);
      this.depth = unit;
    } catch (error) {
      log.warn({ err: withoutValues(error) }, 'A rollback failed; the connection is given up');
      this.discard(error);
    }
  }

  /** Undoes all of it after this failure, whose values are nobody's to log. */
  async undo(error: unknown): Promise<void> {
    if (spoilsConnection(error)) this.discard(error);
    else await this.rollBack();
    withoutValues(error);
  }

  /** Closes the connection instead of giving it back to the pool; Postgres then undoes what it began. */
  discard(reason: unknown): void {
    this.runner.discard(reason);
  }

  takeHooks(): (() => void)[] {
    return this.hooks.splice(0);
  }
}

/**
 * How long a connection keeps its plans, the first ones for less, each for twice as long as the last. One that was made
 * while a table was empty takes any index to be as good as any other, or none: with ten thousand rows, and before
 * Postgres analyzes them within a minute, it reads all of them for each that it seeks.
 */
const PLANS_LIVE_MS = 5_000;
const FIRST_PLANS_LIVE_MS = 150;

/** Since when a connection keeps plans, and until when. */
interface PlansOf {
  readonly liveMs: number;
  since: number | undefined;
}
const plansOf = new WeakMap<PoolClient, PlansOf>();

/** Notes that a connection keeps plans, from the first statement on that is planned. */
export function notePlans(client: PoolClient): void {
  const plans = plansOf.get(client);
  if (plans) plans.since ??= performance.now();
  else plansOf.set(client, { liveMs: FIRST_PLANS_LIVE_MS, since: performance.now() });
}

/** The statement that ends the plans of a connection which has kept them for long enough. */
export function forgetOldPlans(client: PoolClient): string | undefined {
  const plans = plansOf.get(client);
  if (plans?.since === undefined || performance.now() - plans.since < plans.liveMs) return undefined;
  plansOf.set(client, { liveMs: Math.min(2 * plans.liveMs, PLANS_LIVE_MS), since: undefined });
  return 'DISCARD PLANS';
}

/** What the last of several statements that were sent together has answered. */
function lastRowOf(answers: unknown): Record<string, unknown> | undefined {
  return (answers as QueryResult<Record<string, unknown>>[]).at(-1)?.rows[0];
}

const names = new Map<string, string>();

/** What a statement is called on every connection of this process. */
function nameOf(sql: string): string {
  let name = names.get(sql);
  if (name === undefined) names.set(sql, (name = `statement_${names.size + 1}`));
  return name;
}
