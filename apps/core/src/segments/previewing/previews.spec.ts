import { newId } from '@customer-platform/database';
import { expectProblem, expectStatus, type Answer, type Caller } from '@customer-platform/testing';
import { Client } from 'pg';
import { SEGMENTS, SegmentWorld } from '../segment.fixture.js';
import { MOST_EXACT } from './candidates.js';
import type { RulePreviewDto } from './preview.dto.js';

const PREVIEW = `${SEGMENTS}/preview`;

let world: SegmentWorld;
beforeAll(async () => {
  world = await SegmentWorld.start();
}, 60_000);
afterAll(() => world.close());

const plan = (value: unknown) => ({ attribute: 'attributes.plan', op: 'eq', value });

async function preview(caller: Caller, rule: object): Promise<RulePreviewDto> {
  const answer = await caller.post<RulePreviewDto>(PREVIEW, { rule });
  expectStatus(answer, 200);
  return answer.body;
}

describe('POST /v1/core/segments/preview', () => {
  it('counts the active contacts that a rule holds of, and shows some', async () => {
    const { id, caller } = world.anOrganization();
    const at = world.now(-1_000);
    await world.store(id, [
      { externalId: 'ana', at, traits: { plan: 'pro' } },
      { externalId: 'ben', at, traits: { plan: 'free' } },
      { externalId: 'ana', at, event: 'paid', properties: { amount: { value: 5 }, 'a.b': 'x' } },
      { externalId: 'cleo', at, event: 'paid', properties: { amount: { value: 7 } } },
    ]);
    const counted = async (rule: object): Promise<unknown[]> => {
      const { count, exact, sample } = await preview(caller, rule);
      return [count, exact, sample.map((one) => one.external_id).sort()];
    };
    expect(await counted(plan('pro'))).toEqual([1, true, ['ana']]);
    expect(await counted({ not: plan('pro') })).toEqual([2, true, ['ben', 'cleo']]);
    expect(await counted({ event: 'paid' })).toEqual([2, true, ['ana', 'cleo']]);
    const where = (property: string, op: string, value: unknown) => ({
      event: 'paid',
      where: [{ property, op, value }],
    });
    expect(await counted(where('amount.value', 'gt', 5))).toEqual([1, true, ['cleo']]);
    expect(await counted(where('a.b', 'eq', 'x'))).toEqual([1, true, ['ana']]);
    expect(await counted({ event: 'paid', count: { op: 'eq', value: 0 } })).toEqual([1, true, ['ben']]);
    expect(await counted({ event: 'nothing like it' })).toEqual([0, true, []]);
    const [segments] = await world.core.database.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM segments WHERE organization_id = $1',
      [id],
    );
    expect(segments?.count).toBe(0);
  });

  it('counts only by what the caller may read, and shows no contact to who may not read any', async () => {
    const { id } = world.anOrganization();
    const at = world.now(-1_000);
    await world.store(id, [
      { externalId: 'ana', at, traits: { plan: 'pro' } },
      { externalId: 'ana', at, event: 'paid' },
    ]);
    const consent = { consent: { purpose: 'marketing', channel: 'email' }, status: 'granted' };
    const leaves = [
      ['core.contacts.read', plan('pro')],
      ['core.consents.read', consent],
      ['core.events.read', { event: 'paid' }],
    ] as const;
    const permissions = leaves.map(([permission]) => permission);
    for (const [missing, leaf] of leaves) {
      const others = permissions.filter((permission) => permission !== missing);
      const unable = world.core.app.as(id, ['core.segments.read', ...others]);
      const answer = await unable.post(PREVIEW, { rule: { any: [{ not: { all: [leaf] } }] } });
      expect(expectProblem(answer, 403, 'permission_denied')).toMatchObject({ permission: missing });
      const able = world.core.app.as(id, ['core.segments.read', missing]);
      expectStatus(await able.post(PREVIEW, { rule: leaf }), 200);
    }
    const blind = world.core.app.as(id, ['core.segments.read']);
    expectProblem(await blind.post(PREVIEW, { rule: plan('pro') }), 403, 'permission_denied');
    expectProblem(await blind.post(PREVIEW, { rule: { all: [] } }), 400, 'invalid_segment_rule');
    const ofEvents = world.core.app.as(id, ['core.segments.read', 'core.events.read']);
    expect(await preview(ofEvents, { event: 'paid' })).toEqual({ count: 1, exact: true, sample: [] });
    const other = world.core.app.as(id, permissions);
    expectProblem(await other.post(PREVIEW, { rule: plan('pro') }), 403, 'permission_denied');
  });

  it('counts none of another organization', async () => {
    const [here, there] = [world.anOrganization(), world.anOrganization()];
    await world.store(here.id, [{ externalId: 'ana', at: world.now(-1_000), traits: { plan: 'pro' } }]);
    expect(await preview(there.caller, plan('pro'))).toEqual({ count: 0, exact: true, sample: [] });
    expect(await preview(there.caller, { not: plan('pro') })).toMatchObject({ count: 0 });
  });

  it.each<[string, unknown, string]>([
    ['no rule', {}, 'validation_failed'],
    ['no object', { rule: 'all' }, 'validation_failed'],
    ['a name too', { rule: plan(1), name: 'Pro' }, 'validation_failed'],
    ['another op', { rule: { ...plan(1), op: 'like' } }, 'invalid_segment_rule'],
    ['51 leaves', { rule: { any: Array.from({ length: 51 }, plan) } }, 'invalid_segment_rule'],
    [
      'nine levels',
      { rule: Array.from({ length: 8 }).reduce((not: object) => ({ not }), plan(1)) },
      'invalid_segment_rule',
    ],
    ['too long a text', { rule: plan('x'.repeat(1_001)) }, 'invalid_segment_rule'],
  ])('400 for %s', async (_, body, code) => {
    const { caller } = world.anOrganization();
    expectProblem(await caller.post(PREVIEW, body), 400, code);
  });

  it('answers the largest rules of events with the largest histories', async () => {
    const { id, caller } = world.anOrganization();
    const at = world.now(-1_000);
    const given = Array.from({ length: 1_200 }, () => ({
      externalId: 'ana',
      at,
      event: 'paid',
      properties: { text: 'ab'.repeat(500) },
    }));
    await world.store(id, given);
    const where = Array.from({ length: 5 }, (_, n) => ({
      property: 'text',
      op: 'contains',
      value: `ba${n}`,
    }));
    const leaf = (n: number) => ({
      event: 'paid',
      where: [...where, { property: 'text', op: 'prefix', value: `${n}` }],
    });
    const { count, exact } = await preview(caller, { any: Array.from({ length: 40 }, (_, n) => leaf(n)) });
    // More events than are looked through.
    expect([count, exact]).toEqual([0, false]);
  });

  describe('of more contacts than are all looked at', () => {
    const CONTACTS = 12_000;
    let id: string;
    let caller: Caller;
    beforeAll(async () => {
      ({ id, caller } = world.anOrganization());
      await world.core.database.query(
        `INSERT INTO contacts (organization_id, id, external_id, source, attributes)
         SELECT $1, gen_random_uuid(), 'person-' || n, 'api',
                jsonb_build_object('plan', CASE WHEN n % 4 = 0 THEN 'pro' ELSE 'free' END)
           FROM generate_series(1, $2::int) AS n`,
        [id, CONTACTS],
      );
      await world.store(
        id,
        [1, 2, 3].map((n) => ({ externalId: `rare-${n}`, at: world.now(-1_000), event: 'rare' })),
      );
      expect(CONTACTS).toBeGreaterThan(MOST_EXACT);
    });

    it('estimates, and says so', async () => {
      const { count, exact, sample } = await preview(caller, plan('pro'));
      expect(exact).toBe(false);
      // A quarter of them: six standard deviations of the smallest sample that is looked at to either side.
      expect(count).toBeGreaterThan(0);
      expect(count).toBeLessThan(CONTACTS);
      for (const { external_id: externalId } of sample) expect(Number(externalId?.split('-')[1]) % 4).toBe(0);
    });

    it('is exact where few can match', async () => {
      const rare = { all: [{ event: 'rare' }, { not: plan('pro') }] };
      expect(await preview(caller, rare)).toMatchObject({ count: 3, exact: true });
    });
  });
});

describe('previews and explanations at once', () => {
  /** While nobody can read contacts. */
  async function withoutContacts(work: () => Promise<void>): Promise<void> {
    const client = new Client({ connectionString: world.core.database.adminUrl });
    await client.connect();
    try {
      await client.query('BEGIN');
      await client.query('LOCK TABLE contacts IN ACCESS EXCLUSIVE MODE');
      await work();
    } finally {
      await client.query('ROLLBACK');
      await client.end();
    }
  }

  function expectRefused(answers: readonly Answer<unknown>[], statuses: readonly number[]): void {
    expect(answers.map(({ status }) => status).sort()).toEqual(statuses);
    for (const answer of answers) {
      const code = answer.status === 429 ? 'rate_limited' : 'dependency_unavailable';
      expectProblem(answer, answer.status, code);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
  }

  it('429 for a third, and 503 where nobody could be looked at in time', async () => {
    const { id, caller } = world.anOrganization();
    await world.store(id, [{ externalId: 'ana', at: world.now(-1_000), traits: { plan: 'pro' } }]);
    const segment = await world.segment(caller, plan('pro'));
    const explanation = `${SEGMENTS}/${segment.id}/explain?contact_id=${newId()}`;
    await withoutContacts(async () => {
      const previews = () => caller.post(PREVIEW, { rule: plan('pro') });
      const explanations = () => caller.get(explanation);
      expectRefused(await Promise.all([previews(), previews(), previews()]), [429, 503, 503]);
      expectRefused(await Promise.all([explanations(), explanations(), explanations()]), [429, 503, 503]);
      expectRefused(await Promise.all([previews(), explanations(), explanations()]), [429, 503, 503]);
    });
    expect(await preview(caller, plan('pro'))).toMatchObject({ count: 1, exact: true });
    expectProblem(await caller.get(explanation), 404, 'not_found');
  });

  it('429 for a fourth of a tree, whichever of its organizations asks; the others have theirs', async () => {
    const asks = (tenant: string) => {
      const organizationId = newId();
      const permissions = ['core.segments.read', 'core.contacts.read'] as const;
      const key = world.core.app.registry.key({ organizationId, permissions, tenant });
      return world.core.app.with(key).post(PREVIEW, { rule: plan('pro') });
    };
    const [one, other] = [newId(), newId()];
    await withoutContacts(async () => {
      const [ofOne, ofOther] = await Promise.all([
        Promise.all([asks(one), asks(one), asks(one), asks(one)]),
        Promise.all([asks(other), asks(other)]),
      ]);
      expectRefused(ofOne, [429, 503, 503, 503]);
      expectRefused(ofOther, [503, 503]);
    });
  });
});

describe('GET /v1/core/segments/{id}/explain', () => {
  const explain = (caller: Caller, segmentId: string, contactId: string) =>
    caller.get<{ member: boolean; rule: Record<string, unknown> }>(
      `${SEGMENTS}/${segmentId}/explain?contact_id=${contactId}`,
    );
  const rule = { all: [plan('pro'), { event: 'paid', count: { op: 'gte', value: 2 }, within: 'P1D' }] };

  async function ana() {
    const { id, caller } = world.anOrganization();
    const at = world.now(-1_000);
    await world.store(id, [
      { externalId: 'ana', at, traits: { plan: 'pro' } },
      { externalId: 'ana', at, event: 'paid' },
    ]);
    const [contact] = await world.core.database.query<{ id: string }>(
      'SELECT id FROM contacts WHERE organization_id = $1',
      [id],
    );
    return { id, caller, contactId: contact?.id ?? '' };
  }

  it('says which part decides, alike while the segment is built and afterwards', async () => {
    const { id, caller, contactId } = await ana();
    const created = await caller.post<{ id: string }>(SEGMENTS, { name: 'Payers', rule });
    const expected = {
      member: false,
      rule: {
        result: false,
        all: [
          { ...plan('pro'), result: true, actual: { value: 'pro' } },
          { event: 'paid', result: false, actual: { count: 1, exact: true } },
        ],
      },
    };
    expect((await explain(caller, created.body.id, contactId)).body).toMatchObject(expected);
    await world.evaluate();
    expect((await explain(caller, created.body.id, contactId)).body).toMatchObject(expected);
    await world.happen(id, { externalId: 'ana', at: world.now(-1_000), event: 'paid' });
    expect((await explain(caller, created.body.id, contactId)).body).toMatchObject({
      member: true,
      rule: { result: true, all: [{}, { result: true, actual: { count: 2 } }] },
    });
  });

  it('counts the newest 1,000 events, and says where there may be more in the window', async () => {
    const { id, caller } = world.anOrganization();
    const paid = (at: string, plan: string) => ({
      externalId: 'ana',
      at,
      event: 'paid',
      properties: { plan },
    });
    const [old, recent] = [world.now(-3 * 86_400_000), world.now(-60_000)];
    await world.store(id, [
      ...Array.from({ length: 1_100 }, () => paid(old, 'pro')),
      ...Array.from({ length: 3 }, () => paid(recent, 'pro')),
    ]);
    const [contact] = await world.core.database.query<{ id: string }>(
      'SELECT id FROM contacts WHERE organization_id = $1',
      [id],
    );
    const where = [{ property: 'plan', op: 'eq', value: 'pro' }];
    const leaves = {
      all: [
        { event: 'paid', where },
        { event: 'paid', where, within: 'P1D' },
      ],
    };
    const created = await caller.post<{ id: string }>(SEGMENTS, { name: 'Payers', rule: leaves });
    const expected = {
      all: [{ actual: { count: 1_000, exact: false } }, { actual: { count: 3, exact: true } }],
    };
    const read = async () => (await explain(caller, created.body.id, contact?.id ?? '')).body.rule;
    expect(await read()).toMatchObject(expected);
    await world.evaluate();
    expect(await read()).toMatchObject(expected);
  });

  it('follows a merge, and says of a soft-deleted contact that it is in none', async () => {
    const { id, caller, contactId } = await ana();
    const segment = await world.segment(caller, plan('pro'));
    const other = await caller.post<{ id: string }>('/v1/core/contacts', { external_id: 'other' });
    const merge = { survivor_id: contactId, merged_id: other.body.id };
    expectStatus(await caller.post('/v1/core/contacts/merge', merge), 200);
    expect((await explain(caller, segment.id, other.body.id)).body).toMatchObject({ member: true });
    expectStatus(await caller.delete(`/v1/core/contacts/${contactId}`), 204);
    await world.evaluate();
    expect((await explain(caller, segment.id, contactId)).body).toMatchObject({
      member: false,
      rule: { result: true },
    });
    expect(id).toBeTruthy();
  });

  it('keeps values from who may not read them', async () => {
    const { id, caller, contactId } = await ana();
    const segment = await world.segment(caller, rule);
    const blind = world.core.app.as(id, ['core.segments.read']);
    const { body } = await explain(blind, segment.id, contactId);
    expect(body.rule).toMatchObject({
      all: [
        { result: true, actual: null },
        { result: false, actual: null },
      ],
    });
    const sees = world.core.app.as(id, ['core.segments.read', 'core.events.read']);
    expect((await explain(sees, segment.id, contactId)).body.rule).toMatchObject({
      all: [{ actual: null }, { actual: { count: 1 } }],
    });
    const other = world.core.app.as(id, ['core.contacts.read', 'core.events.read']);
    expectProblem(await explain(other, segment.id, contactId), 403, 'permission_denied');
  });

  it('404 for what is not the organization’s, or not there; 400 for no id', async () => {
    const { caller, contactId } = await ana();
    const segment = await world.segment(caller, plan('pro'));
    const stranger = world.anOrganization();
    const theirs = await world.segment(stranger.caller, plan('pro'));
    expectProblem(await explain(stranger.caller, segment.id, contactId), 404, 'not_found');
    expectProblem(await explain(stranger.caller, theirs.id, contactId), 404, 'not_found');
    expectProblem(await explain(caller, segment.id, newId()), 404, 'not_found');
    expectProblem(await explain(caller, segment.id, 'ana'), 400, 'validation_failed');
    expectProblem(await caller.get(`${SEGMENTS}/${segment.id}/explain`), 400, 'validation_failed');
    expectStatus(await caller.delete(`${SEGMENTS}/${segment.id}`), 204);
    expectProblem(await explain(caller, segment.id, contactId), 404, 'not_found');
  });
});
