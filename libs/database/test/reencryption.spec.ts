import { randomBytes } from 'node:crypto';
import type { Keyring } from '@customer-platform/config';
import { testDatabase, type TestDatabase } from '@customer-platform/testing';
import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm';
import { dataSourceOf } from '../src/data-source.js';
import {
  Database,
  execute,
  KeySeal,
  newId,
  reencrypt,
  rowSecurity,
  type SealedColumn,
} from '../src/index.js';

class CreateSecrets1700000000000 implements MigrationInterface {
  up(runner: QueryRunner): Promise<void> {
    return execute(runner, [
      `CREATE TABLE secrets (organization_id uuid NOT NULL, id uuid NOT NULL, secret text, notes jsonb,
         PRIMARY KEY (organization_id, id))`,
      ...rowSecurity('secrets'),
      'CREATE TABLE tenants (organization_id uuid PRIMARY KEY)',
      ...rowSecurity('tenants', { worker: true }),
    ]);
  }

  down(runner: QueryRunner): Promise<void> {
    return execute(runner, ['DROP TABLE secrets, tenants']);
  }
}

const [root, first, second] = [randomBytes(32), randomBytes(32), randomBytes(32)];
const former: Keyring = { root, sealing: [{ id: '1', key: first }] };
const rotating: Keyring = { root, sealing: [{ id: '2', key: second }, ...former.sealing] };
const rotated: Keyring = { root, sealing: [{ id: '2', key: second }] };
const migrations = [CreateSecrets1700000000000];
let test: TestDatabase;
let source: DataSource;
let database: Database;

beforeAll(async () => {
  test = await testDatabase('reencryption', migrations);
  source = dataSourceOf({ module: 'reencryption', entities: [], migrations, url: test.url, poolSize: 5 });
  await source.initialize();
  database = new Database(source);
});
afterAll(async () => {
  await source.destroy();
  await test.drop();
});
beforeEach(() => test.query('TRUNCATE secrets, tenants'));

const sealOf = (keyring: Keyring | Buffer) => new KeySeal(keyring, 'secrets');

function theColumn(keyring: Keyring): SealedColumn<string> {
  return {
    table: 'secrets',
    column: 'secret',
    key: ['organization_id', 'id'],
    type: 'text',
    organizations: 'SELECT organization_id FROM tenants ORDER BY organization_id',
    renew: ({ id = '', content }) => sealOf(keyring).renew(id, content),
  };
}

/** Rows of two organizations, sealed by turns without an id and by the first key. */
async function someSecrets(count: number): Promise<{ organizationId: string; id: string }[]> {
  const organizations = [newId(), newId()];
  for (const id of organizations) await test.query('INSERT INTO tenants VALUES ($1)', [id]);
  const rows = Array.from({ length: count }, (_, index) => ({
    organizationId: organizations[index % 2] ?? '',
    id: newId(),
  }));
  for (const [index, { organizationId, id }] of rows.entries()) {
    const sealed = sealOf(index % 3 === 0 ? root : former).seal(id, `secret of ${id}`);
    await test.query('INSERT INTO secrets VALUES ($1, $2, $3)', [organizationId, id, sealed]);
  }
  return rows;
}

async function opened(keyring: Keyring): Promise<string[]> {
  const rows = await test.query<{ id: string; secret: string }>('SELECT id, secret FROM secrets ORDER BY id');
  return rows.map(({ id, secret }) => sealOf(keyring).open(id, secret));
}

describe('a column of sealed texts', () => {
  it('is sealed anew in pieces, of every organization, and the former key is needed no more', async () => {
    const rows = await someSecrets(25);
    const done = await reencrypt(database, theColumn(rotating), 4);
    expect(done).toEqual({
      column: 'secrets.secret',
      rows: 25,
      reencrypted: 25,
      changed_meanwhile: 0,
      unreadable: 0,
    });
    const ids = rows.map(({ id }) => id).sort();
    expect(await opened(rotated)).toEqual(ids.map((id) => `secret of ${id}`));
    expect(await reencrypt(database, theColumn(rotated), 4)).toMatchObject({ rows: 25, reencrypted: 0 });
  });

  it('goes on after an interruption, and leaves what does not open as it is', async () => {
    const rows = await someSecrets(20);
    const broken = rows[7]?.id ?? '';
    await test.query('UPDATE secrets SET secret = $1 WHERE id = $2', [
      sealOf(former).seal('elsewhere', 'x'),
      broken,
    ]);
    const column = theColumn(rotating);
    // A process that dies in the third piece of four.
    const tx = database.inOrganization.bind(database);
    let pieces = 0;
    database.inOrganization = (where, work) => {
      pieces += 1;
      return pieces === 3 ? Promise.reject(new Error('killed')) : tx(where, work);
    };
    await expect(reencrypt(database, column, 4)).rejects.toThrow('killed');
    database.inOrganization = tx;
    const rest = await reencrypt(database, column, 4);
    expect(rest).toMatchObject({ rows: 20, unreadable: 1 });
    expect(rest.reencrypted).toBeGreaterThan(0);
    expect(rest.reencrypted).toBeLessThan(19);
    expect(await reencrypt(database, column, 4)).toMatchObject({ reencrypted: 0, unreadable: 1 });
  });

  it('keeps what the service writes in between', async () => {
    const [row] = await someSecrets(1);
    if (!row) throw new Error('no row');
    const written = sealOf(rotating).seal(row.id, 'newer');
    const tx = database.inOrganization.bind(database);
    database.inOrganization = (where, work) =>
      tx(where, async (transaction) => {
        const query = transaction.query.bind(transaction);
        const watched = Object.assign(Object.create(transaction) as typeof transaction, {
          query: async (text: string, values: unknown[]) => {
            if (text.startsWith('UPDATE'))
              await test.query('UPDATE secrets SET secret = $1 WHERE id = $2', [written, row.id]);
            return query(text, values);
          },
        });
        return work(watched);
      });
    expect(await reencrypt(database, theColumn(rotating), 4)).toMatchObject({
      reencrypted: 0,
      changed_meanwhile: 1,
    });
    database.inOrganization = tx;
    expect(await opened(rotated)).toEqual(['newer']);
  });
});
