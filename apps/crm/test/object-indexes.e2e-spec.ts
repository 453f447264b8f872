import { newId } from '@customer-platform/database';
import {
  type Caller,
  eventually,
  expectStatus,
  startTestProcess,
  testDatabase,
  TestRegistry,
  type TestDatabase,
  type TestProcess,
} from '@customer-platform/testing';
import { CRM_MIGRATIONS } from '../src/migrations/index.js';

const RECORDS = 20_000;
const KILLS = 3;
const DEFINITIONS = '/v1/crm/object-definitions';
const THINGS = '/v1/crm/objects/thing';

interface Definition {
  id: string;
  fields: { index_state: string; index_progress?: { processed: number } }[];
}

const FILL = `
  INSERT INTO object_records (organization_id, id, definition_id, "values", created_at, updated_at)
  SELECT $1, ('01940000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, $2,
         CASE WHEN n % 3 = 0 THEN '{}' ELSE jsonb_build_object('year', n % 100) END, '2024-12-25T22:46:27.584Z', now()
    FROM generate_series(1, $3::int) AS n`;
const COUNT = `
  INSERT INTO object_tallies (organization_id, definition_id, shard, records, active, held, active_held)
  SELECT $1, $2, 0, count(*), count(*), jsonb_build_object('year', count("values"->'year')),
         jsonb_build_object('year', count("values"->'year'))
    FROM object_records WHERE organization_id = $1 AND definition_id = $2`;
/** What stands in the index and follows from no record, and the other way round. */
const DIFFERENCE = `
  WITH follows AS (
    SELECT id AS record_id, coalesce(("values"->>'year')::float8, 'NaN') AS value, deleted_at IS NULL AS live
      FROM object_records WHERE organization_id = $1),
  stands AS (SELECT record_id, value, live FROM object_numbers WHERE organization_id = $1)
  SELECT count(*)::int AS count FROM (
    (TABLE follows EXCEPT ALL TABLE stands) UNION ALL (TABLE stands EXCEPT ALL TABLE follows)) AS differing`;

describe('processes that are killed while they build an index', () => {
  let registry: TestRegistry;
  let database: TestDatabase;
  let serving: TestProcess;
  let building: TestProcess;
  beforeAll(async () => {
    registry = await TestRegistry.start();
    database = await testDatabase('crm', CRM_MIGRATIONS);
    serving = await startTestProcess({ module: 'crm', registry, database, env: { PROCESS_ROLE: 'api' } });
    building = await startTestProcess({ module: 'crm', registry, database });
  }, 240_000);
  afterAll(async () => {
    await building.stop();
    await serving.stop();
    await registry.close();
    await database.drop();
  });

  it('leave one in which stands what follows from the records, whatever is written meanwhile', async () => {
    const organizationId = newId();
    const actions = ['read', 'create', 'update', 'delete'] as const;
    const caller = serving.as(
      organizationId,
      actions.map((action) => `crm.objects.${action}` as const),
    );
    const fields = [{ key: 'year', type: 'integer' }];
    const defined = await caller.post<Definition>(DEFINITIONS, { slug: 'thing', name: 'Thing', fields });
    expectStatus(defined, 201);
    const { id } = defined.body;
    await database.query(FILL, [organizationId, id, RECORDS]);
    await database.query(COUNT, [organizationId, id]);
    const indexed = { fields: [{ ...fields[0], indexed: true }] };
    const asked = await caller.patch<Definition>(`${DEFINITIONS}/${id}`, indexed);
    expect(asked.body.fields[0]?.index_state).toBe('building');

    const state = async (): Promise<Definition['fields'][0]> => {
      const { body } = await caller.get<Definition>(`${DEFINITIONS}/${id}`);
      return body.fields[0] ?? { index_state: 'none' };
    };
    let over = false;
    const writing = write(caller, () => over);
    let seen = asked.body.fields[0]?.index_progress?.processed ?? 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const now = await eventually(
        async () => {
          const present = await state();
          expect(present.index_progress?.processed ?? Infinity).toBeGreaterThan(seen);
          return present;
        },
        { within: 60_000, every: 1 },
      );
      await building.crash();
      seen = now.index_progress?.processed ?? seen;
      await building.restart();
    }
    await eventually(async () => expect((await state()).index_state).toBe('ready'), { within: 120_000 });
    over = true;
    expect(await writing).toBeGreaterThan(0);
    const [differing] = await database.query<{ count: number }>(DIFFERENCE, [organizationId]);
    expect(differing?.count).toBe(0);
    const page = await caller.get<{ data: { values: { year: number } }[] }>(
      `${THINGS}?values.year=97&limit=1`,
    );
    expect(page.body.data[0]?.values.year).toBe(97);
  }, 300_000);
});

/** Creates, changes and deletes records, at their beginning and at their end, until it is over. */
async function write(caller: Caller, isOver: () => boolean): Promise<number> {
  let calls = 0;
  for (let at = 1; !isOver(); at += 1) {
    const number = at % 2 === 0 ? at : RECORDS - at;
    const one = `${THINGS}/01940000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`;
    const values = at % 5 === 0 ? {} : { year: at % 100 };
    expectStatus(await caller.post(THINGS, { values }), 201);
    const changed = { values: { year: at % 7 === 0 ? null : 50 } };
    expectStatus(await caller.patch(one, changed), 200);
    if (at % 3 === 0) expectStatus(await caller.delete(one), 204);
    calls += 3;
  }
  return calls;
}
