import { inspect } from 'node:util';
import { jest } from '@jest/globals';
import { log } from '@customer-platform/http';
import { anOrganization, eventually } from '@customer-platform/testing';
import { Client } from 'pg';
import {
  DatabaseUnavailable,
  isDatabaseUnavailable,
  isTransient,
  newId,
  postgresFailure,
  type Transaction,
} from '../src/index.js';
import { Widget } from './widget.entity.js';
import { aWidgetWorld, type WidgetWorld } from './widgets.fixture.js';

const INSERT = `INSERT INTO jobs (organization_id, id) VALUES ($1, $2)`;

describe('transactions', () => {
  let world: WidgetWorld;
  beforeAll(async () => {
    world = await aWidgetWorld();
  });
  afterAll(() => world.close());

  const scope = (): { organizationId: string } => ({ organizationId: anOrganization().id });
  const jobsOf = async (where: { organizationId: string }): Promise<number> =>
    (await world.database.inOrganization(where, (tx) => tx.query('SELECT 1 FROM jobs'))).length;

  it('commits all or nothing, and tells listeners only after the commit', async () => {
    const where = scope();
    const told: string[] = [];
    const failing = world.database.inOrganization(where, async (tx) => {
      await tx.query(INSERT, [where.organizationId, newId()]);
      tx.afterCommit(() => told.push('never'));
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    expect(await jobsOf(where)).toBe(0);
    await world.database.inOrganization(where, async (tx) => {
      await tx.query(INSERT, [where.organizationId, newId()]);
      tx.afterCommit(() => told.push('committed'));
      expect(told).toEqual([]);
    });
    expect(told).toEqual(['committed']);
  });

  it('goes on after a savepoint that failed, without its rows and its listeners', async () => {
    const where = scope();
    const told: string[] = [];
    await world.database.inOrganization(where, async (tx) => {
      tx.afterCommit(() => told.push('kept'));
      const broken = tx.savepoint(async () => {
        await tx.query(INSERT, [where.organizationId, newId()]);
        tx.afterCommit(() => told.push('dropped'));
        await tx.query('SELECT 1/0');
      });
      await expect(broken).rejects.toThrow('division by zero');
      await tx.query(INSERT, [where.organizationId, newId()]);
    });
    expect(await jobsOf(where)).toBe(1);
    expect(told).toEqual(['kept']);
  });

  it('lets units of the same organization join, also side by side, and commits them together', async () => {
    const where = scope();
    const joined = world.database.joined(where, async () => {
      await Promise.all(
        [1, 2, 3].map(() =>
          world.database.inOrganization(where, (tx) => tx.query(INSERT, [where.organizationId, newId()])),
        ),
      );
      await world.database.inOrganization(where, async () => {
        await world.database.inOrganization(where, (tx) => tx.query(INSERT, [where.organizationId, newId()]));
      });
      throw new Error('none of it');
    });
    await expect(joined).rejects.toThrow('none of it');
    expect(await jobsOf(where)).toBe(0);
  });

  it('joins behind a lock by its name, whatever that is, and tells the others that it is taken', async () => {
    const where = scope();
    const name = `it's "odd" \\ $1; ${newId()}`;
    const inserted = async (): Promise<string> => {
      await world.database.inOrganization(where, (tx) => tx.query(INSERT, [where.organizationId, newId()]));
      return 'mine';
    };
    let finish: () => void = () => undefined;
    let begun: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const running = new Promise<void>((resolve) => (begun = resolve));
    const first = world.database.joinedIfFree(where, name, async () => {
      begun();
      await finished;
      return inserted();
    });
    await running;
    expect(await world.database.joinedIfFree(where, name, inserted)).toBeUndefined();
    expect(await world.database.joinedIfFree(where, `${name}'`, inserted)).toBe('mine');
    finish();
    expect(await first).toBe('mine');
    expect(await world.database.joinedIfFree(where, name, inserted)).toBe('mine');
    expect(await jobsOf(where)).toBe(3);
  });

  it('plans a prepared statement once on a connection, with other values each time, bound to its organization', async () => {
    const count = 'SELECT count(*)::int AS count FROM jobs WHERE id = ANY($1::uuid[])';
    const [one, other] = [scope(), scope()];
    const ids = [newId(), newId()];
    for (const where of [one, other, one]) {
      await world.database.inOrganization(where, async (tx) => {
        const [none] = await tx.prepared<{ count: number }>(count, [[newId()]]);
        expect(none?.count).toBe(0);
        if (where === other) await tx.query(INSERT, [where.organizationId, ids[0]]);
        const [row] = await tx.prepared<{ count: number }>(count, [ids]);
        expect(row?.count).toBe(where === other ? 1 : 0);
        const known = await tx.query('SELECT 1 FROM pg_prepared_statements WHERE statement = $1', [count]);
        expect(known).toHaveLength(1);
      });
    }
  });

  it.each([
    [
      'a transaction of one organization',
      (where, work) => world.database.inOrganization(where, work, { onePlan: true }),
    ],
    ['one across organizations', (_, work) => world.database.acrossOrganizations(work, { onePlan: true })],
    ['one that seeks by keys', (_, work) => world.database.acrossOrganizations(work, { byKeys: true })],
  ] satisfies [
    string,
    (where: { organizationId: string }, work: (tx: Transaction) => Promise<void>) => Promise<void>,
  ][])('plans a prepared statement that takes lists once, if %s is to have one plan', async (name, run) => {
    const listed = `SELECT '${name}', id FROM jobs WHERE id = ANY($1::uuid[])`;
    await run(scope(), async (tx) => {
      for (let ids = 1; ids < 9; ids += 1)
        await tx.prepared(listed, [Array.from({ length: ids }, () => newId())]);
      const plans =
        'SELECT generic_plans::int, custom_plans::int FROM pg_prepared_statements WHERE statement = $1';
      expect(await tx.query(plans, [listed])).toEqual([{ generic_plans: 8, custom_plans: 0 }]);
    });
  });

  it('plans a prepared statement anew after a while, for its table may have grown', async () => {
    const where = scope();
    const others = 'SELECT id FROM jobs WHERE id <> $1::uuid';
    /** How many rows the plan that a connection keeps expects. */
    const expectedRows = (): Promise<number> =>
      world.database.inOrganization(where, async (tx) => {
        // From the sixth time on a plan is kept.
        for (let times = 0; times < 6; times += 1) await tx.prepared(others, [newId()]);
        const [known] = await tx.query<{ name: string }>(
          'SELECT name FROM pg_prepared_statements WHERE statement = $1',
          [others],
        );
        const [answer] = await tx.query<{ 'QUERY PLAN': { Plan: { 'Plan Rows': number } }[] }>(
          `EXPLAIN (FORMAT JSON) EXECUTE ${known?.name ?? ''} ('${newId()}')`,
        );
        return answer?.['QUERY PLAN'][0]?.Plan['Plan Rows'] ?? NaN;
      });
    const few = await expectedRows();
    await world.database.inOrganization(where, (tx) =>
      tx.query('INSERT INTO jobs SELECT $1, gen_random_uuid() FROM generate_series(1, 100_000)', [
        where.organizationId,
      ]),
    );
    const now = performance.now.bind(performance);
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + 5_001);
    const many = await expectedRows();
    clock.mockRestore();
    expect(many).toBeGreaterThan(10 * few);
  });

  it('goes to Postgres once to begin with all that it sets, once a statement, once to end', async () => {
    const sent = jest.spyOn(Client.prototype, 'query');
    /** What went there, one text a way. Plans that have become old go with a beginning, or do not. */
    const ways = (): unknown[] => {
      const texts = sent.mock.calls.map(([first]: unknown[]) =>
        typeof first === 'string' ? first.replace('; DISCARD PLANS', '') : (first as { text: string }).text,
      );
      sent.mockClear();
      return texts;
    };
    try {
      const where = scope();
      const begin = `START TRANSACTION; SET LOCAL app.organization_id = '${where.organizationId}'`;
      await world.database.inOrganization(where, (tx) => tx.query('SELECT 1'));
      expect(ways()).toEqual([begin, 'SELECT 1', 'COMMIT']);
      await world.database.inOrganization(where, async (tx) => {
        const lock = { mode: 'pessimistic_write' as const };
        await tx.manager.findOne(Widget, { where: { id: newId() }, lock });
      });
      expect(ways()).toEqual([begin, expect.stringMatching(/^SELECT .* FOR UPDATE$/), 'COMMIT']);
      await world.database.inOrganization(where, (tx) => tx.savepoint(() => tx.query('SELECT 2')));
      expect(ways()).toEqual([
        ...[begin, expect.stringMatching(/^SAVEPOINT /), 'SELECT 2'],
        ...[expect.stringMatching(/^RELEASE SAVEPOINT /), 'COMMIT'],
      ]);
      await world.database.joinedIfFree(where, newId(), () => Promise.resolve());
      expect(ways()).toEqual([expect.stringMatching(/^START .*; SET .*; SELECT pg_try_advisory/), 'COMMIT']);
      const thrown = new Error('changed my mind');
      await expect(world.database.inOrganization(where, () => Promise.reject(thrown))).rejects.toBe(thrown);
      expect(ways()).toEqual([begin, 'ROLLBACK']);
    } finally {
      sent.mockRestore();
    }
  });

  it('cannot be used after its end', async () => {
    const where = scope();
    const escaped = await world.database.inOrganization(where, async (tx) => tx);
    await expect(escaped.query('SELECT 1')).rejects.toThrow('over');
  });

  it('survives the death of every connection, idle or at work, and then works again', async () => {
    const where = scope();
    await Promise.all([jobsOf(where), jobsOf(where)]);
    const kill = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'widgets'
      AND datname = current_database()`;
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    const cut = world.database.inOrganization(where, async (tx) => {
      await tx.query('SELECT 1');
      open();
      await tx.query('SELECT pg_sleep(20)');
    });
    const outcome = expect(cut).rejects.toBeInstanceOf(DatabaseUnavailable);
    await opened;
    await world.test.query(kill);
    await outcome;
    await eventually(async () => expect(await jobsOf(where)).toBe(0));
  });

  it('tells a database that is away from a statement that was refused', async () => {
    const refused = await world.source.query('SELECT 1/0').catch((error: unknown) => error);
    expect(isDatabaseUnavailable(refused)).toBe(false);
    const error = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    expect(isDatabaseUnavailable(error)).toBe(true);
    const deadlock = Object.assign(new Error('deadlock detected'), { code: '40P01', severity: 'ERROR' });
    expect([isTransient(deadlock), isDatabaseUnavailable(deadlock)]).toEqual([true, false]);
  });

  it('keeps the values of a row out of its errors', async () => {
    const where = scope();
    const row = {
      organizationId: where.organizationId,
      id: newId(),
      name: 'secret-name',
      settings: {},
      weight: null,
    };
    const times = { createdAt: new Date(), updatedAt: new Date(), deletedAt: null };
    const failing = world.database.inOrganization(where, async (tx) => {
      await tx.manager.insert(Widget, { ...row, ...times });
      await tx.manager.insert(Widget, { ...row, ...times, id: newId() });
    });
    const error: unknown = await failing.catch((thrown: unknown) => thrown);
    expect(postgresFailure(error)?.constraint).toBe('widgets_name');
    expect(inspect(error, { depth: 5 })).not.toContain('secret-name');
  });

  it('is ready only when all migrations have run', async () => {
    await world.database.demandMigrated(world.source.migrations);
    const next = { name: 'AddMore1800000000000', up: async () => undefined, down: async () => undefined };
    await expect(world.database.demandMigrated([...world.source.migrations, next])).rejects.toThrow(
      'AddMore',
    );
  });

  it('says in the log, once, which migrations it waits for', async () => {
    const told = jest.spyOn(log, 'warn');
    const next = { name: 'AddYetMore1800000000001', up: async () => undefined, down: async () => undefined };
    const migrations = [...world.source.migrations, next];
    try {
      for (let times = 0; times < 3; times += 1)
        await expect(world.database.demandMigrated(migrations)).rejects.toThrow('AddYetMore');
      const lines = told.mock.calls.filter(([about]) => JSON.stringify(about).includes('AddYetMore'));
      expect(lines).toEqual([[{ migrations: [next.name] }, 'Migrations have not run yet']]);
    } finally {
      told.mockRestore();
    }
  });
});
