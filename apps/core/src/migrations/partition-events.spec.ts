import { appRoleOf, newId, revertMigrations, runMigrations } from '@customer-platform/database';
import { testDatabase, type TestDatabase } from '@customer-platform/testing';
import { Client } from 'pg';
import { PartitionEvents1766900000000 } from './1766900000000-partition-events.js';
import { CORE_MIGRATIONS } from './core.migrations.js';

const ORGANIZATIONS = 40;
const EACH = 25;
const FROM_HERE = CORE_MIGRATIONS.length - CORE_MIGRATIONS.indexOf(PartitionEvents1766900000000);

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase('core', CORE_MIGRATIONS);
});
afterAll(() => database.drop());

const revert = (): Promise<void> =>
  revertMigrations({ module: 'core', migrations: CORE_MIGRATIONS, url: database.ownerUrl }, FROM_HERE);
const migrate = (): Promise<string[]> =>
  runMigrations({ module: 'core', migrations: CORE_MIGRATIONS, url: database.ownerUrl });

const FILL = `
  INSERT INTO events (organization_id, id, type, event, external_id, contact_id, idempotency_key, occurred_at, received_at,
                      payload, identities, warnings, source, fingerprint, origin_id)
  SELECT organization_id, gen_random_uuid(), CASE WHEN n % 5 = 0 THEN 'identify' ELSE 'track' END,
         CASE WHEN n % 5 = 0 THEN NULL ELSE 'paid' END, 'x' || n, gen_random_uuid(), 'k' || n, now() - n * interval '1 hour',
         now(), jsonb_build_object('n', n), CASE WHEN n % 5 = 0 THEN '[]'::jsonb END, CASE WHEN n % 7 = 0 THEN '[{"code": "x"}]'::jsonb END,
         'api', gen_random_uuid(), CASE WHEN n % 3 = 0 THEN gen_random_uuid() END
    FROM unnest($1::uuid[]) AS organization_id, generate_series(1, ${EACH}) AS n`;

async function rows(): Promise<unknown[]> {
  return database.query(`SELECT to_jsonb(event) AS event FROM events AS event ORDER BY organization_id, id`);
}

async function kindOfTable(): Promise<string | undefined> {
  const [table] = await database.query<{ kind: string }>(
    `SELECT relkind AS kind FROM pg_class WHERE oid = 'events'::regclass`,
  );
  return table?.kind;
}

async function asService<T>(work: (client: Client) => Promise<T>, url = database.url): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

describe('partitions of events', () => {
  it('take all rows of all organizations, and give them back', async () => {
    await database.query(FILL, [Array.from({ length: ORGANIZATIONS }, () => newId())]);
    const before = await rows();
    expect(before).toHaveLength(ORGANIZATIONS * EACH);
    expect(await kindOfTable()).toBe('p');
    await revert();
    expect(await kindOfTable()).toBe('r');
    expect(await rows()).toEqual(before);
    await migrate();
    expect(await kindOfTable()).toBe('p');
    expect(await rows()).toEqual(before);
    const [spread] = await database.query<{ used: number }>(
      'SELECT count(DISTINCT tableoid)::int AS used FROM events',
    );
    expect(spread?.used).toBeGreaterThan(1);
  });

  it('keep statements going that were prepared before the table was another', async () => {
    await asService(async (client) => {
      const own = newId();
      const look = {
        name: 'look',
        text: 'SELECT idempotency_key FROM events WHERE organization_id = $1',
        values: [own],
      };
      const store = { name: 'store', text: FILL, values: [[own]] };
      await client.query(`SELECT set_config('app.organization_id', $1, false)`, [own]);
      await client.query(store);
      expect((await client.query(look)).rowCount).toBe(EACH);
      await revert();
      expect((await client.query(look)).rowCount).toBe(EACH);
      await client.query('DELETE FROM events WHERE organization_id = $1', [own]);
      await client.query(store);
      await migrate();
      expect((await client.query(look)).rowCount).toBe(EACH);
      await client.query('DELETE FROM events WHERE organization_id = $1', [own]);
      await client.query(store);
      expect((await client.query(look)).rowCount).toBe(EACH);
    });
  });

  it('are named by nobody but their table', async () => {
    const partitions = await database.query<{ name: string }>(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'events'::regclass`,
    );
    expect(partitions).toHaveLength(16);
    const owners = new Client({ connectionString: database.ownerUrl });
    await owners.connect();
    await owners.query(`SET app.worker = 'on'`);
    for (const { name } of partitions) {
      await asService(async (client) => {
        await client.query(`SET app.worker = 'on'`);
        await expect(client.query(`SELECT FROM ${name}`)).rejects.toMatchObject({ code: '42501' });
        await expect(client.query(`DELETE FROM ${name}`)).rejects.toMatchObject({ code: '42501' });
      });
      expect((await owners.query(`SELECT FROM ${name}`)).rowCount).toBe(0);
    }
    expect((await owners.query('SELECT FROM events')).rowCount).toBeGreaterThan(0);
    await owners.end();
    expect(decodeURIComponent(new URL(database.url).username)).toBe(appRoleOf('core'));
  });

  describe.each(['analyzed', 'new'])('that are %s', (state) => {
    let fresh: TestDatabase | undefined;
    beforeAll(async () => {
      if (state === 'new') fresh = await testDatabase('core', CORE_MIGRATIONS);
    });
    afterAll(() => fresh?.drop());

    it('are read one at a time for an organization, also by a statement that names many', async () => {
      const [one, many] = await plansOn((fresh ?? database).url);
      expect(one).toContain('Subplans Removed: 15');
      expect(one).toContain('events_by_time');
      // A partition that no row asks for is not read.
      expect(many?.match(/never executed/g)).toHaveLength(15);
    });
  });
});

/** How an order of one organization and the look-up of a chunk are planned by the service, whatever they ask for. */
function plansOn(url: string): Promise<string[]> {
  return asService(async (client) => {
    await client.query(`SET app.worker = 'on'; SET plan_cache_mode = force_generic_plan`);
    await client.query(`
      PREPARE one (uuid) AS SELECT id FROM events WHERE organization_id = $1 ORDER BY occurred_at DESC, id DESC LIMIT 1;
      PREPARE many (uuid[], uuid[]) AS
        SELECT event.fingerprint FROM unnest($1, $2) AS given (organization_id, event_id)
          JOIN events AS event ON event.organization_id = given.organization_id AND event.id = given.event_id`);
    await client.query('SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off');
    const plan = async (call: string): Promise<string> => {
      const { rows: lines } = await client.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE ${call}`,
      );
      return lines.map((line) => line['QUERY PLAN']).join('\n');
    };
    const id = newId();
    return [await plan(`one('${id}')`), await plan(`many('{${id}}', '{${id}}')`)];
  }, url);
}
