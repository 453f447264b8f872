import { Client } from 'pg';
import {
  anOrganization,
  expectEveryTableIsolated,
  expectForeignKeysSeek,
  expectMigrationsReversible,
} from '@customer-platform/testing';
import { newId, type Transaction } from '../src/index.js';
import { aWidgetWorld, WIDGET_MIGRATIONS, type WidgetWorld } from './widgets.fixture.js';

const INSERT = `INSERT INTO widgets (organization_id, id, name, created_at, updated_at) VALUES ($1, $2, $3, now(), now())`;
const COUNT = 'SELECT count(*)::int AS count FROM widgets';

describe('isolation of organizations', () => {
  let world: WidgetWorld;
  const one = anOrganization();
  const other = anOrganization();

  beforeAll(async () => {
    // A pool of one: whatever a transaction left behind, the next one would borrow.
    world = await aWidgetWorld(1);
    for (const { id } of [one, other]) {
      await world.database.inOrganization({ organizationId: id }, (tx) =>
        tx.query(INSERT, [id, newId(), 'first']),
      );
    }
  });

  afterAll(() => world.close());

  const countIn = async (tx: Transaction): Promise<number | undefined> =>
    (await tx.query<{ count: number }>(COUNT))[0]?.count;

  it('shows an organization its own rows and no others', async () => {
    const seen = await world.database.inOrganization({ organizationId: one.id }, (tx) =>
      tx.query<{ organization_id: string }>('SELECT organization_id FROM widgets'),
    );
    expect(seen).toEqual([{ organization_id: one.id }]);
  });

  it('shows no row to a transaction without an organization, and to a worker only tables with its policy', async () => {
    expect(await world.database.acrossOrganizations(countIn)).toBe(0);
    await world.database.inOrganization({ organizationId: one.id }, (tx) =>
      tx.query('INSERT INTO jobs VALUES ($1, $2)', [one.id, newId()]),
    );
    const jobs = await world.database.acrossOrganizations((tx) => tx.query('SELECT * FROM jobs'));
    expect(jobs).toHaveLength(1);
    const outside = await world.database.inOrganization({ organizationId: other.id }, (tx) =>
      tx.query('SELECT * FROM jobs'),
    );
    expect(outside).toEqual([]);
  });

  it('leaks nothing to the next borrower of the connection, after a commit and after a failure', async () => {
    await world.database.inOrganization({ organizationId: one.id }, countIn);
    expect(await world.source.query(COUNT)).toEqual([{ count: 0 }]);
    const failing = world.database.inOrganization({ organizationId: one.id }, (tx) => tx.query('SELECT 1/0'));
    await expect(failing).rejects.toThrow('division by zero');
    expect(await world.source.query(COUNT)).toEqual([{ count: 0 }]);
    await world.database.acrossOrganizations((tx) => tx.query('SELECT 1'));
    expect(await world.source.query('SELECT * FROM jobs')).toEqual([]);
  });

  it('refuses to write a row of another organization', async () => {
    const writing = world.database.inOrganization({ organizationId: one.id }, (tx) =>
      tx.query(INSERT, [other.id, newId(), 'planted']),
    );
    await expect(writing).rejects.toThrow('row-level security policy');
  });

  it('refuses an organization that is no UUID', async () => {
    await expect(world.database.inOrganization({ organizationId: `x' OR 1=1` }, countIn)).rejects.toThrow(
      'UUID',
    );
  });

  it('binds the owner of the tables too', async () => {
    const owner = new Client({ connectionString: world.test.ownerUrl });
    await owner.connect();
    try {
      expect((await owner.query(COUNT)).rows).toEqual([{ count: 0 }]);
    } finally {
      await owner.end();
    }
  });

  it('changes organizations within a worker transaction', async () => {
    const counts = await world.database.acrossOrganizations(async (tx) => {
      expect(() => tx.organizationId).toThrow('useOrganization');
      const found: (number | undefined)[] = [];
      for (const { id } of [one, other]) {
        await tx.useOrganization(id);
        found.push(await countIn(tx));
      }
      return found;
    });
    expect(counts).toEqual([1, 1]);
  });

  it('gives every table forced row level security and organization_id first in its keys', async () => {
    await expectEveryTableIsolated(world.test);
  });

  it('looks up the rows behind foreign keys by their whole key from the first row on', async () => {
    await expectForeignKeysSeek(world.test);
  });

  it('finds a table that is not isolated', async () => {
    await world.test.query('CREATE TABLE open_to_all (id uuid PRIMARY KEY, at timestamp)');
    try {
      await expect(expectEveryTableIsolated(world.test)).rejects.toThrow(
        'open_to_all_pkey does not begin with',
      );
    } finally {
      await world.test.query('DROP TABLE open_to_all');
    }
  });

  it('migrates up, down and up to the same schema', async () => {
    await expectMigrationsReversible('widgets', WIDGET_MIGRATIONS);
  });

  it.each([
    'UPDATE audit_entries SET action = action',
    'DELETE FROM audit_entries',
    'TRUNCATE audit_entries',
  ])('lets nobody run %s, the superuser included', async (sql) => {
    const id = one.id;
    await world.test.query(
      `INSERT INTO audit_entries VALUES ($1, $2, now(), 'api_key', 'k', null, 'a.b.c', 'b', 'i', 'success', '{}', null, $2)`,
      [id, newId()],
    );
    await expect(world.test.query(sql)).rejects.toThrow('INSERT only');
    await expect(
      world.test.query(`BEGIN; SET LOCAL session_replication_role = replica; ${sql}`),
    ).rejects.toThrow('INSERT only');
    await world.test.query('ROLLBACK');
    await expect(
      world.database.inOrganization({ organizationId: id }, (tx) => tx.query(sql)),
    ).rejects.toThrow('permission denied');
  });
});
