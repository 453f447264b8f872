import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '@customer-platform/database';
import { testDatabase, type TestDatabase } from '@customer-platform/testing';
import { migrations } from '../../migrations/index.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase('messaging', migrations);
});
afterAll(() => database.drop());

/** The statements that docs/operations/deploy.md has an operator run on messaging's database. */
function statementsOfThePage(): string[] {
  const page = readFileSync(join(import.meta.dirname, '../../../../../docs/operations/deploy.md'), 'utf8');
  const block = /-- messaging\n([^`]*?)-- identity\n/.exec(page)?.[1] ?? '';
  return block.split(';').filter((statement) => statement.trim() !== '');
}

it('deploy.md lists the endpoints and providers that are called at other ports than 80 and 443', async () => {
  const [organization, endpoint, other] = [newId(), newId(), newId()];
  const insert = `INSERT INTO webhook_endpoints
    (organization_id, id, name, url, events, enabled, signing, secrets, created_at, updated_at)
    VALUES ($1, $2, $3, $4, '{}', true, 'v1', '[]', now(), now())`;
  await database.query(insert, [organization, endpoint, 'at a port', 'https://hooks.example:8443/in']);
  await database.query(insert, [organization, other, 'at none', 'https://hooks.example/in?from=a:8080']);
  const push = { provider: 'http', url: 'http://push.example:8080', from: null };
  const sms = { provider: 'twilio', base_url: 'https://api.twilio.com', from: '+56912345678' };
  await database.query(
    `INSERT INTO channel_settings (organization_id, document, secrets, version, updated_at)
     VALUES ($1, $2, '{}', 1, now())`,
    [organization, JSON.stringify({ channels: { push, sms } })],
  );
  const listed = [];
  for (const statement of statementsOfThePage()) listed.push(await database.query(statement));
  expect(listed).toEqual([
    [{ organization_id: organization, id: endpoint, url: 'https://hooks.example:8443/in' }],
    [{ organization_id: organization, key: 'push', value: 'http://push.example:8080' }],
  ]);
});
