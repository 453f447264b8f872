import { randomBytes } from 'node:crypto';
import type { Keyring } from '@customer-platform/config';
import { Database, reencrypt, SigningKeys } from '@customer-platform/database';
import { eventually, expectStatus } from '@customer-platform/testing';
import { aContact, at, ContactWorld } from './people/contacts/contact.fixture.js';
import { merge } from './people/merges/merge.fixture.js';
import { NationalIdVault } from './people/national-ids/national-id.vault.js';
import { START_MS } from './core.fixture.js';
import { sealedColumns } from './sealed-columns.js';

/** A sealed text, wherever it stands: of a key without an id, or with one. */
const SEALED = '(v1|v2[.][A-Za-z0-9_-]+)[.][A-Za-z0-9_-]{16}[.][A-Za-z0-9_-]{22}[.]';

let world: ContactWorld;
beforeAll(async () => {
  world = await ContactWorld.start();
}, START_MS);
afterAll(() => world.close());

/** Every column of the database that holds a sealed text somewhere, and by which keys. */
async function sealedAnywhere(): Promise<Record<string, string[]>> {
  const columns = await world.core.database.query<{ table_name: string; column_name: string }>(
    `SELECT table_name, column_name FROM information_schema.columns
      WHERE table_schema = 'public' AND data_type IN ('text', 'jsonb', 'ARRAY') ORDER BY 1, 2`,
  );
  const found: Record<string, string[]> = {};
  for (const { table_name: table, column_name: column } of columns) {
    const rows = await world.core.database.query<{ mark: string }>(
      `SELECT DISTINCT (regexp_matches("${column}"::text, '${SEALED}', 'g'))[1] AS mark FROM "${table}"`,
    );
    if (rows.length > 0) found[`${table}.${column}`] = rows.map(({ mark }) => mark).sort();
  }
  return found;
}

it('seals all that core keeps sealed by the first key, and national ids go on being found by their value', async () => {
  const { id, caller } = world.anOrganization();
  const national_id = { type: 'CL_RUT', value: '12345678-5' };
  const [survivor, merged] = [await world.created(caller, {}), await world.created(caller, { national_id })];
  await merge(caller, survivor, merged);
  const passport = await world.created(caller, { national_id: { type: 'PASSPORT', value: 'AB123456' } });
  await world.core.app.app.get(SigningKeys, { strict: false }).toSign('member_tokens');
  // The chain, which says that there is the organization, follows the audited calls.
  await eventually(async () =>
    expect(await world.query('SELECT 1 FROM audit_chains WHERE organization_id = $1', [id])).toHaveLength(1),
  );
  const root = Buffer.alloc(32, 7);
  const keyring: Keyring = { root, sealing: [{ id: 'next', key: randomBytes(32) }] };
  const before = await sealedAnywhere();
  const columns = sealedColumns(keyring);
  expect(columns.map(({ table, column }) => `${table}.${column}`)).toEqual(
    expect.arrayContaining(Object.keys(before)),
  );
  const database = world.core.app.app.get(Database, { strict: false });
  for (const column of columns)
    expect(await reencrypt(database, column)).toMatchObject({ changed_meanwhile: 0, unreadable: 0 });
  expect(before).toMatchObject({ 'contacts.national_id_sealed': ['v1'], 'contact_merges.changes': ['v1'] });
  expect(await sealedAnywhere()).toEqual({
    'contacts.national_id_sealed': ['v2.next'],
    'contact_merges.changes': ['v2.next'],
    // The service may have made another key meanwhile, by the only key it knows.
    'signing_keys.sealed_private_key': expect.arrayContaining(['v2.next']) as string[],
  });
  const [row] = await world.core.database.query<{ sealed: string }>(
    'SELECT national_id_sealed AS sealed FROM contacts WHERE organization_id = $1 AND id = $2',
    [id, passport.id],
  );
  const vault = new NationalIdVault({ ...keyring, root });
  expect(vault.open(id, 'PASSPORT', row?.sealed ?? '')).toBe('AB123456');
  const again = await caller.post('/v1/core/contacts', aContact({ national_id }));
  expectStatus(again, 409);
  expectStatus(await caller.get(at(passport)), 200);
});
