import { anOrganization } from '@customer-platform/testing';
import type { IdempotencyScope } from '@customer-platform/http';
import { Clock, IdempotentCalls, newId, type IdempotentCall } from '../src/index.js';
import { aWidgetWorld, type WidgetWorld } from './widgets.fixture.js';

class MovableClock extends Clock {
  offset = 0;

  override now(): Date {
    return new Date(Date.now() + this.offset);
  }
}

const MINUTE = 60_000;
const DAY = 86_400_000;

describe('idempotency', () => {
  let world: WidgetWorld;
  let clock: MovableClock;
  beforeAll(async () => {
    world = await aWidgetWorld(6);
  });
  afterAll(() => world.close());
  beforeEach(() => {
    clock = new MovableClock();
  });

  const aScope = (): IdempotencyScope => ({
    organizationId: anOrganization().id,
    route: 'POST /v1/widgets',
    key: newId(),
  });

  describe('calls that count for ever', () => {
    const aCall = (overrides: Partial<IdempotentCall> = {}): IdempotentCall => ({
      ...aScope(),
      body: { b: 2, a: 1 },
      keep: 'forever',
      ...overrides,
    });
    const insertJob = (call: IdempotentCall): Promise<unknown> =>
      world.database.inOrganization(call, (tx) =>
        tx.query('INSERT INTO jobs VALUES ($1, $2)', [call.organizationId, newId()]),
      );
    const jobs = async (call: IdempotentCall): Promise<number> =>
      (await world.database.inOrganization(call, (tx) => tx.query('SELECT 1 FROM jobs'))).length;

    it('performs once of 20 at once and gives all the same answer, without draining a pool of 6', async () => {
      const calls = new IdempotentCalls(world.database, clock, 'a secret');
      const call = aCall();
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          calls.run(call, async () => {
            await insertJob(call);
            return { status: 201, headers: { Location: '/x' }, body: { winner: at } };
          }),
        ),
      );
      expect(await jobs(call)).toBe(1);
      expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
      expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
    });

    it('compares bodies as JSON: order does not matter, content does', async () => {
      const calls = new IdempotentCalls(world.database, clock, 'a secret');
      const call = aCall();
      await calls.run(
        call,
        async () => ({ status: 201, headers: {}, body: { secret: 's', id: 1 } }),
        (answer) => ({
          ...answer,
          body: { id: 1 },
        }),
      );
      const again = await calls.run({ ...call, body: { a: 1, b: 2 } }, () =>
        Promise.reject(new Error('not again')),
      );
      expect(again).toEqual({ status: 201, headers: {}, body: { id: 1 }, replayed: true });
      const other = calls.run({ ...call, body: { a: 1 } }, () => Promise.reject(new Error('not again')));
      await expect(other).rejects.toMatchObject({ code: 'idempotency_key_reused' });
    });

    it('keeps neither effect nor answer of a call that failed', async () => {
      const calls = new IdempotentCalls(world.database, clock, 'a secret');
      const call = aCall();
      const failing = calls.run(call, async () => {
        await insertJob(call);
        throw new Error('refused');
      });
      await expect(failing).rejects.toThrow('refused');
      expect(await jobs(call)).toBe(0);
      const answer = await calls.run(call, async () => ({ status: 200, headers: {}, body: undefined }));
      expect(answer).toEqual({ status: 200, headers: {}, body: undefined, replayed: false });
    });

    it('is of one organization and one route', async () => {
      const calls = new IdempotentCalls(world.database, clock, 'a secret');
      const call = aCall();
      const perform = async () => ({ status: 201, headers: {}, body: { id: newId() } });
      const answers = [
        await calls.run(call, perform),
        await calls.run({ ...call, organizationId: anOrganization().id }, perform),
        await calls.run({ ...call, route: 'POST /v1/others' }, perform),
      ];
      expect(answers.map(({ replayed }) => replayed)).toEqual([false, false, false]);
    });

    it('forgets after a day what is kept a day, never what is kept for ever', async () => {
      const calls = new IdempotentCalls(world.database, clock, 'a secret');
      const perform = async () => ({ status: 201, headers: {}, body: null });
      const [day, ever] = [aCall({ keep: 'day' }), aCall()];
      await calls.run(day, perform);
      await calls.run(ever, perform);
      clock.offset = DAY + MINUTE;
      expect((await calls.run(day, perform)).replayed).toBe(false);
      clock.offset = 4_000 * DAY;
      expect((await calls.run(ever, perform)).replayed).toBe(true);
    });
  });
});
