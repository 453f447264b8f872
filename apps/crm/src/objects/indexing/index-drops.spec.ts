import { newId, type Transaction } from '@customer-platform/database';
import { startCrm, type TestCrm } from '../../crm.fixture.js';
import { ObjectWorld } from '../objects.fixture.js';
import { IndexBuilder } from './index-builder.js';
import { IndexDrops } from './index-drops.js';

const ROWS = 4_100;
const TABLES = { object_texts: `'=' || n`, object_numbers: 'n', object_claims: `'=' || n` };

let crm: TestCrm;
beforeAll(async () => {
  crm = await startCrm();
});
afterAll(() => crm.close());

/** Rows that many records would have left. */
async function fill(organizationId: string, definitionId: string, number: number): Promise<void> {
  for (const [table, value] of Object.entries(TABLES)) {
    const live = table === 'object_claims' ? '' : ', true';
    await crm.database.query(
      `INSERT INTO ${table} SELECT $1, $2, $3, ${value}, gen_random_uuid()${live} FROM generate_series(1, ${String(ROWS)}) AS n`,
      [organizationId, definitionId, number],
    );
  }
}

async function left(organizationId: string, number: number): Promise<number[]> {
  const counts = Object.keys(TABLES).map(async (table) => {
    const [row] = await crm.database.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM ${table} WHERE organization_id = $1 AND number = $2`,
      [organizationId, number],
    );
    return row?.count ?? NaN;
  });
  return Promise.all(counts);
}

it('an index that is given up is removed, however many rows it has, and no other', async () => {
  const world = new ObjectWorld(crm);
  const field = { key: 'year', type: 'integer' };
  const definition = await world.define('thing', [{ ...field, indexed: true }]);
  await world.add('thing', { year: 1 });
  for (const number of [1, 7]) await fill(world.organizationId, definition.id, number);
  await world.redefine(definition, { fields: [field] });
  await crm.app.app.get(IndexBuilder).runAll();
  expect(await left(world.organizationId, 1)).toEqual([0, 0, 0]);
  expect(await left(world.organizationId, 7)).toEqual([ROWS, ROWS, ROWS]);
  expect(await crm.database.query('SELECT FROM object_index_jobs')).toEqual([]);
});

it('what a piece has not committed, the last one finds', async () => {
  const [organizationId, definitionId] = [newId(), newId()];
  await fill(organizationId, definitionId, 3);
  const tx = { query: (sql: string, values: unknown[]) => crm.database.query(sql, values) };
  const drops = new IndexDrops();
  const piece = (): Promise<boolean> =>
    drops.removePiece(tx as Transaction, {
      organization_id: organizationId,
      definition_id: definitionId,
      ...{ number: 3, work: 'drop', cursor_id: null, processed: '0' },
    });
  await crm.database.query('BEGIN');
  expect(await piece()).toBe(true);
  await crm.database.query('ROLLBACK');
  while (await piece());
  expect(await left(organizationId, 3)).toEqual([0, 0, 0]);
});
