import { anOrganization } from '@customer-platform/testing';
import { Problem } from '@customer-platform/problem-json';
import type { StoredAnswer } from '@customer-platform/http';
import { Clock, IdempotentCalls, newId, type IdempotentCall, type Transaction } from '../src/index.js';
import { aWidgetWorld, type WidgetWorld } from './widgets.fixture.js';

const INSERT = 'INSERT INTO jobs (organization_id, id) SELECT $1, unnest($2::uuid[])';

interface Job {
  readonly id: string;
  readonly refused?: boolean;
  /** Runs into the time limit of a statement; alone once this has come. */
  readonly slowAfter?: Promise<unknown>;
}

describe('calls performed in groups', () => {
  let world: WidgetWorld;
  let groups: (readonly Job[])[];
  beforeAll(async () => {
    world = await aWidgetWorld(6);
  });
  afterAll(() => world.close());
  beforeEach(() => {
    groups = [];
  });

  const perform = async (tx: Transaction, jobs: readonly Job[]): Promise<(StoredAnswer | Error)[]> => {
    groups.push(jobs);
    const slow = jobs.find(({ slowAfter }) => slowAfter !== undefined);
    if (slow) await runOut(tx, jobs.length === 1 ? slow.slowAfter : undefined);
    const accepted = jobs.filter(({ refused }) => refused !== true).map(({ id }) => id);
    await tx.query(INSERT, [tx.organizationId, accepted]);
    return jobs.map(({ id, refused }) =>
      refused === true ? new Problem('reference_not_found') : { status: 201, headers: {}, body: { id } },
    );
  };
  const runOut = async (tx: Transaction, after?: Promise<unknown>): Promise<void> => {
    await after;
    await tx.query('SET LOCAL statement_timeout = 1');
    await tx.query('SELECT pg_sleep(5)');
  };
  const batched = () => new IdempotentCalls(world.database, new Clock(), 'a secret').batched<Job>(perform);
  const aCall = (organizationId: string, body: unknown = {}): IdempotentCall => ({
    organizationId,
    route: 'POST /v1/jobs',
    key: newId(),
    body,
    keep: 'forever',
  });
  const stored = async (organizationId: string): Promise<string[]> => {
    const rows = await world.database.inOrganization({ organizationId }, (tx) =>
      tx.query<{ id: string }>('SELECT id FROM jobs'),
    );
    return rows.map(({ id }) => id).sort();
  };

  it('performs each of a hundred at once, every one once, in few transactions', async () => {
    const calls = batched();
    const [one, other] = [anOrganization().id, anOrganization().id];
    const jobs = Array.from({ length: 100 }, (_, at) => ({ id: newId(), owner: at % 2 === 0 ? one : other }));
    const answers = await Promise.all(jobs.map(({ id, owner }) => calls.run(aCall(owner), { id })));
    expect(answers.map(({ body }) => body)).toEqual(jobs.map(({ id }) => ({ id })));
    for (const owner of [one, other]) {
      const own = jobs.filter((job) => job.owner === owner).map(({ id }) => id);
      expect(await stored(owner)).toEqual(own.sort());
    }
    expect(groups.length).toBeLessThan(20);
    expect(groups.flat()).toHaveLength(100);
  });

  it('performs a key once of 30 at once, and refuses it with another body', async () => {
    const calls = batched();
    const call = aCall(anOrganization().id, { a: 1, b: 2 });
    const ids = Array.from({ length: 30 }, () => newId());
    const answers = await Promise.all(ids.map((id) => calls.run({ ...call, body: { b: 2, a: 1 } }, { id })));
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await stored(call.organizationId)).toHaveLength(1);
    const reused = calls.run({ ...call, body: { a: 2 } }, { id: newId() });
    await expect(reused).rejects.toMatchObject({ code: 'idempotency_key_reused' });
  });

  it('counts calls of another process, and of another route apart', async () => {
    const [here, there] = [batched(), batched()];
    const call = aCall(anOrganization().id);
    const answers = await Promise.all(
      [here, there, here, there].map((calls) => calls.run(call, { id: newId() })),
    );
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
    const apart = await here.run({ ...call, route: 'POST /v1/other-jobs' }, { id: newId() });
    expect(apart.replayed).toBe(false);
    expect(await stored(call.organizationId)).toHaveLength(2);
  });

  it('keeps nothing of a refusal, and stores those beside it', async () => {
    const calls = batched();
    const organizationId = anOrganization().id;
    const [bad, badId] = [aCall(organizationId), newId()];
    const good = Array.from({ length: 10 }, () => newId());
    const outcomes = await Promise.allSettled([
      calls.run(bad, { id: badId, refused: true }),
      ...good.map((id) => calls.run(aCall(organizationId), { id })),
      calls.run(aCall(organizationId), { id: newId(), refused: true }),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual([
      'rejected',
      ...good.map(() => 'fulfilled'),
      'rejected',
    ]);
    expect(await stored(organizationId)).toEqual(good.sort());
    expect((await calls.run(bad, { id: badId })).replayed).toBe(false);
  });

  it('tries each alone when a statement of their group fails, so that only the one at fault does', async () => {
    const calls = batched();
    const organizationId = anOrganization().id;
    const taken = newId();
    await calls.run(aCall(organizationId), { id: taken });
    const good = Array.from({ length: 12 }, () => newId());
    const outcomes = await Promise.allSettled(
      [...good.slice(0, 6), taken, ...good.slice(6)].map((id) => calls.run(aCall(organizationId), { id })),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(
      [...good.slice(0, 6), taken, ...good.slice(6)].map((id) => (id === taken ? 'rejected' : 'fulfilled')),
    );
    expect(await stored(organizationId)).toEqual([taken, ...good].sort());
    expect(groups.some((group) => group.length > 1)).toBe(true);
  });

  it('answers the others while one takes its time and fails', async () => {
    const calls = batched();
    const organizationId = anOrganization().id;
    const good = Array.from({ length: 12 }, () => newId());
    const others = Promise.withResolvers<unknown>();
    const slow = calls.run(aCall(organizationId), { id: newId(), slowAfter: others.promise });
    const refused = expect(slow).rejects.toMatchObject({ code: 'dependency_unavailable' });
    const answers = good.map((id) => calls.run(aCall(organizationId), { id }));
    void Promise.allSettled(answers).then(others.resolve);
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(good.map(() => 201));
    await refused;
    expect(await stored(organizationId)).toEqual(good.sort());
    expect(groups[0]).toHaveLength(13);
  });
});
