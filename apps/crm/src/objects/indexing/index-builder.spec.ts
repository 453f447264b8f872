import type { Transaction } from '@customer-platform/database';
import { eventually, expectStatus } from '@customer-platform/testing';
import { startCrm, type TestCrm } from '../../crm.fixture.js';
import { holdDefinition } from '../definitions/definition-locks.js';
import { ObjectWorld } from '../objects.fixture.js';
import { IndexBuilder } from './index-builder.js';

const YEAR = { key: 'year', type: 'integer' };

let crm: TestCrm;
beforeAll(async () => {
  crm = await startCrm();
});
afterAll(() => crm.close());

/** Whose indexes wait to be built or removed, in turn. */
async function waiting(): Promise<string[]> {
  const rows = await crm.database.query<{ organization_id: string }>(
    'SELECT organization_id FROM object_index_jobs ORDER BY moved_at',
  );
  return rows.map((row) => row.organization_id);
}

it('a definition that somebody has alone holds up the indexes of no other', async () => {
  const builder = crm.app.app.get(IndexBuilder);
  const worlds = [new ObjectWorld(crm), new ObjectWorld(crm)] as const;
  const ids: string[] = [];
  for (const world of worlds) {
    const definition = await world.define('thing', [{ ...YEAR, indexed: true }]);
    await world.add('thing', { year: 1 });
    expectStatus(await world.redefine(definition, { fields: [YEAR] }), 200);
    ids.push(definition.id);
  }
  const [held, other] = worlds.map(({ organizationId }) => organizationId);
  expect(await waiting()).toEqual([held, other]);
  const query = (sql: string, values: unknown[]): Promise<unknown> => crm.database.query(sql, values);
  await crm.database.query('BEGIN');
  await holdDefinition({ organizationId: held, query } as Transaction, ids[0] ?? '');
  await builder.runAll();
  expect(await waiting()).toEqual([held]);
  await crm.database.query('COMMIT');
  await eventually(async () => {
    await builder.runAll();
    expect(await waiting()).toEqual([]);
  });
});
