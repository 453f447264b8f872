import { newId } from '@customer-platform/database';
import {
  expectProblem,
  expectStatus,
  itBehavesLikeASoftDeletableResource,
  kafkaProbe,
} from '@customer-platform/testing';
import { startCrm, type TestCrm } from '../crm.fixture.js';
import { ACTIVITIES, ActivityWorld, TYPES } from './activities.fixture.js';
import type { ActivityDto } from './activity.dto.js';

let crm: TestCrm;
beforeAll(async () => {
  crm = await startCrm({ events: true });
});
afterAll(() => crm.close());
beforeEach(() => {
  crm.modules.reset();
});

/** A type in an organization that has none by itself. */
async function aTypeIn(organizationId: string): Promise<string> {
  const caller = crm.app.as(organizationId, ['crm.activity_types.create']);
  const key = `type_${newId().replaceAll('-', '').slice(-20)}`;
  const answer = await caller.post<{ id: string }>(TYPES, { key, name: 'A type' });
  expectStatus(answer, 201);
  return answer.body.id;
}

itBehavesLikeASoftDeletableResource({
  app: () => crm.app,
  path: ACTIVITIES,
  permissions: {
    read: 'crm.activities.read',
    create: 'crm.activities.create',
    update: 'crm.activities.update',
    delete: 'crm.activities.delete',
    purge: 'crm.activities.purge',
  },
  body: async (number, organizationId) => ({
    contact_id: crm.aContact(organizationId).id,
    type_id: await aTypeIn(organizationId),
    subject: `Activity ${String(number)}`,
  }),
  patch: (number) => ({ subject: `Changed ${String(number)}` }),
});

describe('POST /v1/crm/activities', () => {
  it('answers what was given, open unless said otherwise, with its author', async () => {
    const world = new ActivityWorld(crm);
    const [contact_id, assignee_id] = [world.contact(), newId()];
    crm.app.registry.membership(world.organizationId, assignee_id);
    const body = await world.body({ contact_id, assignee_id, due_at: '2026-12-01T09:00:00+01:00' });
    const activity = await world.activity(body);
    expect(activity).toEqual({
      id: expect.any(String) as unknown,
      contact_id,
      type_id: body['type_id'],
      subject: 'An activity',
      description: null,
      due_at: '2026-12-01T08:00:00.000Z',
      assignee_id,
      status: 'open',
      outcome: null,
      values: {},
      completed_at: null,
      author: { type: 'api_key', id: expect.any(String) as unknown },
      created_at: activity.updated_at,
      updated_at: activity.created_at,
      deleted_at: null,
    });
  });

  it.each<[string, string, object]>([
    ['/contact_id', 'required', { contact_id: undefined }],
    ['/contact_id', 'invalid_format', { contact_id: '12' }],
    ['/type_id', 'invalid_format', { type_id: 'call' }],
    ['/subject', 'required', { subject: undefined }],
    ['/subject', 'too_short', { subject: '' }],
    ['/subject', 'too_long', { subject: 'x'.repeat(201) }],
    ['/description', 'too_long', { description: 'x'.repeat(10_001) }],
    ['/due_at', 'invalid_format', { due_at: '2026-12-01T09:00:00' }],
    ['/assignee_id', 'invalid_format', { assignee_id: 'me' }],
    ['/status', 'invalid_enum', { status: 'done' }],
    ['/outcome', 'not_allowed', { outcome: 'sold' }],
    ['/outcome', 'not_allowed', { status: 'cancelled', outcome: 'sold' }],
    ['/outcome', 'invalid_enum', { status: 'completed', outcome: 'sold' }],
    ['/values', 'wrong_type', { values: [] }],
    ['/values/colour', 'unknown_field', { values: { colour: 'red' } }],
    ['/completed_at', 'unknown_field', { completed_at: '2026-12-01T09:00:00Z' }],
  ])('400: %s %s', async (pointer, code, override) => {
    const world = new ActivityWorld(crm);
    const body = { ...(await world.body()), ...override };
    const problem = expectProblem(await world.caller.post(ACTIVITIES, body), 400, 'validation_failed');
    expect(problem.errors).toEqual([expect.objectContaining({ pointer, code })]);
    expect(await world.idsOf('')).toEqual([]);
  });

  it('wrong values are refused before anybody is asked who the contact is', async () => {
    const world = new ActivityWorld(crm);
    const body = await world.body({ contact_id: newId(), values: { colour: 'red' } });
    crm.modules.lookup = { status: 500 };
    expectProblem(await world.caller.post(ACTIVITIES, body), 400, 'validation_failed');
  });

  it('of a soft-deleted type: 422 reference_deleted; of a foreign one or none the same 422', async () => {
    const world = new ActivityWorld(crm);
    const deleted = await world.type();
    await world.caller.delete(`${TYPES}/${deleted.id}`);
    const refuse = async (type_id: string, code: string) => {
      const answer = await world.caller.post(ACTIVITIES, await world.body({ type_id }));
      const { correlation_id: _, ...problem } = expectProblem(answer, 422, code);
      expect(problem.errors).toEqual([expect.objectContaining({ pointer: '/type_id', code })]);
      return problem;
    };
    await refuse(deleted.id, 'reference_deleted');
    const foreign = await new ActivityWorld(crm).type();
    expect(await refuse(foreign.id, 'reference_not_found')).toEqual(
      await refuse(newId(), 'reference_not_found'),
    );
  });

  it('on a merged contact it is the survivor’s; on none 422', async () => {
    const world = new ActivityWorld(crm);
    const survivor = world.contact();
    const merged = crm.aContact(world.organizationId, { state: 'merged', merged_into: survivor }).id;
    expect((await world.activity({ contact_id: merged })).contact_id).toBe(survivor);
    const deleted = crm.aContact(world.organizationId, { state: 'deleted' }).id;
    const refused = async (contact_id: string) =>
      world.caller.post(ACTIVITIES, await world.body({ contact_id }));
    expectProblem(await refused(newId()), 422, 'reference_not_found');
    expectProblem(await refused(deleted), 422, 'reference_deleted');
  });
});

describe('the assignee', () => {
  it('is a member: otherwise 422, deleted or not there', async () => {
    const world = new ActivityWorld(crm);
    const [deleted, foreign] = [newId(), newId()];
    crm.app.registry.membership(world.organizationId, deleted, 'deleted');
    crm.app.registry.membership(newId(), foreign);
    const activity = await world.activity();
    for (const [assignee_id, code] of [
      [deleted, 'reference_deleted'],
      [foreign, 'reference_not_found'],
      [newId(), 'reference_not_found'],
    ] as const) {
      const created = await world.caller.post(ACTIVITIES, await world.body({ assignee_id }));
      const problem = expectProblem(created, 422, code);
      expect(problem.errors).toEqual([expect.objectContaining({ pointer: '/assignee_id', code })]);
      expectProblem(await world.patch(activity, { assignee_id }), 422, code);
    }
    expect((await world.caller.get(`${ACTIVITIES}/${activity.id}`)).body).toEqual(activity);
  });

  it('503, and nothing is written, while identity cannot tell', async () => {
    const world = new ActivityWorld(crm);
    const assignee_id = newId();
    crm.app.registry.membership(world.organizationId, assignee_id, 'failing');
    const created = await world.caller.post(ACTIVITIES, await world.body({ assignee_id }));
    expectProblem(created, 503, 'dependency_unavailable');
    expect(await world.idsOf('')).toEqual([]);
    const activity = await world.activity();
    expectProblem(await world.patch(activity, { assignee_id }), 503, 'dependency_unavailable');
  });

  it('who is no member any more stays, and may be taken away; identity is asked for a new one only', async () => {
    const world = new ActivityWorld(crm);
    const assignee_id = newId();
    crm.app.registry.membership(world.organizationId, assignee_id);
    const activity = await world.activity({ assignee_id });
    crm.app.registry.membership(world.organizationId, assignee_id, 'none');
    expectStatus(await world.patch(activity, { assignee_id, subject: 'Other' }), 200);
    expect((await world.patch(activity, { assignee_id: null })).body.assignee_id).toBeNull();
    expectProblem(await world.patch(activity, { assignee_id }), 422, 'reference_not_found');
  });
});

describe('PATCH /v1/crm/activities/{id}', () => {
  it('400 immutable for contact and type, the same ones too', async () => {
    const world = new ActivityWorld(crm);
    const { id, contact_id, type_id } = await world.activity();
    const problem = expectProblem(
      await world.patch({ id }, { contact_id, type_id }),
      400,
      'validation_failed',
    );
    expect(problem.errors).toEqual([
      expect.objectContaining({ pointer: '/contact_id', code: 'immutable' }),
      expect.objectContaining({ pointer: '/type_id', code: 'immutable' }),
    ]);
  });

  it('works on while the type is soft-deleted', async () => {
    const world = new ActivityWorld(crm);
    const activity = await world.activity();
    await world.caller.delete(`${TYPES}/${activity.type_id}`);
    expectStatus(await world.patch(activity, { status: 'completed' }), 200);
    await world.caller.delete(`${ACTIVITIES}/${activity.id}`);
    expectStatus(await world.caller.post(`${ACTIVITIES}/${activity.id}/restore`), 200);
  });
});

describe('GET /v1/crm/activities', () => {
  it('filters by what the page of the specification names, and sorts by dates with those without last', async () => {
    const world = new ActivityWorld(crm);
    const assignee_id = newId();
    crm.app.registry.membership(world.organizationId, assignee_id);
    const type = await world.type({ outcomes: [{ key: 'sold' }] });
    const first = await world.activity({ due_at: '2026-12-01T00:00:00Z', assignee_id });
    const second = await world.activity({ due_at: '2026-12-02T00:00:00Z', status: 'cancelled' });
    const third = await world.activity({ type_id: type.id, status: 'completed', outcome: 'sold' });
    const [one, two, three] = [first.id, second.id, third.id];
    const expected: [string, string[]][] = [
      [`contact_id=${first.contact_id}`, [one]],
      [`contact_id[in]=${first.contact_id},${third.contact_id}`, [three, one]],
      ['contact_id[is_null]=true', []],
      [`type_id=${type.id}`, [three]],
      ['status[in]=open,cancelled', [two, one]],
      [`assignee_id=${assignee_id}`, [one]],
      ['assignee_id[is_null]=true', [three, two]],
      ['outcome=sold', [three]],
      ['outcome[is_null]=true', [two, one]],
      ['due_at[gte]=2026-12-02T00:00:00Z', [two]],
      ['due_at[is_null]=true', [three]],
      ['completed_at[is_null]=false', [three]],
      ['sort=due_at', [one, two, three]],
      ['sort=-due_at', [two, one, three]],
      ['sort=completed_at', [three, one, two]],
      [`created_at[lte]=${first.created_at}`, [one]],
    ];
    for (const [query, ids] of expected) expect([query, await world.idsOf(query)]).toEqual([query, ids]);
    let query = 'sort=-due_at&limit=1';
    const walked: string[] = [];
    for (
      let cursor: string | null = '';
      cursor !== null;
      query = `sort=-due_at&limit=1&cursor=${cursor ?? ''}`
    ) {
      const { body } = await world.caller.get<{ data: ActivityDto[]; page: { next_cursor: string | null } }>(
        `${ACTIVITIES}?${query}`,
      );
      walked.push(...body.data.map(({ id }) => id));
      cursor = body.page.next_cursor;
    }
    expect(walked).toEqual([two, one, three]);
  });

  it.each([
    'contact_id[ne]=x',
    'status=done',
    'due_at[in]=x',
    'outcome[prefix]=s',
    'created_at[is_null]=true',
  ])('400 invalid_filter: %s', async (query) => {
    const world = new ActivityWorld(crm);
    expectProblem(await world.caller.get(`${ACTIVITIES}?${query}`), 400, 'invalid_filter');
  });
});

describe('crm.activity events', () => {
  it('tell every change and every turn with the contact as key, and never text or values', async () => {
    const probe = kafkaProbe(crm.app);
    probe.collect('crm');
    const world = new ActivityWorld(crm);
    const fields = [{ key: 'place', type: 'string' }];
    const { id: type_id } = await world.type({ fields, outcomes: [{ key: 'sold' }] });
    const activity = await world.activity({
      type_id,
      subject: 'top secret',
      values: { place: 'very secret' },
      status: 'completed',
    });
    const { id, contact_id } = activity;
    await world.patch(activity, { outcome: 'sold' });
    await world.patch(activity, { status: 'open', values: { place: 'secret' } });
    await world.patch(activity, { status: 'cancelled' });
    await world.patch(activity, { status: 'cancelled' });
    await world.caller.delete(`${ACTIVITIES}/${id}`);
    await world.caller.post(`${ACTIVITIES}/${id}/restore`);
    await world.caller.delete(`${ACTIVITIES}/${id}`);
    await world.caller.delete(`${ACTIVITIES}/${id}/purge`);
    await probe.expectEvents('crm.activity.purged.v1', world.organizationId, 1);
    const told = (verb: 'created' | 'updated' | 'completed' | 'cancelled' | 'reopened' | 'restored') =>
      probe.events(`crm.activity.${verb}.v1`, world.organizationId).map(({ data }) => data);
    const turned = { id, contact_id, type_id, outcome: null };
    expect(told('completed')).toEqual([turned]);
    expect(told('reopened')).toEqual([turned]);
    expect(told('cancelled')).toEqual([turned]);
    expect(told('updated')).toEqual(
      [['outcome'], ['status', 'outcome', 'completed_at', 'values'], ['status']].map((changed) => ({
        id,
        contact_id,
        changed,
      })),
    );
    expect(told('restored')).toEqual([{ id, contact_id, changed: ['deleted_at'] }]);
    expect(JSON.stringify([told('created'), told('updated')])).not.toContain('secret');
  });
});
