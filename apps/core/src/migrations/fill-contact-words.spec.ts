import { newId, revertMigrations, runMigrations } from '@customer-platform/database';
import { testDatabase, type TestDatabase } from '@customer-platform/testing';
import { CreateContactWords1767100000000 } from './1767100000000-create-contact-words.js';
import { CORE_MIGRATIONS } from './core.migrations.js';

const FROM_HERE = CORE_MIGRATIONS.length - CORE_MIGRATIONS.indexOf(CreateContactWords1767100000000);
/** Of each of two organizations: more than are filled at once. */
const EACH = 1_100;

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase('core', CORE_MIGRATIONS);
});
afterAll(() => database.drop());

describe('the words of contacts', () => {
  it('are those of contacts that were there before, of all organizations, as triggers write them', async () => {
    await database.query(
      `INSERT INTO contacts (organization_id, id, source, external_id, first_name, last_name, email, phone)
       SELECT organization_id, gen_random_uuid(), 'api', 'x' || n, 'Ána', CASE WHEN n % 3 > 0 THEN 'Soto-' || n END,
              'Person' || n || '@example.com', CASE WHEN n % 2 = 0 THEN '+5691234' || n END
         FROM unnest($1::uuid[]) AS organization_id, generate_series(1, $2::int) AS n`,
      [[newId(), newId()], EACH],
    );
    const words = () =>
      database.query('SELECT * FROM contact_words ORDER BY organization_id, contact_id, word');
    const before = await words();
    expect(before.length).toBeGreaterThan(2 * EACH * 3);
    const options = { module: 'core', migrations: CORE_MIGRATIONS, url: database.ownerUrl };
    await revertMigrations(options, FROM_HERE);
    await runMigrations(options);
    expect(await words()).toEqual(before);
  });
});
