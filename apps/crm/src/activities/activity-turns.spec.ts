import { expectProblem, expectStatus } from '@customer-platform/testing';
import { startCrm, type TestCrm } from '../crm.fixture.js';
import { ACTIVITIES, ActivityWorld, TYPES } from './activities.fixture.js';
import type { ActivityDto } from './activity.dto.js';

let crm: TestCrm;
beforeAll(async () => {
  crm = await startCrm();
});
afterAll(() => crm.close());
beforeEach(() => {
  crm.modules.reset();
});

const OUTCOMES = [{ key: 'sold' }, { key: 'lost' }, { key: 'former', archived: true }];

describe('the states of an activity', () => {
  it('open → completed writes completed_at; → open clears it and the outcome', async () => {
    const world = new ActivityWorld(crm);
    const type = await world.type({ outcomes: OUTCOMES });
    const activity = await world.activity({ type_id: type.id });
    const completed = await world.patch(activity, { status: 'completed', outcome: 'sold' });
    expect(completed.body).toMatchObject({
      status: 'completed',
      outcome: 'sold',
      completed_at: expect.stringMatching(/Z$/) as unknown,
    });
    const again = await world.patch(activity, { status: 'completed', outcome: 'sold' });
    expect(again.body).toEqual(completed.body);
    const other = await world.patch(activity, { outcome: 'lost' });
    expect(other.body).toMatchObject({ outcome: 'lost', completed_at: completed.body.completed_at });
    const opened = await world.patch(activity, { status: 'open' });
    expect(opened.body).toMatchObject({ status: 'open', outcome: null, completed_at: null });
    const cancelled = await world.patch(activity, { status: 'cancelled' });
    expect(cancelled.body).toMatchObject({ status: 'cancelled', outcome: null, completed_at: null });
    expect((await world.patch(activity, { status: 'open' })).body.status).toBe('open');
  });

  it.each([
    ['completed', 'cancelled'],
    ['cancelled', 'completed'],
  ])('%s → %s: 409 invalid_state', async (from, to) => {
    const world = new ActivityWorld(crm);
    const activity = await world.activity({ status: from });
    expectProblem(await world.patch(activity, { status: to }), 409, 'invalid_state');
    expect((await world.caller.get(`${ACTIVITIES}/${activity.id}`)).body).toEqual(activity);
  });

  it('a type that requires an outcome is completed with one that is not archived only', async () => {
    const world = new ActivityWorld(crm);
    const type = await world.type({ outcomes: OUTCOMES, outcome_required: true });
    const activity = await world.activity({ type_id: type.id });
    const refused = async (body: object, code: string) => {
      const problem = expectProblem(await world.patch(activity, body), 400, 'validation_failed');
      expect(problem.errors).toEqual([expect.objectContaining({ pointer: '/outcome', code })]);
    };
    await refused({ status: 'completed' }, 'required');
    await refused({ status: 'completed', outcome: null }, 'required');
    await refused({ status: 'completed', outcome: 'former' }, 'invalid_enum');
    await refused({ status: 'completed', outcome: 'won' }, 'invalid_enum');
    await refused({ outcome: 'sold' }, 'not_allowed');
    await refused({ status: 'cancelled', outcome: 'sold' }, 'not_allowed');
    expectStatus(await world.patch(activity, { status: 'completed', outcome: 'sold' }), 200);
    await refused({ outcome: null }, 'required');
    expectStatus(await world.patch(activity, { subject: 'Other' }), 200);
    expectStatus(await world.patch(activity, { status: 'open', outcome: null }), 200);
  });

  it('of ten who complete and cancel at once, one comes first; the others find it so', async () => {
    const world = new ActivityWorld(crm);
    const activity = await world.activity();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        world.patch(activity, { status: at % 2 ? 'completed' : 'cancelled' }),
      ),
    );
    const { status } = (await world.caller.get<ActivityDto>(`${ACTIVITIES}/${activity.id}`)).body;
    const lost = answers.filter((answer) => answer.status !== 200);
    expect(lost).toHaveLength(5);
    for (const answer of lost) expectProblem(answer, 409, 'invalid_state');
    const won = answers.filter((answer) => answer.status === 200);
    expect(new Set(won.map(({ body }) => body.status))).toEqual(new Set([status]));
  });
});

describe('a type that activities are of', () => {
  const text = (override: object = {}) => ({ key: 'place', type: 'string', ...override });
  const change = (world: ActivityWorld, id: string, body: object) =>
    world.caller.patch(`${TYPES}/${id}`, body);

  it('409 field_in_use: a field that one holds a value of, soft-deleted too, is neither removed nor tightened', async () => {
    const world = new ActivityWorld(crm);
    const mood = { key: 'mood', type: 'enum', options: [{ value: 'good' }, { value: 'bad' }] };
    const size = { key: 'size', type: 'integer', max: 9 };
    const { id } = await world.type({ fields: [text(), mood, size] });
    const values = { place: 'x', mood: 'good', size: 1 };
    const activity = await world.activity({ type_id: id, values });
    await world.caller.delete(`${ACTIVITIES}/${activity.id}`);
    const cases: [string, object[]][] = [
      ['place', [mood, size]],
      ['place', [text({ max_length: 254 }), mood, size]],
      ['mood', [text(), { ...mood, options: [{ value: 'good' }] }, size]],
      ['size', [text(), mood, { ...size, min: 0 }]],
      ['size', [text(), mood, { ...size, max: 8 }]],
    ];
    for (const [field, fields] of cases) {
      const problem = expectProblem(await change(world, id, { fields }), 409, 'field_in_use');
      expect(problem).toMatchObject({ field, count: 1 });
    }
    const looser = [
      text({ max_length: 256, label: 'Where', archived: true }),
      { ...mood, options: [{ value: 'good', archived: true }, { value: 'bad' }, { value: 'fair' }] },
      { key: 'size', type: 'integer', max: 10 },
      { key: 'added', type: 'boolean' },
    ];
    expectStatus(await change(world, id, { fields: looser }), 200);
    await world.caller.delete(`${ACTIVITIES}/${activity.id}/purge`);
    expectStatus(await change(world, id, { fields: [] }), 200);
  });

  it('lets an outcome go that no activity has, whatever others have', async () => {
    const world = new ActivityWorld(crm);
    const { id } = await world.type({ outcomes: [{ key: 'sold' }, { key: 'lost' }, { key: 'other' }] });
    await world.activity({ type_id: id, status: 'completed', outcome: 'sold' });
    const deleted = await world.activity({ type_id: id, status: 'completed', outcome: 'other' });
    await world.caller.delete(`${ACTIVITIES}/${deleted.id}`);
    expectStatus(await change(world, id, { outcomes: [{ key: 'sold' }, { key: 'other' }] }), 200);
    for (const outcomes of [[{ key: 'sold' }], [{ key: 'other' }]]) {
      const problem = expectProblem(await change(world, id, { outcomes }), 409, 'field_in_use');
      expect(problem).toMatchObject({ field: 'outcome', count: 1 });
    }
  });

  it('409 field_in_use: an outcome goes only while no activity has it', async () => {
    const world = new ActivityWorld(crm);
    const { id } = await world.type({ outcomes: OUTCOMES });
    const activity = await world.activity({ type_id: id, status: 'completed', outcome: 'sold' });
    const problem = expectProblem(await change(world, id, { outcomes: [] }), 409, 'field_in_use');
    expect(problem).toMatchObject({ field: 'outcome', count: 1 });
    const archived = OUTCOMES.map((outcome) => ({ ...outcome, archived: true }));
    expectStatus(await change(world, id, { outcomes: archived }), 200);
    expectStatus(await world.patch(activity, { outcome: 'sold', subject: 'Other' }), 200);
    await world.patch(activity, { status: 'open' });
    expectStatus(await change(world, id, { outcomes: [] }), 200);
  });

  it('409 records_incompatible: a value is demanded only when no active activity lacks it; nor is one restored', async () => {
    const world = new ActivityWorld(crm);
    const { id } = await world.type({ fields: [text()] });
    const lacking = await world.activity({ type_id: id });
    await world.activity({ type_id: id, values: { place: 'x' } });
    for (const fields of [
      [text({ required: true })],
      [text(), { key: 'added', type: 'date', required: true }],
    ])
      expect(expectProblem(await change(world, id, { fields }), 409, 'records_incompatible')).toMatchObject({
        field: fields.at(-1)?.key,
      });
    await world.caller.delete(`${ACTIVITIES}/${lacking.id}`);
    expectStatus(await change(world, id, { fields: [text({ required: true })] }), 200);
    const restored = await world.caller.post(`${ACTIVITIES}/${lacking.id}/restore`);
    expect(expectProblem(restored, 409, 'records_incompatible')).toMatchObject({ field: 'place' });
    expectStatus(await change(world, id, { fields: [text({ required: true, archived: true })] }), 200);
    expectStatus(await world.caller.post(`${ACTIVITIES}/${lacking.id}/restore`), 200);
    const back = await change(world, id, { fields: [text({ required: true })] });
    expectProblem(back, 409, 'records_incompatible');
  });

  it('whatever is written while it changes, no active activity breaks it afterwards', async () => {
    const world = new ActivityWorld(crm);
    for (let round = 0; round < 5; round += 1) {
      const { id } = await world.type({ fields: [text()] });
      const contact_id = world.contact();
      const writing = Array.from({ length: 6 }, () =>
        world.caller.post(ACTIVITIES, { contact_id, type_id: id, subject: 'x' }),
      );
      const changed = await change(world, id, { fields: [text({ required: true })] });
      const statuses = (await Promise.all(writing)).map(({ status }) => status);
      const left = await world.idsOf(`type_id=${id}`);
      expect(left).toHaveLength(statuses.filter((status) => status === 201).length);
      if (changed.status === 200) expect(left).toEqual([]);
      else expectProblem(changed, 409, 'records_incompatible');
    }
  });

  it('409 resource_referenced: it is not purged while activities are of it, soft-deleted too', async () => {
    const world = new ActivityWorld(crm);
    const activity = await world.activity();
    const at = `${TYPES}/${activity.type_id}`;
    await world.caller.delete(at);
    await world.caller.delete(`${ACTIVITIES}/${activity.id}`);
    const problem = expectProblem(await world.caller.delete(`${at}/purge`), 409, 'resource_referenced');
    expect(problem['references']).toEqual([{ module: 'crm', resource: 'activities', count: 1 }]);
    await world.caller.delete(`${ACTIVITIES}/${activity.id}/purge`);
    expectStatus(await world.caller.delete(`${at}/purge`), 204);
  });
});
