import { newId } from '@customer-platform/database';
import { rowsReadBy, testDatabase, type TestDatabase } from '@customer-platform/testing';
import { CORE_MIGRATIONS } from '../../migrations/core.migrations.js';
import { BUSY } from './busy-organizations.js';

const DUES = 20_000;

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase('core', CORE_MIGRATIONS);
});
afterAll(() => database.drop());

describe('the organizations with something to evaluate', () => {
  it('are found without reading all whose time has come', async () => {
    const [many, one, none] = [newId(), newId(), newId()];
    const insert = `
      INSERT INTO segment_dues (organization_id, contact_id, due_at, segment_ids, due_ats)
      SELECT $1, gen_random_uuid(), $2, '{}', '{}' FROM generate_series(1, $3::int)`;
    const [past, future] = [new Date('2026-01-01T00:00:00Z'), new Date('2999-01-01T00:00:00Z')];
    await database.query(insert, [many, past, DUES]);
    await database.query(insert, [one, past, 1]);
    await database.query(insert, [none, future, DUES]);
    await database.query('ANALYZE segment_dues');
    const given = [new Date('2026-01-02T00:00:00Z'), new Date('2026-01-02T00:00:00Z')];
    const found = await database.query<{ organization_id: string }>(BUSY, given);
    expect(found.map((row) => row.organization_id).sort()).toEqual([many, one].sort());
    expect(await rowsReadBy(database, 'segment_dues', BUSY, given)).toBeLessThan(10);
  });
});
