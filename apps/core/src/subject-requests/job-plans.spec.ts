import { newId } from '@customer-platform/database';
import { rowsReadBy, testDatabase, type TestDatabase } from '@customer-platform/testing';
import { CORE_MIGRATIONS } from '../migrations/core.migrations.js';
import * as warnings from './due-warnings.js';
import * as erasures from './erasure/erasure-runner.js';
import * as receipts from './erasure/receipt-verifier.js';

const MANY = 20_000;
const FEW = 10;
const NOW = new Date('2026-02-01T00:00:00Z');
const HOUR_MS = 3_600_000;
const DAYS = [3, 10];
const UNTIL = DAYS.map((days) => new Date(NOW.getTime() + days * 24 * HOUR_MS));
const PAST = [new Date(NOW.getTime() - HOUR_MS), new Date(NOW.getTime() - 24 * HOUR_MS)];

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase('core', CORE_MIGRATIONS);
});
afterAll(() => database.drop());

/** `insert`: `$1` is the organization, `$2` the time of the first. `first`: that time, of whose work has waited longest. */
const JOBS = [
  {
    table: 'subject_requests',
    insert: `(organization_id, id, type, state, contact_id, jurisdiction, received_at, due_at, correlation_id, created_at,
        updated_at)
      SELECT $1, gen_random_uuid(), 'access', 'verifying', gen_random_uuid(), 'eu', now(),
             $2::timestamptz + n * interval '1 ms', gen_random_uuid(), now(), now()`,
    first: '2026-02-02T00:00:00Z',
    owners: { sql: warnings.OWNERS, values: [NOW, UNTIL, DAYS, []] },
    next: { sql: warnings.NEXT, values: (id: string) => [NOW, UNTIL, DAYS, [], [id]] },
  },
  {
    table: 'contact_erasures',
    insert: `(organization_id, subject_request_id, contact_id, correlation_id, step, contact_ids, identifiers, counts, asked_at,
        moved_at, created_at)
      SELECT $1, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'events', '{}', '[]', '{}', now(),
             $2::timestamptz + n * interval '1 ms', now()`,
    first: '2026-01-01T00:00:00Z',
    owners: { sql: erasures.OWNERS, values: [[], ...PAST, NOW] },
    next: { sql: erasures.NEXT, values: (id: string) => [[], ...PAST, NOW, [id]] },
  },
  {
    table: 'subject_request_receipts',
    insert: `(organization_id, subject_request_id, module, state, counts, signature, received_at)
      SELECT $1, gen_random_uuid(), 'crm', 'received', '{}', '', $2::timestamptz + n * interval '1 ms'`,
    first: '2026-01-01T00:00:00Z',
    owners: { sql: receipts.OWNERS, values: [[]] },
    next: { sql: receipts.NEXT, values: (id: string) => [[id], []] },
  },
];

it.each(JOBS)(
  'rows of $table are found by whose turn it is, however many another has',
  async ({ table, insert, first, owners, next }) => {
    const [many, few] = [newId(), newId()];
    await database.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
    const give = `INSERT INTO ${table} ${insert} FROM generate_series(1, $3::int) AS n`;
    await database.query(give, [many, new Date(first), MANY]);
    await database.query(give, [few, new Date(Date.parse(first) + HOUR_MS), FEW]);
    await database.query(`ANALYZE ${table}`);

    const found = await database.query(owners.sql, owners.values);
    expect(found).toEqual([{ organization_id: many }, { organization_id: few }]);
    for (const id of [many, few])
      expect(await database.query(next.sql, next.values(id))).toMatchObject([{ organization_id: id }]);
    expect(await database.query(next.sql, next.values(newId()))).toEqual([]);

    expect(await rowsReadBy(database, table, owners.sql, owners.values)).toBeLessThan(10);
    for (const id of [many, few, newId()])
      expect(await rowsReadBy(database, table, next.sql, next.values(id))).toBeLessThan(2);
  },
);
