import { anOrganization, eventually } from '@customer-platform/testing';
import {
  DatabaseUnavailable,
  isDatabaseUnavailable,
  isTransient,
  newId,
  type Transaction,
} from '../src/index.js';
import { aWidgetWorld, type WidgetWorld } from './widgets.fixture.js';

const INSERT = 'INSERT INTO jobs (organization_id, id) VALUES ($1, $2)';
const OWN_PID = 'SELECT pg_backend_pid() AS pid';
const LOCK = 'SELECT id FROM jobs WHERE organization_id = $1 AND id = $2 FOR UPDATE';

/** Makes Postgres refuse with this SQLSTATE. */
const refuse = (code: string): string =>
  `DO $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '${code}'; END $$`;

describe('failures of Postgres that pass', () => {
  let world: WidgetWorld;
  let single: WidgetWorld;
  beforeAll(async () => {
    [world, single] = await Promise.all([aWidgetWorld(), aWidgetWorld(1)]);
  });
  afterAll(() => Promise.all([world.close(), single.close()]));

  const scope = (): { organizationId: string } => ({ organizationId: anOrganization().id });

  it.each([
    ...['08006', '25006', '25P03', '25P04', '53000', '53100', '53200', '53300', '57014'],
    ...['57P01', '57P02', '57P03', '57P04', '57P05', '58000', '58030', '58P01'],
  ])('%s is an outage, for requests and for consumers', async (code) => {
    const failure: unknown = await world.source.query(refuse(code)).catch((error: unknown) => error);
    expect([isTransient(failure), isDatabaseUnavailable(failure)]).toEqual([true, true]);
    await expect(
      world.database.inOrganization(scope(), (tx) => tx.query(refuse(code))),
    ).rejects.toMatchObject({
      code: 'dependency_unavailable',
      status: 503,
      headers: { 'Retry-After': '1' },
    });
  });

  it.each(['22P02', '23505', '25P02', '42P01', '53400', '54001', 'XX000', 'P0001'])(
    '%s is a fault of the statement',
    async (code) => {
      const failing = world.database.inOrganization(scope(), (tx) => tx.query(refuse(code)));
      const failure: unknown = await failing.catch((error: unknown) => error);
      expect(failure).not.toBeInstanceOf(DatabaseUnavailable);
      expect(isTransient(failure)).toBe(false);
    },
  );

  it('a statement that runs into its time limit passes, and its connection serves on', async () => {
    const slow = single.database.inOrganization(scope(), async (tx) => {
      await tx.query('SET LOCAL statement_timeout = 20');
      await tx.query('SELECT pg_sleep(20)');
    });
    await expect(slow).rejects.toBeInstanceOf(DatabaseUnavailable);
    await single.database.ping();
  });

  it('a connection to what has become a standby is not lent again', async () => {
    const where = scope();
    const write = (tx: Transaction): Promise<unknown> => tx.query(INSERT, [where.organizationId, newId()]);
    const pidOf = (): Promise<{ pid: number }[]> =>
      single.database.inOrganization(where, (tx) => tx.query(OWN_PID));
    // What a promoted standby leaves behind: sessions that can only read.
    await single.database.inOrganization(where, (tx) => tx.query('SET default_transaction_read_only = on'));
    const before = await pidOf();
    await expect(single.database.inOrganization(where, write)).rejects.toBeInstanceOf(DatabaseUnavailable);
    await single.database.inOrganization(where, write);
    expect(await pidOf()).not.toEqual(before);
  });

  it('is given up with its connection also where the failure came up within a savepoint', async () => {
    const where = scope();
    await single.database.inOrganization(where, (tx) => tx.query('SET default_transaction_read_only = on'));
    const nested = single.database.joined(where, () =>
      single.database.inOrganization(where, (tx) => tx.query(INSERT, [where.organizationId, newId()])),
    );
    await expect(nested).rejects.toBeInstanceOf(DatabaseUnavailable);
    await single.database.inOrganization(where, (tx) => tx.query(INSERT, [where.organizationId, newId()]));
  });

  describe('a transaction that loses to another', () => {
    it('begins anew, as a whole, when two lock the same rows in both orders', async () => {
      const where = scope();
      const { organizationId } = where;
      const [one, other] = [newId(), newId()];
      await world.database.inOrganization(where, async (tx) => {
        for (const id of [one, other]) await tx.query(INSERT, [organizationId, id]);
      });
      let inHand = 0;
      const both: PromiseWithResolvers<void> = Promise.withResolvers();
      const begun: string[] = [];
      const told: string[] = [];
      const winner: PromiseWithResolvers<void> = Promise.withResolvers();
      const locking = (name: string, first: string, second: string): Promise<string> =>
        world.database.inOrganization(where, async (tx) => {
          // It would lose once more where it takes the lock first that the winner is about to wake up to.
          if (begun.includes(name)) await winner.promise;
          begun.push(name);
          tx.afterCommit(() => {
            told.push(name);
            winner.resolve();
          });
          await tx.query(INSERT, [organizationId, newId()]);
          await tx.query(LOCK, [organizationId, first]);
          if ((inHand += 1) === 2) both.resolve();
          await both.promise;
          await tx.query(LOCK, [organizationId, second]);
          return name;
        });
      expect(await Promise.all([locking('a', one, other), locking('b', other, one)])).toEqual(['a', 'b']);
      expect(begun).toHaveLength(3);
      expect(told.toSorted()).toEqual(['a', 'b']);
      const jobs = await world.database.inOrganization(where, (tx) => tx.query('SELECT id FROM jobs'));
      expect(jobs).toHaveLength(4);
    });

    it.each(['40P01', '40001'])('is tried three times with %s, and then answers 503', async (code) => {
      const where = scope();
      const order: string[] = [];
      const failing = world.database.joined(where, () =>
        world.database.inOrganization(where, async (tx) => {
          order.push('try');
          await tx.query(refuse(code)).finally(() => setTimeout(() => order.push('winner'), 8));
        }),
      );
      await expect(failing).rejects.toMatchObject({ code: 'dependency_unavailable', status: 503 });
      // Whom it lost to has some milliseconds to take the locks.
      expect(order.slice(0, 5)).toEqual(['try', 'winner', 'try', 'winner', 'try']);
      expect(order.filter((each) => each === 'try')).toHaveLength(3);
    });

    it('is not begun anew after it has waited for a lock in vain', async () => {
      let tries = 0;
      const failing = world.database.inOrganization(scope(), async (tx) => {
        tries += 1;
        await tx.query(refuse('55P03'));
      });
      await expect(failing).rejects.toBeInstanceOf(DatabaseUnavailable);
      expect(tries).toBe(1);
    });

    it('is not begun anew where its own work has said what the loss means', async () => {
      const meant = new Error('the contact is busy');
      let tries = 0;
      const failing = world.database.inOrganization(scope(), async (tx) => {
        tries += 1;
        await tx.query(refuse('40P01')).catch((error: unknown) => {
          throw Object.assign(meant, { cause: error });
        });
      });
      await expect(failing).rejects.toBe(meant);
      expect(tries).toBe(1);
    });
  });

  it('leaves no connection behind in a transaction', async () => {
    const losing = world.database.inOrganization(scope(), (tx) => tx.query(refuse('40P01')));
    await expect(losing).rejects.toBeInstanceOf(DatabaseUnavailable);
    const open = `SELECT pid FROM pg_stat_activity WHERE state = 'idle in transaction' AND application_name = 'widgets'
      AND datname = current_database()`;
    await eventually(async () => expect(await world.test.query(open)).toEqual([]));
  });
});
