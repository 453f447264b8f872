import type { Transaction } from '@customer-platform/database';
import { metrics } from '@customer-platform/http';
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

it('an index that cannot be built holds up no other of its definition', async () => {
  const builder = crm.app.app.get(IndexBuilder);
  const world = new ObjectWorld(crm);
  const fields = [{ key: 'at', type: 'datetime' }, YEAR];
  const definition = await world.define('thing', fields);
  const thing = await world.add('thing', { at: '2000-01-01T00:00:00Z', year: 1 });
  const setAt = (at: string) =>
    crm.database.query(
      `UPDATE object_records SET "values" = jsonb_set("values", '{at}', to_jsonb($2::text)) WHERE id = $1`,
      [thing.id, at],
    );
  // As nothing stores it that knows what PostgreSQL refuses.
  await setAt('no time at all');
  const indexed = fields.map((field) => ({ ...field, indexed: true }));
  expectStatus(await world.redefine(definition, { fields: indexed }), 200);
  const states = async (): Promise<unknown[]> =>
    (await world.definition(definition)).fields.map(
      (field) => (field as { index_state: string }).index_state,
    );
  await eventually(async () => {
    await builder.runAll();
    expect(await states()).toEqual(['building', 'ready']);
  });
  const told = await metrics.getSingleMetricAsString('job_failures_total');
  expect(told).toMatch(/job_name="object-indexes"\} [1-9]/);
  await setAt('2000-01-01T00:00:00Z');
  await eventually(async () => {
    await builder.runAll();
    expect(await states()).toEqual(['ready', 'ready']);
  });
});

it('times of the year 0000 that are stored from before hold up no index, and stand before all others', async () => {
  const builder = crm.app.app.get(IndexBuilder);
  const world = new ObjectWorld(crm);
  const fields = [{ key: 'at', type: 'datetime' }];
  const definition = await world.define('thing', fields);
  await world.add('thing', { at: '2026-01-01T00:00:00Z' });
  const former = await world.add('thing', { at: '0001-01-01T00:00:00Z' });
  await crm.database.query(
    `UPDATE object_records SET "values" = jsonb_build_object('at', '0000-06-15T00:00:00.000Z') WHERE id = $1`,
    [former.id],
  );
  expectStatus(await world.redefine(definition, { fields: [{ ...fields[0], indexed: true }] }), 200);
  await builder.runAll();
  expect(await waiting()).not.toContain(world.organizationId);
  const times = ['0000-06-15T00:00:00.000Z', '2026-01-01T00:00:00.000Z'];
  expect(await world.column('thing', 'at', '?sort=values.at')).toEqual(times);
  expectStatus(await world.patch('thing', former, { at: '2025-01-01T00:00:00Z' }), 200);
  expect(await world.column('thing', 'at', '?sort=-values.at')).toEqual([
    '2026-01-01T00:00:00.000Z',
    '2025-01-01T00:00:00.000Z',
  ]);
});
