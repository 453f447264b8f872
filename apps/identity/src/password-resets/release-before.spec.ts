import { newId } from '@customer-platform/database';
import { testDatabase, type TestDatabase } from '@customer-platform/testing';
import { Client } from 'pg';
import { migrations } from '../migrations/index.js';

/** The statement by which the job of the release before takes what waits. */
const TAKE = `
WITH next AS MATERIALIZED (
  SELECT organization_id, id FROM password_reset_requests WHERE id <> ALL ($1::uuid[])
   ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
DELETE FROM password_reset_requests AS taken USING next
 WHERE taken.organization_id = next.organization_id AND taken.id = next.id
RETURNING taken.email`;

describe('the job of the release before', () => {
  let database: TestDatabase;
  let service: Client;
  beforeAll(async () => {
    database = await testDatabase('identity', migrations);
    service = new Client({ connectionString: database.url });
    await service.connect();
  });
  afterAll(async () => {
    await service.end();
    await database.drop();
  });

  it('takes what people have asked for, and neither takes nor waits for what wrong passwords have', async () => {
    const root = newId();
    await database.query(
      `INSERT INTO organizations (organization_id, id, path, name, slug, locale, timezone, created_at, updated_at)
       VALUES ($1, $1, ARRAY[$1]::uuid[], 'Root', $2, 'en', 'UTC', now(), now())`,
      [root, `root-${root}`],
    );
    await service.query('BEGIN');
    await service.query(`SET LOCAL app.worker = 'on'`);
    for (const [email, reason] of [
      ['guessed@example.com', 'wrong_passwords'],
      ['asks@example.com', null],
    ])
      await service.query(
        `INSERT INTO password_reset_requests (organization_id, id, email, correlation_id, reason)
         VALUES ($1, $2, $3, $4, $5)`,
        [root, newId(), email, newId(), reason],
      );
    const takes = async (): Promise<unknown[]> => (await service.query(TAKE, [[]])).rows;
    expect(await takes()).toEqual([{ email: 'asks@example.com' }]);
    expect(await takes()).toEqual([]);
    await service.query('COMMIT');
    expect(await database.query('SELECT email FROM password_reset_requests')).toEqual([
      { email: 'guessed@example.com' },
    ]);
  });
});
