import { PERMISSIONS } from '@customer-platform/permissions';
import { expectProblem, expectStatus, itBehavesLikeASoftDeletableResource } from '@customer-platform/testing';
import { SEGMENTS, SegmentWorld } from './segment.fixture.js';
import type { SegmentDto } from './segment.dto.js';

let world: SegmentWorld;
beforeAll(async () => {
  world = await SegmentWorld.start();
}, 60_000);
afterAll(() => world.close());

const rule = (value: unknown) => ({ attribute: 'attributes.plan', op: 'eq', value });

// Without workers a segment stays as it was created: what changes by itself is tested beside the evaluation.
describe('/v1/core/segments', () => {
  itBehavesLikeASoftDeletableResource({
    app: () => world.core.app,
    path: SEGMENTS,
    permissions: {
      read: 'core.segments.read',
      create: 'core.segments.create',
      update: 'core.segments.update',
      delete: 'core.segments.delete',
      purge: 'core.segments.purge',
    },
    needsBeside: ['core.contacts.read'],
    body: (number) => ({ name: `Segment ${number}`, rule: rule(number) }),
    patch: (number) => ({ description: `For ${number}`, rule: rule(`plan ${number}`) }),
    unique: 'name',
  });
});

describe('POST /v1/core/segments', () => {
  it('begins as building, at version 1, without members', async () => {
    const { caller } = world.anOrganization();
    const answer = await caller.post<SegmentDto>(SEGMENTS, { name: 'Pro', rule: rule('pro') });
    expectStatus(answer, 201);
    expect(answer.body).toMatchObject({
      description: null,
      rule: rule('pro'),
      rule_version: 1,
      state: 'building',
      member_count: 0,
      evaluated_at: null,
    });
  });

  it('400 invalid_segment_rule at the node that is wrong, on PATCH too', async () => {
    const { caller } = world.anOrganization();
    const wrong = { all: [rule('pro'), { not: { event: 'paid', within: 'P1M' } }] };
    const created = await caller.post(SEGMENTS, { name: 'Pro', rule: wrong });
    const pointer = '/rule/all/1/not/within';
    expect(expectProblem(created, 400, 'invalid_segment_rule').errors).toMatchObject([{ pointer }]);
    const { id } = (await caller.post<SegmentDto>(SEGMENTS, { name: 'Pro', rule: rule('pro') })).body;
    const patched = await caller.patch(`${SEGMENTS}/${id}`, { rule: wrong });
    expect(expectProblem(patched, 400, 'invalid_segment_rule').errors).toMatchObject([{ pointer }]);
  });

  it('403 for a rule that looks at what its writer cannot read, on PATCH too; what stands may be put back', async () => {
    const { id, caller } = world.anOrganization();
    const consent = { consent: { purpose: 'marketing', channel: 'email' }, status: 'granted' };
    const leaves = [
      ['core.contacts.read', rule('pro')],
      ['core.consents.read', consent],
      ['core.events.read', { event: 'paid' }],
    ] as const;
    const { body } = await caller.post<SegmentDto>(SEGMENTS, {
      name: 'All',
      rule: { any: [{ event: 'other' }] },
    });
    const path = `${SEGMENTS}/${body.id}`;
    for (const [permission, leaf] of leaves) {
      const others = PERMISSIONS.filter((each) => each !== permission);
      const unable = world.core.app.as(id, others);
      const asked = { rule: { any: [{ not: { all: [leaf] } }] } };
      for (const answer of [
        await unable.post(SEGMENTS, { name: permission, ...asked }),
        await unable.patch(path, asked),
      ])
        expect(expectProblem(answer, 403, 'permission_denied')).toMatchObject({ permission });
      const able = world.core.app.as(id, ['core.segments.create', permission]);
      expectStatus(await able.post(SEGMENTS, { name: permission, ...asked }), 201);
    }
    const blind = world.core.app.as(id, ['core.segments.update']);
    expectStatus(await blind.patch(path, { name: 'Others', rule: { any: [{ event: 'other' }] } }), 200);
  });

  it('takes a name of up to 120 characters, unique whatever its case', async () => {
    const { caller } = world.anOrganization();
    const create = (name: string) => caller.post(SEGMENTS, { name, rule: rule(1) });
    expectStatus(await create('P'.repeat(120)), 201);
    expectProblem(await create('P'.repeat(121)), 400, 'validation_failed');
    expectProblem(await create('p'.repeat(120)), 409, 'duplicate_value');
  });

  it('409 limit_reached for the 501st, however many come at once', async () => {
    const { id, caller } = world.anOrganization();
    await world.core.database.query(
      `INSERT INTO segments (organization_id, id, name, rule, rule_version, state, created_at, updated_at)
       SELECT $1, gen_random_uuid(), 'Segment ' || n, $2, 1, 'ready', now(), now() FROM generate_series(1, 498) AS n`,
      [id, JSON.stringify(rule(1))],
    );
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, n) => caller.post(SEGMENTS, { name: `One more ${n}`, rule: rule(n) })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409, 409, 409]);
    const refused = answers.find(({ status }) => status === 409);
    if (refused) expectProblem(refused, 409, 'limit_reached');
  });
});

describe('PATCH /v1/core/segments/{id}', () => {
  it('replaces the whole rule and raises its version; anything else leaves it alone', async () => {
    const { caller } = world.anOrganization();
    const { id } = await world.segment(caller, { all: [rule('pro')] });
    expect(await world.read(caller, id)).toMatchObject({ state: 'ready', rule_version: 1 });
    const renamed = await caller.patch<SegmentDto>(`${SEGMENTS}/${id}`, {
      name: 'Other',
      rule: { all: [rule('pro')] },
    });
    expect(renamed.body).toMatchObject({ name: 'Other', state: 'ready', rule_version: 1 });
    const changed = await caller.patch<SegmentDto>(`${SEGMENTS}/${id}`, { rule: { any: [rule('free')] } });
    expect(changed.body).toMatchObject({ rule: { any: [rule('free')] }, state: 'building', rule_version: 2 });
    expectProblem(await caller.patch(`${SEGMENTS}/${id}`, { rule: null }), 400, 'validation_failed');
  });
});

describe('GET /v1/core/segments', () => {
  it('filters by name and state, and sorts by name', async () => {
    const { caller } = world.anOrganization();
    await world.segment(caller, rule(1), 'Beta');
    await world.segment(caller, rule(1), 'Alpha');
    await caller.post(SEGMENTS, { name: 'Gamma', rule: rule(2) });
    const names = async (query: string) => {
      const answer = await caller.get<{ data: SegmentDto[] }>(`${SEGMENTS}?${query}`);
      expectStatus(answer, 200);
      return answer.body.data.map(({ name }) => name);
    };
    expect(await names('sort=name')).toEqual(['Alpha', 'Beta', 'Gamma']);
    expect(await names('state=building')).toEqual(['Gamma']);
    expect(await names('state=ready&sort=-name')).toEqual(['Beta', 'Alpha']);
    expect(await names('name[prefix]=al')).toEqual(['Alpha']);
  });
});
