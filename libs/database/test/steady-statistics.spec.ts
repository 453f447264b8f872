import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { steadyStatistics, usualStatistics } from '../src/index.js';
import { aWidgetWorld, type WidgetWorld } from './widgets.fixture.js';

/** Two indexes that begin with the organization, of which one is right; most rows are of other organizations. */
const MAKE = `
  CREATE TABLE things (organization_id uuid NOT NULL, id uuid NOT NULL, contact_id uuid NOT NULL, state text NOT NULL,
    created_at timestamptz(3) NOT NULL, PRIMARY KEY (organization_id, id));
  CREATE INDEX things_by_contact ON things (organization_id, contact_id, created_at);
  CREATE INDEX things_by_creation ON things (organization_id, created_at, id);
  INSERT INTO things
  SELECT organization.id, gen_random_uuid(), gen_random_uuid(), 'kept', now() - random() * interval '1 year'
    FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, 20)) AS organization, generate_series(1, 2_000);
  ANALYZE things`;

const BY_CONTACTS = 'SELECT id FROM things WHERE organization_id = $1 AND contact_id = ANY($2::uuid[])';
const BY_STATE = `SELECT id FROM things WHERE organization_id = $1 AND state = 'lost' ORDER BY created_at LIMIT 50`;

let world: WidgetWorld;
let admin: Client;
beforeAll(async () => {
  world = await aWidgetWorld();
  admin = new Client({ connectionString: world.test.adminUrl });
  await admin.connect();
  await admin.query(MAKE);
});
afterAll(async () => {
  await admin.end();
  await world.close();
});

/** How the rows of an organization that ANALYZE has not seen would be read. */
async function planOf(sql: string, ...more: unknown[]): Promise<string> {
  const { rows } = await admin.query<{ 'QUERY PLAN': string }>(`EXPLAIN (COSTS OFF) ${sql}`, [
    randomUUID(),
    ...more,
  ]);
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

const some = (): string[] => Array.from({ length: 40 }, () => randomUUID());

async function have(statements: readonly string[]): Promise<void> {
  for (const statement of [...statements, 'ANALYZE things']) await admin.query(statement);
}

describe('plans for an organization that came since the last ANALYZE', () => {
  it('read all that it has for a few keys where statistics are the usual ones', async () => {
    await have(usualStatistics('things'));
    expect(await planOf(BY_CONTACTS, some())).toMatch(/Filter: .*contact_id/);
  });

  it.each(['one', 'many'] as const)(
    'seek the keys where all are taken to be of %s',
    async (organizations) => {
      await have(steadyStatistics('things', organizations));
      expect(await planOf(BY_CONTACTS, some())).toMatch(/Index Cond: .*organization_id = .*contact_id = ANY/);
    },
  );

  it('read no other organization’s rows for what no index has, where they are taken to be of many', async () => {
    await have(steadyStatistics('things', 'many'));
    expect(await planOf(BY_STATE)).toMatch(/Index Cond: .*organization_id = /);
  });

  it('are seen by ANALYZE again once that is undone', async () => {
    await have(steadyStatistics('things', 'one'));
    const known = `SELECT n_distinct FROM pg_stats WHERE tablename = 'things' AND attname = 'organization_id'`;
    expect((await admin.query(known)).rows).toEqual([{ n_distinct: 1 }]);
    await have(usualStatistics('things'));
    expect((await admin.query(known)).rows).toEqual([{ n_distinct: 20 }]);
  });
});
