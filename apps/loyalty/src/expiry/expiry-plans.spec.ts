import { newId } from '@customer-platform/database';
import { rowsReadBy, testDatabase, type TestDatabase } from '@customer-platform/testing';
import { migrations } from '../migrations/index.js';
import { FIND_OWN, OWNERS } from './expiry.sweep.js';

const MANY = 100_000;
const FEW = 10;
const NOW = new Date('2026-02-01T00:00:00Z');

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase('loyalty', migrations);
});
afterAll(() => database.drop());

const INSERT = `
  INSERT INTO lot_balances (organization_id, subject_ref, lot_id, remaining, expires_at, created_at)
  SELECT $1, gen_random_uuid(), gen_random_uuid(), 1, $2::timestamptz + n * interval '1 ms', now()
    FROM generate_series(1, $3::int) AS n`;

const reads = (sql: string, values: unknown[]): Promise<number> =>
  rowsReadBy(database, 'lot_balances', sql, values);

it('the sweep reads the lots of whose turn it is, however many of another are due', async () => {
  const [many, few, later] = [newId(), newId(), newId()];
  await database.query(INSERT, [many, new Date('2026-01-01T00:00:00Z'), MANY]);
  await database.query(INSERT, [few, new Date('2026-01-02T00:00:00Z'), FEW]);
  await database.query(INSERT, [later, new Date('2027-01-01T00:00:00Z'), FEW]);
  await database.query('ANALYZE lot_balances');

  const owners = await database.query(OWNERS, [NOW, []]);
  expect(owners).toEqual([{ organization_id: many }, { organization_id: few }]);
  expect(await database.query(OWNERS, [NOW, [many]])).toEqual([{ organization_id: few }]);
  const lots = await database.query<{ lot: string }>(FIND_OWN, [few, NOW, []]);
  expect(lots).toHaveLength(FEW);
  const known = lots.slice(1).map(({ lot }) => lot);
  expect(await database.query(FIND_OWN, [few, NOW, known])).toEqual(lots.slice(0, 1));
  expect(await database.query(FIND_OWN, [later, NOW, []])).toEqual([]);

  expect({
    owners: await reads(OWNERS, [NOW, []]),
    own: await reads(FIND_OWN, [few, NOW, []]),
    none: await reads(FIND_OWN, [later, NOW, []]),
    many: await reads(FIND_OWN, [many, NOW, []]),
  }).toEqual({ owners: 3, own: FEW, none: 0, many: 500 });
});
