import { Query, type Connection, type PoolClient, type QueryResult } from 'pg';
import type { EntityManager } from 'typeorm';
import { forgetOldPlans, notePlans, type Transaction } from './transaction.js';
import type { TransactionRunner } from './transaction-runner.js';

/** Answers that come one by one. */
export type Promises<T extends readonly unknown[]> = { readonly [K in keyof T]: Promise<T[K]> };

/** The organization that is read; `byKeys` where each statement seeks its rows by keys that it is given. */
export interface ReadsOf {
  readonly organizationId: string;
  readonly byKeys: boolean;
}

interface Statement {
  readonly text: string;
  readonly values: readonly (string | Buffer | null)[];
  /** False for one that has no rows. */
  readonly answers: boolean;
}

const BEGIN: Statement = {
  text: 'START TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY',
  values: [],
  answers: false,
};
const END: Statement = { text: 'COMMIT', values: [], answers: false };
/** The statements before those that are asked. */
const BEFORE = 2;

const BOUND = `set_config('app.organization_id', $1, true)`;
/** Settings as `ALONG_INDEXES` and `ONE_PLAN` of database.ts. */
const BY_KEYS = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin']
  .map((setting) => `set_config('${setting}', 'off', true)`)
  .concat(`set_config('plan_cache_mode', 'force_generic_plan', true)`);

function bindingTo({ organizationId, byKeys }: ReadsOf): Statement {
  const text = `SELECT ${[BOUND, ...(byKeys ? BY_KEYS : [])].join(', ')}`;
  return { text, values: [organizationId], answers: true };
}

/** Notes what is asked until it is closed, and hands out the answers. */
class AskedReads implements Transaction {
  readonly statements: Statement[] = [];
  private readonly waiting: PromiseWithResolvers<unknown[]>[] = [];
  private isClosed = false;

  constructor(readonly organizationId: string) {}

  get manager(): EntityManager {
    throw new Error('Reads at once are statements');
  }

  query<Row>(text: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    return this.prepared<Row>(text, parameters);
  }

  prepared<Row>(text: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    if (this.isClosed)
      return Promise.reject(new Error('The reads have been sent: ask for all of them at once'));
    this.statements.push({ text, values: parameters.map(sentValue), answers: true });
    const answer = Promise.withResolvers<unknown[]>();
    this.waiting.push(answer);
    return answer.promise as Promise<Row[]>;
  }

  savepoint<T>(): Promise<T> {
    return Promise.reject(new Error('Reads at once have nothing to undo'));
  }

  afterCommit(): void {
    throw new Error('Reads at once commit nothing');
  }

  close(): void {
    this.isClosed = true;
  }

  answer(results: readonly QueryResult[]): void {
    this.waiting.forEach((answer, at) => answer.resolve(results[at]?.rows ?? []));
  }

  fail(error: unknown): void {
    for (const answer of this.waiting) answer.reject(error);
  }
}

function sentValue(value: unknown): string | Buffer | null {
  if (value === null || typeof value === 'string' || Buffer.isBuffer(value)) return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new TypeError('Reads at once take texts, numbers, and lists as arrays.ts writes them');
}

/**
 * Begins, asks and commits in one message to Postgres and one back: half of what a small read costs is its ways. Each
 * statement is prepared once on each connection, so its text never changes. What is asked sees one state of the database and
 * changes nothing. Where they fail, which of them Postgres has prepared is not known: the connection is closed.
 */
export async function readAtOnce<T extends readonly unknown[]>(
  runner: TransactionRunner,
  reads: ReadsOf,
  ask: (tx: Transaction) => Promises<T>,
): Promise<T> {
  const { client } = runner;
  const asked = new AskedReads(reads.organizationId);
  const answers: Promise<unknown> = Promise.all(ask(asked));
  // eslint-disable-next-line house/no-swallowed-error -- whoever failed before all is sent is heard below
  answers.catch(() => undefined);
  asked.close();
  try {
    const old = forgetOldPlans(client);
    if (old !== undefined) await client.query(old);
    notePlans(client);
    const results = await send(client, [BEGIN, bindingTo(reads), ...asked.statements, END]);
    asked.answer(results.slice(BEFORE, -1));
  } catch (error) {
    runner.discard(error);
    asked.fail(error);
  }
  return (await answers) as T;
}

function send(client: PoolClient, statements: readonly Statement[]): Promise<QueryResult[]> {
  return new Promise((resolve, reject) => {
    client.query(
      new OneMessage(statements, (error, results) => {
        if (error) reject(error);
        else resolve(results);
      }),
    );
  });
}

/** Names of the statements, the same on every connection of this process. */
const names = new Map<string, string>();
const preparedOn = new WeakMap<Connection, Set<string>>();

/** Several statements of the extended protocol behind which one `Sync` stands: Postgres answers all of them together. */
class OneMessage extends Query {
  constructor(
    private readonly statements: readonly Statement[],
    answered: (error: Error | undefined, results: QueryResult[]) => void,
  ) {
    super({ text: 'reads at once' }, undefined, (error, results) =>
      answered(error ?? undefined, results as unknown as QueryResult[]),
    );
    this.submit = (connection) => this.sendOn(connection);
  }

  private sendOn(connection: Connection): void {
    let prepared = preparedOn.get(connection);
    if (!prepared) preparedOn.set(connection, (prepared = new Set()));
    connection.stream.cork();
    for (const { text, values, answers } of this.statements) {
      const name = nameOf(text);
      if (!prepared.has(name)) connection.parse({ name, text, types: [] }, true);
      prepared.add(name);
      connection.bind({ statement: name, values: [...values] }, true);
      if (answers) connection.describe({ type: 'P' }, true);
      connection.execute(null, true);
    }
    connection.sync();
    connection.stream.uncork();
  }
}

function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined) names.set(text, (name = `read_${String(names.size + 1)}`));
  return name;
}
