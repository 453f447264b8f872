import { newId } from '@customer-platform/database';
import { rowsReadBy, testDatabase, type TestDatabase } from '@customer-platform/testing';
import { CORE_MIGRATIONS } from '../../migrations/core.migrations.js';
import { NEXT, OWNERS } from './consent-expiry.js';

const MANY = 20_000;
const FEW = 2;
const NOW = new Date('2026-02-01T00:00:00Z');

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase('core', CORE_MIGRATIONS);
});
afterAll(() => database.drop());

const INSERT = `
  INSERT INTO consent_expirations (organization_id, event_id, contact_id, expires_at)
  SELECT $1, gen_random_uuid(), gen_random_uuid(), $2::timestamptz + n * interval '1 ms'
    FROM generate_series(1, $3::int) AS n`;

it('consents that end are found by whose turn it is, however many of another do', async () => {
  const [many, few, later] = [newId(), newId(), newId()];
  await database.query(INSERT, [many, new Date('2026-01-01T00:00:00Z'), MANY]);
  await database.query(INSERT, [few, new Date('2026-01-02T00:00:00Z'), FEW]);
  await database.query(INSERT, [later, new Date('2027-01-01T00:00:00Z'), FEW]);
  await database.query('ANALYZE consent_expirations');
  const next = (id: string, waiting: string[]): Promise<{ event_id: string }[]> =>
    database.query(NEXT, [[id], NOW, waiting]);
  const reads = (sql: string, values: unknown[]): Promise<number> =>
    rowsReadBy(database, 'consent_expirations', sql, values);

  const [first] = await next(few, []);
  const [second] = await next(few, [first?.event_id ?? '']);
  const both = [first?.event_id ?? '', second?.event_id ?? ''];
  expect(new Set(both).size).toBe(FEW);
  expect(await next(few, both)).toEqual([]);
  expect(await next(later, [])).toEqual([]);
  const owners = [{ organization_id: many }, { organization_id: few }];
  expect(await database.query(OWNERS, [NOW, both.slice(1)])).toEqual(owners);
  expect(await database.query(OWNERS, [NOW, both])).toEqual(owners.slice(0, 1));

  expect(await reads(OWNERS, [NOW, []])).toBeLessThan(10);
  for (const id of [many, few, later, newId()]) expect(await reads(NEXT, [[id], NOW, []])).toBeLessThan(2);
});
