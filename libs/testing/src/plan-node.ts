import type { Transaction } from '@customer-platform/database';
import { Client } from 'pg';
import type { TestDatabase } from './test-database.js';

/** A step of a plan as `EXPLAIN (ANALYZE, FORMAT JSON)` tells it. */
export interface PlanNode {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** How many rows of a table a plan read, over all its loops, those that it threw away included. */
export function rowsRead(node: PlanNode, table: string): number {
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  const here = node['Relation Name'] === table ? (node['Actual Rows'] + removed) * node['Actual Loops'] : 0;
  return (node.Plans ?? []).reduce((sum, inner) => sum + rowsRead(inner, table), here);
}

/** How many rows of a table a statement of a job reads, which is done for it: as the service, whom row level security binds. */
export async function rowsReadBy(
  { url }: TestDatabase,
  table: string,
  sql: string,
  parameters: unknown[],
): Promise<number> {
  const service = new Client({ connectionString: url });
  await service.connect();
  try {
    await service.query('BEGIN');
    await service.query(`SET LOCAL app.worker = 'on'`);
    const plans = await service.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`,
      parameters,
    );
    const [row] = plans.rows;
    if (!row) throw new Error('Postgres explained nothing');
    // Of several loops it tells a mean, with two digits.
    return Math.round(rowsRead(row['QUERY PLAN'][0].Plan, table));
  } finally {
    await service.end();
  }
}

/** The same transaction; `look` is given how each statement of these is done, which is done once for it and undone. */
export function explained<Tx extends Transaction>(tx: Tx, these: RegExp, look: (plan: PlanNode) => void): Tx {
  return Object.assign(Object.create(tx) as Tx, {
    query: async (sql: string, parameters: readonly unknown[] = []): Promise<unknown[]> => {
      if (these.test(sql)) look(await planOf(tx, sql, parameters));
      return tx.query(sql, parameters);
    },
  });
}

async function planOf(tx: Transaction, sql: string, parameters: readonly unknown[]): Promise<PlanNode> {
  class Undone extends Error {
    constructor(readonly plan: PlanNode) {
      super('What was explained is undone');
    }
  }
  try {
    return await tx.savepoint(async () => {
      const explain = `EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`;
      const [row] = await tx.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(explain, parameters);
      if (!row) throw new Error('Postgres explained nothing');
      throw new Undone(row['QUERY PLAN'][0].Plan);
    });
  } catch (error) {
    if (error instanceof Undone) return error.plan;
    throw error;
  }
}
