import { join } from 'node:path';
import { Database, type Transaction } from '@customer-platform/database';
import { Cursors, parseListRequest, type ListDefinition, type ListQuery } from '@customer-platform/http';
import type { TestApp } from '@customer-platform/testing';

interface Known {
  find(tx: Transaction, named: string): Promise<object | undefined>;
}
interface Modules {
  readonly KnownDefinitions: new () => Known;
  readonly recordsListOf: (definition: object) => ListDefinition;
  readonly pageOfRecords: (tx: Transaction, definition: object, query: ListQuery) => Promise<unknown>;
}

/** A list whose statements are to be explained. */
interface ExplainedList {
  readonly app: TestApp;
  readonly dist: string;
  readonly organizationId: string;
  readonly slug: string;
  readonly query: string;
}

/** What PostgreSQL says of each statement of a page, as the service's role and in its organization. */
export async function explained({
  app,
  dist,
  organizationId,
  slug,
  query,
}: ExplainedList): Promise<string[]> {
  const { KnownDefinitions } = (await import(
    join(dist, 'objects/definitions/known-definitions.js')
  )) as Modules;
  const { recordsListOf } = (await import(join(dist, 'objects/records/object-records.list.js'))) as Modules;
  const { pageOfRecords } = (await import(join(dist, 'objects/records/record-pages.js'))) as Modules;
  const lines: string[] = [];
  await app.app.get(Database).inOrganization({ organizationId }, async (tx) => {
    const definition = await app.app.get<Known>(KnownDefinitions).find(tx, slug);
    if (!definition) throw new Error('The definition is gone.');
    const parameters = query
      .split('&')
      .filter((pair) => !pair.startsWith('cursor='))
      .map((pair) => {
        const [name = '', value = ''] = pair.split('=');
        return { name, value };
      });
    const asked = parseListRequest(
      recordsListOf(definition),
      parameters,
      organizationId,
      new Cursors('x'.repeat(32)),
    );
    const explaining = Object.create(tx, {
      query: {
        value: async (sql: string, values: readonly unknown[]) => {
          if (!sql.includes('set_config')) {
            const plan = await tx.query<{ 'QUERY PLAN': string }>(
              `EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) ${sql}`,
              values,
            );
            lines.push(...plan.map((row) => row['QUERY PLAN']), '');
          }
          return tx.query(sql, values);
        },
      },
    }) as Transaction;
    await pageOfRecords(explaining, definition, asked);
  });
  return lines;
}
