import { newId } from '@customer-platform/database';
import { expectProblem, expectStatus, type Caller } from '@customer-platform/testing';
import { aTrack, startCore, type TestCore } from '../core.fixture.js';
import { eventIdOf } from '../vocabulary/events/event-id.js';
import { DeadLetterReplayer } from './dead-letter.replayer.js';

const REPLAY = '/v1/core/dead-letters/replay';

/** Core without its workers: letters stay queued until a test runs them. */
let core: TestCore;
beforeAll(async () => {
  core = await startCore({ PROCESS_ROLE: 'api' });
}, 60_000);
afterAll(() => core.close());

interface Kept {
  readonly state?: string;
  readonly code?: string;
  readonly stage?: string;
  readonly externalId?: string;
  /** Minutes ago. */
  readonly failed?: number;
}

/** Letters as the worker keeps them, of events that can be stored now. */
async function keep(organizationId: string, letters: readonly Kept[]): Promise<void> {
  const rows = letters.map(
    ({ state = 'pending', code = 'internal_error', stage = 'store', externalId = 'ana', failed = 1 }) => {
      const key = newId();
      const payload = JSON.stringify(aTrack({ external_id: externalId, idempotency_key: key }));
      const eventId = eventIdOf(organizationId, key);
      return { event_id: eventId, state, code, stage, external_id: externalId, failed, payload };
    },
  );
  await core.database.query(
    `INSERT INTO dead_letters (organization_id, id, event_id, type, stage, code, detail, attempts, payload, external_id, state,
                               closed_reason, fingerprint, received_at, first_failed_at, last_failed_at)
     SELECT $1, gen_random_uuid(), event_id, 'track', stage, code, 'It failed.', 3, convert_to(payload, 'UTF8'), external_id,
            state, CASE WHEN state = 'closed' THEN code END, gen_random_uuid(), now(), now(),
            now() - failed * interval '1 minute'
       FROM jsonb_to_recordset($2::jsonb) AS letter (event_id uuid, state text, code text, stage text, external_id text,
                                                     failed int, payload text)`,
    [organizationId, JSON.stringify(rows)],
  );
}

const states = async (organizationId: string): Promise<Record<string, number>> => {
  const rows = await core.database.query<{ state: string; count: number }>(
    'SELECT state, count(*)::int AS count FROM dead_letters WHERE organization_id = $1 GROUP BY state',
    [organizationId],
  );
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
};

const replay = async (caller: Caller, filter: Record<string, unknown>): Promise<unknown> => {
  const answer = await caller.post(REPLAY, { filter });
  expectStatus(answer, 202);
  return answer.body;
};

const runAll = (): Promise<boolean> => core.app.app.get(DeadLetterReplayer, { strict: false }).runAll();

describe('POST /v1/core/dead-letters/replay', () => {
  it('runs all pending letters again that the filter matches, and leaves the others alone', async () => {
    const { id, caller } = core.anOrganization();
    await keep(id, [
      {},
      { stage: 'profile' },
      { code: 'other' },
      { externalId: 'ben' },
      { state: 'closed' },
      { state: 'replayed' },
      { state: 'replaying' },
    ]);
    expect(await replay(caller, { code: 'internal_error', 'external_id[in]': 'ana,cleo' })).toEqual({
      matched: 2,
      truncated: false,
    });
    expect(await states(id)).toEqual({ closed: 1, pending: 2, replayed: 1, replaying: 3 });
    await runAll();
    expect(await states(id)).toEqual({ closed: 1, pending: 2, replayed: 4 });
    const events = await caller.get<{ data: object[] }>('/v1/core/events');
    expect(events.body.data).toHaveLength(3);
    expect(await replay(caller, { code: 'internal_error', external_id: 'ana' })).toEqual({
      matched: 0,
      truncated: false,
    });
    expect(await replay(caller, { state: 'closed' })).toEqual({ matched: 0, truncated: false });
  });

  it('has one effect, however often and by however many it is called at once', async () => {
    const { id, caller } = core.anOrganization();
    await keep(
      id,
      Array.from({ length: 40 }, () => ({})),
    );
    const answers = await Promise.all(
      [1, 2, 3, 4].map(() => caller.post<{ matched: number }>(REPLAY, { filter: { stage: 'store' } })),
    );
    for (const answer of answers) expectStatus(answer, 202);
    expect(answers.reduce((sum, { body }) => sum + body.matched, 0)).toBe(40);
    await runAll();
    expect(await states(id)).toEqual({ replayed: 40 });
    const events = await caller.get<{ data: object[] }>('/v1/core/events?limit=100');
    expect(events.body.data).toHaveLength(40);
  });

  it('answers a retry with the same key as it answered the call', async () => {
    const { id, caller } = core.anOrganization();
    await keep(id, [{}]);
    const call = () => caller.post(REPLAY, { filter: { stage: 'store' } }, { 'idempotency-key': 'replay-1' });
    expect((await call()).body).toEqual({ matched: 1, truncated: false });
    expect((await call()).body).toEqual({ matched: 1, truncated: false });
    const entries = await core.database.query<{ action: string }>(
      `SELECT action FROM audit_entries WHERE organization_id = $1 AND resource_type = 'dead_letters'`,
      [id],
    );
    expect(entries).toEqual([{ action: 'core.jobs.replay' }]);
  });

  it('takes the oldest 10,000 at once and says that there are more', async () => {
    const { id, caller } = core.anOrganization();
    // All that the planner knows of is from when there was one.
    await core.database.query('ALTER TABLE dead_letters SET (autovacuum_enabled = false)');
    await keep(core.anOrganization().id, [{}]);
    await core.database.query('ANALYZE dead_letters');
    await keep(
      id,
      Array.from({ length: 10_003 }, (_, at) => ({ failed: at < 3 ? 1 : 2 })),
    );
    expect(await replay(caller, { stage: 'store' })).toEqual({ matched: 10_000, truncated: true });
    const left = await core.database.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM dead_letters
        WHERE organization_id = $1 AND state = 'pending' AND last_failed_at > now() - interval '2 minutes'`,
      [id],
    );
    expect(left).toEqual([{ count: 3 }]);
    expect(await replay(caller, { stage: 'store' })).toEqual({ matched: 3, truncated: false });
    await core.database.query('DELETE FROM dead_letters WHERE organization_id = $1', [id]);
  });

  it('holds up nobody else: organizations take turns', async () => {
    const [many, one] = [core.anOrganization(), core.anOrganization()];
    await keep(
      many.id,
      Array.from({ length: 30 }, () => ({ failed: 9 })),
    );
    await keep(one.id, [{}]);
    await replay(many.caller, { stage: 'store' });
    await replay(one.caller, { stage: 'store' });
    await runAll();
    const [before] = await core.database.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM dead_letters
        WHERE organization_id = $1 AND updated_at < (SELECT updated_at FROM dead_letters WHERE organization_id = $2)`,
      [many.id, one.id],
    );
    expect(before?.count).toBeLessThanOrEqual(1);
    expect(await states(many.id)).toEqual({ replayed: 30 });
  });

  it('touches none of another organization, and none without the permission', async () => {
    const [here, there] = [core.anOrganization(), core.anOrganization()];
    await keep(here.id, [{}]);
    expect(await replay(there.caller, { stage: 'store' })).toEqual({ matched: 0, truncated: false });
    const reader = core.app.as(here.id, ['core.jobs.read']);
    expectProblem(await reader.post(REPLAY, { filter: { stage: 'store' } }), 403, 'permission_denied');
    expect(await states(here.id)).toEqual({ pending: 1 });
    const may = core.app.as(here.id, ['core.jobs.replay']);
    expect(await replay(may, { stage: 'store' })).toEqual({ matched: 1, truncated: false });
  });

  it.each<[unknown, string, string]>([
    [{}, 'validation_failed', '/filter'],
    [{ filter: {} }, 'validation_failed', '/filter'],
    [{ filter: 'stage' }, 'validation_failed', '/filter'],
    [{ filter: ['stage'] }, 'validation_failed', '/filter'],
    [{ filter: { colour: 'red' } }, 'unknown_parameter', '/filter/colour'],
    [{ filter: { 'a/b~c': 'red' } }, 'unknown_parameter', '/filter/a~1b~0c'],
    [{ filter: { limit: '1' } }, 'unknown_parameter', '/filter/limit'],
    [{ filter: { toString: 'x' } }, 'unknown_parameter', '/filter/toString'],
    [{ filter: { stage: 'store', state: ['pending'] } }, 'invalid_filter', '/filter/state'],
    [{ filter: { stage: 'nowhere' } }, 'invalid_filter', '/filter/stage'],
    [{ filter: { 'code[like]': 'x' } }, 'invalid_filter', '/filter/code[like]'],
    [{ filter: { event_id: 'x' } }, 'invalid_filter', '/filter/event_id'],
    [
      { filter: { 'code[in]': Array.from({ length: 101 }, () => 'x').join(',') } },
      'invalid_filter',
      '/filter/code[in]',
    ],
  ])('400 for %j', async (body, code, pointer) => {
    const { caller } = core.anOrganization();
    const problem = expectProblem(await caller.post(REPLAY, body), 400, code);
    expect(problem.errors).toMatchObject([{ pointer }]);
  });
});
