import { jest } from '@jest/globals';
import { anOrganization, DatabaseFault } from '@customer-platform/testing';
import { metrics } from '@customer-platform/http';
import { Clock, newId, Retention, type RetentionOptions } from '../src/index.js';
import { aWidgetWorld, type WidgetWorld } from './widgets.fixture.js';

const DAY = 86_400_000;

let world: WidgetWorld;
beforeAll(async () => {
  world = await aWidgetWorld(6);
});
afterAll(() => world.close());

const retention = (where = 'old.claimed_at < $1', further: Pick<RetentionOptions, 'ofNobody'> = {}) =>
  new Retention(world.database, new Clock(), {
    name: 'spec-retention',
    table: 'inbox',
    where,
    keptMs: 2 * DAY,
    ...further,
  });

/** Rows of one organization, claimed so many days ago. */
async function aged(days: number, rows: number): Promise<string> {
  const { id } = anOrganization();
  await world.test.query(
    `INSERT INTO inbox (organization_id, consumer, event_id, claimed_at)
     SELECT $1, 'spec', gen_random_uuid(), now() - $2 * interval '1 day' FROM generate_series(1, $3::int)`,
    [id, days, rows],
  );
  return id;
}

async function left(organizationId: string): Promise<number> {
  const rows = await world.test.query('SELECT 1 FROM inbox WHERE organization_id = $1', [organizationId]);
  return rows.length;
}

describe('the retention of a table', () => {
  it('removes what has had its time, of all organizations and in as many steps as it takes', async () => {
    const [many, few, young] = [await aged(3, 10_001), await aged(2.01, 2), await aged(1.99, 3)];
    expect(await retention().sweep()).toBe(10_003);
    expect([await left(many), await left(few), await left(young)]).toEqual([0, 0, 3]);
  });

  it('takes steps as small as it is told', async () => {
    const organizationId = await aged(3, 5);
    const options = { name: 'spec-retention', table: 'inbox', where: 'old.claimed_at < $1', keptMs: 2 * DAY };
    const steps = jest.spyOn(world.database, 'acrossOrganizations');
    try {
      await new Retention(world.database, new Clock(), { ...options, rowsAtOnce: 2 }).sweep();
      expect(steps).toHaveBeenCalledTimes(3);
    } finally {
      steps.mockRestore();
    }
    expect(await left(organizationId)).toBe(0);
  });

  it('comes in the same sweep to all that lies behind rows that fail', async () => {
    const [failing, other] = [await aged(4, 40), await aged(3, 2)];
    const fault = await DatabaseFault.in(world.test, {
      table: 'inbox',
      on: 'DELETE',
      when: `OLD.organization_id = '${failing}' AND OLD.event_id < '20000000-0000-4000-8000-000000000000'`,
    });
    await world.test.query(
      `UPDATE inbox SET event_id = ('10000000-0000-4000-8000-00000000000' || n)::uuid FROM (
         SELECT ctid AS at, row_number() OVER () - 1 AS n FROM inbox WHERE organization_id = $1 LIMIT 3) AS three
        WHERE inbox.ctid = three.at`,
      [failing],
    );
    await world.test.query(
      `UPDATE inbox SET event_id = ('f' || substr(event_id::text, 2))::uuid
        WHERE organization_id = $1 AND event_id::text NOT LIKE '10000000-%'`,
      [failing],
    );
    const options = { name: 'spec-retention', table: 'inbox', where: 'old.claimed_at < $1', keptMs: 2 * DAY };
    const small = new Retention(world.database, new Clock(), { ...options, rowsAtOnce: 8 });
    expect(await small.sweep()).toBe(39);
    expect([await left(failing), await left(other)]).toEqual([3, 0]);
    await fault.mend();
    expect(await small.sweep()).toBe(3);
  });

  it('removes each row once, however many instances do it at once', async () => {
    await aged(3, 500);
    const removed = await Promise.all([retention(), retention(), retention()].map((one) => one.sweep()));
    expect(removed.reduce((sum, rows) => sum + rows)).toBe(500);
  });

  it('waits for no row that somebody holds, and finds it the next time', async () => {
    const organizationId = await aged(3, 2);
    const eventId = newId();
    await world.test.query(
      `INSERT INTO inbox (organization_id, consumer, event_id, claimed_at)
       VALUES ($1, 'held', $2, now() - interval '3 days')`,
      [organizationId, eventId],
    );
    await world.database.acrossOrganizations(async (tx) => {
      await tx.query('SELECT 1 FROM inbox WHERE event_id = $1 FOR UPDATE', [eventId]);
      expect(await retention().sweep()).toBe(2);
    });
    expect(await retention().sweep()).toBe(1);
  });

  it.each([
    ['P0001', 1, {}],
    ['57014', 1, {}],
    ['P0001', 1_000, {}],
    ['P0001', 3, { ofNobody: true }],
  ] as const)(
    'goes on beside rows that fail for ever (%s, %i of them; %j), and removes them once they can be',
    async (code, rows, further) => {
      const [failing, other] = [await aged(4, rows), await aged(3, 2)];
      const fault = await DatabaseFault.in(world.test, {
        table: 'inbox',
        on: 'DELETE',
        when: `OLD.organization_id = '${failing}'`,
        code,
      });
      const job = retention(undefined, further);
      try {
        expect(await job.sweep()).toBe(2);
      } finally {
        await fault.mend();
      }
      expect([await left(failing), await left(other)]).toEqual([rows, 0]);
      expect(await metrics.getSingleMetricAsString('job_failures_total')).toMatch(
        /job_name="spec-retention"\} [1-9]/,
      );
      expect(await job.sweep()).toBe(rows);
    },
  );

  it('removes what is of others before it looks for the rows that fail', async () => {
    const [failing, other] = [await aged(4, 200), await aged(3, 2)];
    const fault = await DatabaseFault.in(world.test, {
      table: 'inbox',
      on: 'DELETE',
      when: `OLD.organization_id = '${failing}'`,
      code: '57014',
    });
    // Without time to look for them.
    const job = new Retention(world.database, new Clock(), {
      name: 'spec-retention',
      table: 'inbox',
      where: 'old.claimed_at < $1',
      oldestBy: 'claimed_at',
      keptMs: 2 * DAY,
      everyMs: 0,
      rowsAtOnce: 10,
    });
    try {
      expect(await job.sweep()).toBe(2);
      expect(await left(other)).toBe(0);
      expect(await fault.tries()).toBeLessThan(10);
    } finally {
      await fault.mend();
    }
    let rest = 0;
    for (let sweeps = 0; sweeps < 10; sweeps += 1) rest += await job.sweep();
    expect(rest).toBe(200);
  });

  it('gives up the step that is going on when the process ends, and keeps its rows', async () => {
    const organizationId = await aged(3, 1);
    const ending = retention(`old.claimed_at < $1 AND pg_advisory_xact_lock_shared(4711)::text = ''`);
    await world.database.acrossOrganizations(async (tx) => {
      await tx.query('SELECT pg_advisory_xact_lock(4711)');
      ending.onApplicationBootstrap();
      while ((await waiting()) === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      // The step goes on only after this transaction has ended: a stop that waited for it would not come back.
      await ending.onModuleDestroy();
    });
    expect(await left(organizationId)).toBe(1);
  }, 5_000);
});

/** How many statements wait for an advisory lock. */
async function waiting(): Promise<number> {
  const rows = await world.test.query(
    `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  return rows.length;
}
