import { Database, newId } from '@customer-platform/database';
import { eventually } from '@customer-platform/testing';
import { messagingWorld, type MessagingWorld } from '../../messaging.fixture.js';
import { MESSAGING_CONFIG, type MessagingConfig } from '../../vocabulary/config/messaging.config.js';
import { tenantsOf } from '../organizations/tenants.fixture.js';
import { BackgroundJobs } from './background-jobs.js';

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld({ consume: false });
});
afterAll(() => world.close());

/** Rows of the jobs that were read so far, as far as the server was told by its processes. */
async function jobsRead(): Promise<number> {
  const [row] = await world.database.query<{ read: number }>(
    `SELECT (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int AS read FROM pg_stat_user_tables
      WHERE relname = 'background_jobs'`,
  );
  return row?.read ?? NaN;
}

describe('many jobs of one organization', () => {
  it('are each taken for as little as one alone', async () => {
    const { id: organizationId } = world.organization();
    const count = 1_000;
    const before = await jobsRead();
    // Seen by nobody before the statistics say that there are many.
    await world.database.query(`
      BEGIN;
      INSERT INTO background_jobs (organization_id, kind, target_id, until, due_at)
      SELECT '${organizationId}', 'cancel_sends_of_rule', gen_random_uuid(), now(), now()
        FROM generate_series(1, ${count});
      ANALYZE background_jobs;
      COMMIT`);
    // What this test reads itself to see that all is done is among it.
    const left = () =>
      world.database.query('SELECT 1 FROM background_jobs WHERE organization_id = $1 LIMIT 1', [
        organizationId,
      ]);
    // Statistics that come in the middle of it, as autovacuum's do, change nothing.
    const isDone = async (): Promise<void> => {
      await world.database.query('ANALYZE background_jobs');
      expect(await left()).toEqual([]);
    };
    await eventually(isDone, { within: 60_000 });
    expect((await jobsRead()) - before).toBeLessThan(100 * count);
  });
});

describe('jobs of many organizations', () => {
  it('take turns by tenant, and in a tenant by organization, also where each is done in one piece', async () => {
    const [tenant, neighbour] = [newId(), newId()];
    const [first = '', second = '', third = ''] = [newId(), newId(), newId()].sort();
    // Due tomorrow, and for nobody but the jobs below before.
    await world.database.query(
      `INSERT INTO background_jobs (organization_id, kind, target_id, until, due_at)
       SELECT unnest($1::uuid[]), 'forget_campaign', gen_random_uuid(), now(), now() + interval '1 day'`,
      [[first, first, second, third, neighbour, neighbour]],
    );
    const { app } = world.app;
    const jobs = new BackgroundJobs(
      { ...app.get<MessagingConfig>(MESSAGING_CONFIG, { strict: false }), worker: false },
      app.get(Database, { strict: false }),
      { now: () => new Date(Date.now() + 2 * 86_400_000) },
      await tenantsOf({ [first]: tenant, [second]: tenant, [third]: tenant }),
    );
    const done: string[] = [];
    jobs.handle('forget_campaign', (_, job) => {
      done.push(job.organization_id);
      return Promise.resolve('done');
    });
    while (await jobs.piece());
    const ofTenant = done.filter((id) => id !== neighbour);
    expect(ofTenant).toEqual([first, second, third, first]);
    expect([done.slice(0, 2), done.slice(2, 4)].map((pair) => pair.includes(neighbour))).toEqual([
      true,
      true,
    ]);
  });
});
