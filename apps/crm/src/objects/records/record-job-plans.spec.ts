import { newId } from '@customer-platform/database';
import { rowsReadBy, testDatabase, type TestDatabase } from '@customer-platform/testing';
import { CRM_MIGRATIONS } from '../../migrations/index.js';
import { NEXT } from './contact-record-jobs.js';
import { OWNERS } from './contact-records.job.js';

const MANY = 20_000;
const FEW = 10;

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase('crm', CRM_MIGRATIONS);
});
afterAll(() => database.drop());

const INSERT = `
  INSERT INTO contact_record_jobs (organization_id, contact_id, contacts, moved_at)
  SELECT $1, gen_random_uuid(), '{}', $2::timestamptz + n * interval '1 ms' FROM generate_series(1, $3::int) AS n`;

it('jobs are found by whose turn it is, however many another has', async () => {
  const [many, few, later] = [newId(), newId(), newId()];
  await database.query(INSERT, [many, new Date('2026-01-01T00:00:00Z'), MANY]);
  await database.query(INSERT, [few, new Date('2026-01-02T00:00:00Z'), FEW]);
  await database.query(INSERT, [later, new Date('2999-01-01T00:00:00Z'), FEW]);
  await database.query('ANALYZE contact_record_jobs');
  const reads = (sql: string, values: unknown[]): Promise<number> =>
    rowsReadBy(database, 'contact_record_jobs', sql, values);

  expect(await database.query(OWNERS, [[]])).toEqual([{ organization_id: many }, { organization_id: few }]);
  const found = await database.query(NEXT, [[later, few, many], []]);
  expect(found).toMatchObject([{ organization_id: few }]);
  expect(await database.query(NEXT, [[later], []])).toEqual([]);

  expect(await reads(OWNERS, [[]])).toBeLessThan(10);
  for (const id of [many, few, later, newId()]) expect(await reads(NEXT, [[id], []])).toBeLessThan(2);
});
