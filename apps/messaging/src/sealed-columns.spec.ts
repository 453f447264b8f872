import { randomBytes } from 'node:crypto';
import type { Keyring } from '@customer-platform/config';
import { Database, reencrypt, SigningKeys, type SealedColumn } from '@customer-platform/database';
import { expectStatus } from '@customer-platform/testing';
import { messagingWorld, type MessagingWorld } from './messaging.fixture.js';
import { sealedColumns } from './sealed-columns.js';

const SETTINGS = '/v1/messaging/channel-settings';
const ENDPOINTS = '/v1/messaging/webhook-endpoints';
/** A sealed text, wherever it stands: of a key without an id, or with one. */
const SEALED = '(v1|v2[.][A-Za-z0-9_-]+)[.][A-Za-z0-9_-]{16}[.][A-Za-z0-9_-]{22}[.]';

const root = Buffer.alloc(32, 7);
const [former, next] = [randomBytes(32), randomBytes(32)].map((key, index) => ({
  id: String(index + 1),
  key,
}));
if (!former || !next) throw new Error('two keys were made');
const ENCRYPTION_KEYS = [former, next].map(({ id, key }) => `${id}:${key.toString('base64')}`).join(',');
const rotating: Keyring = { root, sealing: [next, former] };

let world: MessagingWorld;
beforeAll(async () => {
  // All can read the next key, and none writes with it yet.
  world = await messagingWorld({ consume: false, env: { ENCRYPTION_KEYS } });
});
afterAll(() => world.close());

/** Every column of the database that holds a sealed text somewhere, and by which keys. */
async function sealedAnywhere(): Promise<Record<string, string[]>> {
  const columns = await world.database.query<{ table_name: string; column_name: string }>(
    `SELECT table_name, column_name FROM information_schema.columns
      WHERE table_schema = 'public' AND data_type IN ('text', 'jsonb', 'ARRAY') ORDER BY 1, 2`,
  );
  const found: Record<string, string[]> = {};
  for (const { table_name: table, column_name: column } of columns) {
    const rows = await world.database.query<{ mark: string }>(
      `SELECT DISTINCT (regexp_matches("${column}"::text, '${SEALED}', 'g'))[1] AS mark FROM "${table}"`,
    );
    if (rows.length > 0) found[`${table}.${column}`] = rows.map(({ mark }) => mark).sort();
  }
  return found;
}

async function reencryptAll(keyring: Keyring): Promise<number> {
  const database = world.app.app.get(Database, { strict: false });
  let written = 0;
  for (const column of sealedColumns(keyring) as SealedColumn[]) {
    const done = await reencrypt(database, column, 3);
    expect(done.unreadable).toBe(0);
    written += done.reencrypted + done.changed_meanwhile;
  }
  return written;
}

/** An organization whose channel and endpoint have secrets. */
async function anOrganizationWithSecrets() {
  const { api } = world.organization();
  const put = async (password: string | undefined): Promise<void> => {
    const server = {
      provider: 'smtp',
      from: 'Shop <a@shop.example>',
      host: '127.0.0.1',
      port: 2525,
      security: 'none',
    };
    const email = { ...server, username: 'shop', ...(password === undefined ? {} : { password }) };
    expectStatus(await api.call('PUT', SETTINGS, { body: { channels: { email } } }), 200);
  };
  await put('hunter2');
  const endpoint = {
    name: 'shop',
    url: 'https://hooks.shop.example/in',
    events: ['core.contact.created'],
  };
  expectStatus(await api.post('/v1/messaging/sender-domains', { domain: 'shop.example' }), 201);
  return { api, put, endpoint: await api.post(ENDPOINTS, endpoint) };
}

it('all that messaging keeps sealed is sealed by the next key while the service reads and writes it', async () => {
  const organizations = await Promise.all(Array.from({ length: 10 }, anOrganizationWithSecrets));
  for (const { endpoint } of organizations) expectStatus(endpoint, 201);
  await world.app.app.get(SigningKeys, { strict: false }).toSign('erasure_receipts');
  const before = await sealedAnywhere();
  expect(sealedColumns(rotating).map(({ table, column }) => `${table}.${column}`)).toEqual(
    expect.arrayContaining(Object.keys(before)),
  );
  expect(new Set(Object.values(before).flat())).toEqual(new Set(['v2.1']));
  // The service writes with the former key all the while, and refuses nobody.
  const traffic = organizations.map(async ({ api, put }, index) => {
    for (let turn = 0; turn < 5; turn += 1) {
      await put(turn % 2 === 0 ? `hunter${String(index)}${String(turn)}` : undefined);
      expectStatus(await api.get(SETTINGS), 200);
    }
  });
  await Promise.all([reencryptAll(rotating), ...traffic]);
  await reencryptAll(rotating);
  expect(await reencryptAll({ root, sealing: [next] })).toBe(0);
  const after = await sealedAnywhere();
  expect(Object.keys(after)).toEqual(Object.keys(before));
  expect(new Set(Object.values(after).flat())).toEqual(new Set(['v2.2']));
  // No account has become another one: messages go on leaving by the rights of whoever set it.
  for (const { api } of organizations)
    expect(await api.get(SETTINGS)).toMatchObject({
      body: { maker: { id: expect.any(String) as string }, standing: 'permitted' },
    });
});
