import { jest } from '@jest/globals';
import { newId } from '@customer-platform/database';
import {
  TcpLink,
  eventually,
  startTestApp,
  testDatabase,
  type TestApp,
  type TestDatabase,
  TestRegistry,
} from '@customer-platform/testing';
import { Client } from 'pg';
import { coreApp } from '../core.app.js';
import { START_MS } from '../core.fixture.js';
import { CORE_MIGRATIONS } from '../migrations/core.migrations.js';
import { SegmentEvaluator } from './evaluating/segment.evaluator.js';

const PATIENCE = { within: 90_000 };
const ORGANIZATIONS = 60;
/** Often enough that an instance that walked all of them would have been there. */
const LOOKS = 3;

/** Core with its workers, on a wire to the database that can be cut: then it is what a killed one is to the others. */
class Instance {
  /** How often it looked at each organization since this was emptied. */
  readonly looks = new Map<string, number>();

  private constructor(
    readonly wire: TcpLink,
    private readonly app: TestApp,
  ) {
    const evaluator = app.app.get(SegmentEvaluator, { strict: false });
    const turn = evaluator.turn.bind(evaluator);
    jest.spyOn(evaluator, 'turn').mockImplementation((organizationId) => {
      this.looks.set(organizationId, (this.looks.get(organizationId) ?? 0) + 1);
      return turn(organizationId);
    });
  }

  static async start(database: TestDatabase, registry: TestRegistry): Promise<Instance> {
    const wire = new TcpLink();
    await wire.open();
    const through = { ...database, url: wire.through(database.url) };
    const env = { PROCESS_ROLE: 'worker' };
    return new Instance(wire, await startTestApp({ ...coreApp(), database: through, registry, env }));
  }

  async close(): Promise<void> {
    await this.app.close();
    await this.wire.cut();
  }
}

let database: TestDatabase;
let registry: TestRegistry;
let instances: Instance[];
const organizations = Array.from({ length: ORGANIZATIONS }, () => newId());

beforeAll(async () => {
  database = await testDatabase('core', CORE_MIGRATIONS);
  registry = await TestRegistry.start();
  // Of organizations without segments: there is always something to look at, and never anything to do.
  await database.query(
    `INSERT INTO segment_changes (organization_id, contact_id, cause, touched, correlation_id)
     SELECT organization_id, gen_random_uuid(), 'event', '{}', gen_random_uuid() FROM unnest($1::uuid[]) AS organization_id`,
    [organizations],
  );
  instances = [];
  for (let started = 0; started < 3; started += 1) instances.push(await Instance.start(database, registry));
}, START_MS);
afterAll(async () => {
  for (const instance of instances) await instance.close();
  await registry.close();
  await database.drop();
});

/** Which organizations each looks at, once everybody agrees on it: each by one instance, and that one again and again. */
function shares(among: readonly Instance[], of = organizations): Promise<string[][]> {
  return eventually(async () => {
    for (const { looks } of instances) looks.clear();
    const looked = (organizationId: string): number =>
      among.reduce((sum, { looks }) => sum + (looks.get(organizationId) ?? 0), 0);
    await eventually(() => {
      for (const id of of) expect(looked(id)).toBeGreaterThanOrEqual(LOOKS);
    }, PATIENCE);
    const found = among.map(({ looks }) => of.filter((id) => looks.has(id)));
    expect(found.flat().sort()).toEqual([...of].sort());
    return found;
  }, PATIENCE);
}

/** Keeps a turn of the organization waiting for a row, until the answer is called. */
async function hold(organizationId: string): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: database.adminUrl });
  await client.connect();
  await client.query('BEGIN');
  await client.query('INSERT INTO segment_clocks (organization_id, reached_at) VALUES ($1, now())', [
    organizationId,
  ]);
  // From its first revision on an organization is evaluated.
  await database.query('INSERT INTO segment_revisions (organization_id, revision) VALUES ($1, 1)', [
    organizationId,
  ]);
  return async () => {
    await client.query('ROLLBACK');
    await client.end();
  };
}

describe('the segments of many organizations, evaluated by three instances', () => {
  it('are looked at by one of them each, and by all together', async () => {
    const found = await shares(instances);
    for (const share of found) expect(share.length).toBeGreaterThan(0);
  }, 100_000);

  it('go to the others when one is gone, which has the same again when it comes back', async () => {
    const before = await shares(instances);
    const [gone, ...others] = instances;
    await gone?.wire.cut();
    const meanwhile = await shares(others);
    // What the others had stays where it was.
    for (const [at, share] of meanwhile.entries())
      expect(share).toEqual(expect.arrayContaining(before[at + 1] ?? []));
    await gone?.wire.open();
    await eventually(async () => expect(await shares(instances)).toEqual(before), PATIENCE);
  }, 300_000);

  it('wait for none that is gone and told at a time to come, by a clock that has been set back since', async () => {
    const before = await shares(instances);
    const gone = newId();
    await database.query(
      `INSERT INTO instances (purpose, id, seen_at) VALUES ('segments', $1, now() + interval '1 hour')`,
      [gone],
    );
    expect(await shares(instances)).toEqual(before);
    await database.query('DELETE FROM instances WHERE id = $1', [gone]);
  }, 300_000);

  it('go to the others while one hangs in a turn', async () => {
    const before = await shares(instances);
    const [, ...others] = instances;
    const held = before[0]?.[0] ?? '';
    const rest = organizations.filter((id) => id !== held);
    const release = await hold(held);
    await shares(others, rest);
    await release();
    const shared = before.map((share) => share.filter((id) => id !== held));
    await eventually(async () => expect(await shares(instances, rest)).toEqual(shared), PATIENCE);
  }, 300_000);

  it('are all another instance’s once one has ended by itself', async () => {
    const [first, ...others] = instances;
    instances = others;
    await first?.close();
    const rows = await database.query(`SELECT id FROM instances WHERE purpose = 'segments'`);
    expect(rows).toHaveLength(others.length);
    const left = await database.query<{ id: string }>('SELECT organization_id AS id FROM segment_changes');
    await shares(
      others,
      left.map(({ id }) => id),
    );
  }, 100_000);
});
