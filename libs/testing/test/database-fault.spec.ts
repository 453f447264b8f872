import { Client } from 'pg';
import { anOrganization, DatabaseFault, testDatabase, type TestDatabase } from '../src/index.js';
import { WIDGET_MIGRATIONS } from './widgets.module.js';

const INSERT = `
  INSERT INTO widgets (id, organization_id, name, created_at, updated_at)
  VALUES (gen_random_uuid(), $1, $2, now(), now())`;

let database: TestDatabase;
let client: Client;
beforeAll(async () => {
  database = await testDatabase('loyalty', WIDGET_MIGRATIONS);
  client = new Client({ connectionString: database.adminUrl });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

const inWidgets = (): Promise<DatabaseFault> =>
  DatabaseFault.in(database, { table: 'widgets', on: 'INSERT', when: `NEW.name = 'bad'` });

describe('a fault of the database', () => {
  it('is mended beside work that met it and tries again behind a savepoint', async () => {
    const { id } = anOrganization();
    const fault = await inWidgets();
    await client.query('BEGIN; SAVEPOINT before');
    await expect(client.query(INSERT, [id, 'bad'])).rejects.toThrow('refused');
    await client.query('ROLLBACK TO before');
    await fault.mend();
    await client.query(INSERT, [id, 'bad']);
    await client.query('COMMIT');
    expect(await fault.tries()).toBe(1);
  });

  it('is mended once the changes that are going on have ended', async () => {
    const { id } = anOrganization();
    const fault = await inWidgets();
    await client.query('BEGIN');
    await client.query(INSERT, [id, 'good']);
    const mended = fault.mend().then(() => 'mended');
    const later = client.query('SELECT pg_sleep(0.2)').then(() => 'waits');
    expect(await Promise.race([mended, later])).toBe('waits');
    await later;
    await client.query('COMMIT');
    expect(await mended).toBe('mended');
  });
});
