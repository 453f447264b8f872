import fc from 'fast-check';
import { Database, Installation, newId } from '@customer-platform/database';
import { eventually, startRedis, type RedisServer } from '@customer-platform/testing';
import { startCore, type TestCore } from '../../core.fixture.js';
import { ModelStore } from './fleet.fixture.js';
import { mostDebtOf, type LimitRequest, type LimitStore } from './limit-store.js';
import { PostgresLimitStore } from './postgres-limit-store.js';
import { RedisLimitStore } from './redis-limit-store.js';

/** So slow that nothing fills while a test runs. */
const STILL = 1e-9;
const DEBT = mostDebtOf(12);

/** A bucket as one test after the other may use it. */
function aRequest(wishes: Partial<LimitRequest> = {}): LimitRequest {
  return {
    organizationId: newId(),
    id: newId(),
    perSecond: STILL,
    capacity: 100,
    owed: 0,
    wanted: 0,
    ...wishes,
  };
}

describe('what the instances share their limits in', () => {
  let core: TestCore;
  let redis: RedisServer;
  const stores = new Map<string, LimitStore>();
  beforeAll(async () => {
    [core, redis] = await Promise.all([startCore(), startRedis()]);
    const inRedis = new RedisLimitStore(redis.url, core.app.app.get(Installation));
    stores.set('PostgreSQL', new PostgresLimitStore(core.app.app.get(Database)));
    stores.set('Redis', inRedis);
    const first = newId();
    await eventually(() => inRedis.beat(first));
    await inRedis.leave(first);
  }, 120_000);
  afterAll(async () => {
    await stores.get('Redis')?.close();
    await redis.stop();
    await core.close();
  });

  const storeOf = (name: string): LimitStore => {
    const store = stores.get(name);
    if (!store) throw new Error(`${name} has not been started`);
    return store;
  };

  describe.each(['PostgreSQL', 'Redis'])('%s', (name) => {
    const exchange = async (request: LimitRequest, mostDebt = DEBT) => {
      const [answer] = await storeOf(name).exchange([request], mostDebt);
      return answer;
    };

    it('answers as the model does, whatever is asked', async () => {
      // In sixteenths: closer below a whole token, the little that flows in meanwhile may complete it in one of the two.
      const amount = fc.integer({ min: -800, max: 2_400 }).map((sixteenths) => sixteenths / 16);
      const asked = fc.record({
        bucket: fc.integer({ min: 0, max: 2 }),
        owed: amount,
        wanted: fc.integer({ min: 0, max: 120 }),
        capacity: fc.constantFrom(2, 100, 250),
        mostDebt: fc.constantFrom(DEBT, mostDebtOf(50)),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(asked, { minLength: 1, maxLength: 12 }), async (all) => {
          const model = new ModelStore();
          const buckets = [aRequest(), aRequest(), aRequest()];
          for (const { bucket, mostDebt, ...wishes } of all) {
            const request = { ...aRequest(), ...buckets[bucket], ...wishes };
            const [expected] = model.exchange([request], mostDebt);
            const answer = await exchange(request, mostDebt);
            expect(answer?.granted).toBe(expected?.granted);
            expect(answer?.balance).toBeCloseTo(expected?.balance ?? NaN, 4);
          }
        }),
        { numRuns: 30 },
      );
    });

    it('fills buckets at their rates by its own clock, and no further than they hold', async () => {
      const roomy = { capacity: 100_000 };
      const buckets = [aRequest({ ...roomy, perSecond: 20 }), aRequest({ ...roomy, perSecond: 40 })];
      const balances = async (owed: number): Promise<number[]> => {
        const asked = buckets.map((bucket) => ({ ...bucket, owed }));
        return (await storeOf(name).exchange(asked, DEBT)).map(({ balance }) => balance);
      };
      const emptied = await balances(150);
      // Both are told at nearly one time: in a while the second gains twice of what the first does.
      const gained = await eventually(async () => {
        const [slow = 0, fast = 0] = (await balances(0)).map((balance, at) => balance - (emptied[at] ?? 0));
        if (slow < 20) throw new Error('next to nothing yet');
        return [slow, fast];
      });
      const proportion = (gained[1] ?? 0) / (gained[0] ?? 1);
      expect([proportion > 1.5, proportion < 2.5]).toEqual([true, true]);
      const small = aRequest({ perSecond: 50 });
      expect((await exchange({ ...small, owed: 150 }))?.balance).toBeLessThan(0);
      await eventually(async () => expect((await exchange(small))?.balance).toBe(100));
    });

    it('gives whole tokens to those who ask at the same time, and none twice', async () => {
      const bucket = aRequest({ wanted: 7 });
      const answers = await Promise.all(Array.from({ length: 20 }, () => exchange(bucket)));
      const granted = answers.reduce((sum, answer) => sum + (answer?.granted ?? 0), 0);
      expect(granted).toBe(100);
      expect(answers.every((answer) => Number.isInteger(answer?.granted))).toBe(true);
    });

    it('answers for thousands of organizations at once, while others ask for them in another order', async () => {
      const requests = Array.from({ length: 1_000 }, () => aRequest({ owed: 1, wanted: 1 }));
      const [one, other] = await Promise.all([
        storeOf(name).exchange(requests, DEBT),
        storeOf(name).exchange(requests.toReversed(), DEBT),
      ]);
      expect(new Set(one.map(({ granted }) => granted))).toEqual(new Set([1]));
      expect(new Set([...one, ...other].map(({ balance }) => Math.round(balance)))).toEqual(
        new Set([98, 96]),
      );
    });

    it('counts the instances that live', async () => {
      const [one, other] = [newId(), newId()];
      const alone = await storeOf(name).beat(one);
      expect(await storeOf(name).beat(other)).toBe(alone + 1);
      await storeOf(name).leave(other);
      expect(await storeOf(name).beat(one)).toBe(alone);
    });
  });

  it('PostgreSQL forgets buckets that are full again, and instances that are gone', async () => {
    const [full, indebted] = [aRequest({ owed: 10, perSecond: 10 }), aRequest({ owed: 2_000, perSecond: 1 })];
    const store = storeOf('PostgreSQL');
    await store.exchange([full, indebted], DEBT);
    const instance = newId();
    await store.beat(instance);
    const aged = `filled_at = filled_at - interval '61 seconds' WHERE id = ANY ($1)`;
    await core.database.query(`UPDATE rate_limit_buckets SET ${aged}`, [[full.id, indebted.id]]);
    await core.database.query(
      `UPDATE instances SET seen_at = seen_at - interval '61 seconds' WHERE id = $1`,
      [instance],
    );
    await store.sweep();
    await store.beat(newId());
    const left = await core.database.query<{ id: string }>(
      'SELECT id FROM rate_limit_buckets WHERE id = ANY ($1)',
      [[full.id, indebted.id]],
    );
    expect(left).toEqual([{ id: indebted.id }]);
    const known = 'SELECT 1 FROM instances WHERE id = $1';
    expect(await core.database.query(known, [instance])).toEqual([]);
  });

  it('PostgreSQL fills buckets on where its clock was set back', async () => {
    const bucket = aRequest({ perSecond: 50 });
    const balance = async (owed = 0): Promise<number> =>
      (await storeOf('PostgreSQL').exchange([{ ...bucket, owed }], DEBT))[0]?.balance ?? NaN;
    await balance(150);
    const ahead = `UPDATE rate_limit_buckets SET filled_at = filled_at + interval '1 hour' WHERE id = $1`;
    await core.database.query(ahead, [bucket.id]);
    const before = await balance();
    await eventually(async () => expect(await balance()).toBeGreaterThan(before));
  });

  it('Redis that hangs or is gone makes an exchange fail, and one that is back takes it', async () => {
    const store = storeOf('Redis');
    await redis.crash();
    await expect(store.exchange([aRequest()], DEBT)).rejects.toThrow();
    await redis.restart();
    const [answer] = await eventually(() => store.exchange([aRequest({ wanted: 5 })], DEBT), {
      within: 20_000,
    });
    expect(answer).toEqual({ granted: 5, balance: 95 });
    redis.freeze();
    try {
      await expect(store.exchange([aRequest()], DEBT)).rejects.toThrow();
    } finally {
      redis.thaw();
    }
    await eventually(() => store.exchange([aRequest()], DEBT), { within: 20_000 });
  }, 60_000);
});
