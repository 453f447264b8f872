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

describe('values', () => {
  const FIELDS = [
    { key: 'place', type: 'string', required: true, max_length: 5 },
    { key: 'minutes', type: 'integer', min: 0, max: 600 },
    { key: 'rating', type: 'number' },
    { key: 'done', type: 'boolean' },
    { key: 'day', type: 'date' },
    { key: 'until', type: 'datetime' },
    { key: 'mood', type: 'enum', options: [{ value: 'good' }, { value: 'bad', archived: true }] },
    { key: 'former', type: 'string', required: true, archived: true },
  ];
  const ALL = {
    place: 'Ñuñoa',
    minutes: 45,
    rating: -1.5,
    done: false,
    day: '2028-02-29',
    until: '2026-11-21T10:00:00+01:00',
    mood: 'good',
  };
  const EMPTY = { minutes: null, rating: null, done: null, day: null, until: null, mood: null };

  it('are kept by the fields of the type; absent reads null, archived is hidden', async () => {
    const world = new ActivityWorld(crm);
    const { id: type_id } = await world.type({ fields: FIELDS });
    const full = await world.activity({ type_id, values: ALL });
    expect(full.values).toEqual({ ...ALL, until: '2026-11-21T09:00:00.000Z' });
    const sparse = await world.activity({ type_id, values: { place: '😀😀😀😀😀', done: null } });
    expect(sparse.values).toEqual({ ...EMPTY, place: '😀😀😀😀😀' });
    expect((await world.caller.get<ActivityDto>(`${ACTIVITIES}/${sparse.id}`)).body).toEqual(sparse);
    const { data } = (await world.caller.get<{ data: ActivityDto[] }>(ACTIVITIES)).body;
    expect(data).toEqual([sparse, full]);
  });

  it.each<[string, unknown, string]>([
    ['place', undefined, 'required'],
    ['place', null, 'required'],
    ['place', 'Temuco', 'too_long'],
    ['place', 5, 'wrong_type'],
    ['minutes', '5', 'wrong_type'],
    ['minutes', 5.5, 'wrong_type'],
    ['minutes', -1, 'out_of_range'],
    ['minutes', 601, 'out_of_range'],
    ['rating', 9_007_199_254_740_992, 'out_of_range'],
    ['rating', true, 'wrong_type'],
    ['done', 'true', 'wrong_type'],
    ['day', '2027-02-29', 'invalid_format'],
    ['day', '2026-11-21T00:00:00Z', 'invalid_format'],
    ['until', '2026-11-21T10:00:00', 'invalid_format'],
    ['mood', 'Good', 'invalid_enum'],
    ['mood', 'bad', 'invalid_enum'],
    ['mood', ['good'], 'wrong_type'],
    ['former', 'x', 'not_allowed'],
    ['colour', 'red', 'unknown_field'],
  ])('400: %s %j %s', async (key, value, code) => {
    const world = new ActivityWorld(crm);
    const { id: type_id } = await world.type({ fields: FIELDS });
    const body = await world.body({ type_id, values: { ...ALL, [key]: value } });
    const problem = expectProblem(await world.caller.post(ACTIVITIES, body), 400, 'validation_failed');
    expect(problem.errors).toEqual([expect.objectContaining({ pointer: `/values/${key}`, code })]);
    const activity = await world.activity({ type_id, values: ALL });
    if (value === undefined) return;
    const patched = await world.patch(activity, { values: { [key]: value } });
    expect(expectProblem(patched, 400, 'validation_failed').errors).toEqual(problem.errors);
  });

  it('hold 64 KiB together', async () => {
    const world = new ActivityWorld(crm);
    const keys = Array.from({ length: 7 }, (_, at) => `text_${String(at)}`);
    const fields = keys.map((key) => ({ key, type: 'string', max_length: 10_000 }));
    const { id: type_id } = await world.type({ fields });
    const body = await world.body({
      type_id,
      values: Object.fromEntries(keys.map((key) => [key, 'x'.repeat(10_000)])),
    });
    const problem = expectProblem(await world.caller.post(ACTIVITIES, body), 400, 'validation_failed');
    expect(problem.errors).toEqual([expect.objectContaining({ pointer: '/values', code: 'too_long' })]);
  });

  it('merge member by member; what an archived field holds stays', async () => {
    const world = new ActivityWorld(crm);
    const { id: type_id } = await world.type({ fields: FIELDS });
    const activity = await world.activity({ type_id, values: ALL });
    const patched = await world.patch(activity, { values: { minutes: null, done: true } });
    const { until: _, ...rest } = ALL;
    expect(patched.body.values).toMatchObject({ ...rest, minutes: null, done: true });
    const archived = FIELDS.map((field) => (field.key === 'place' ? { ...field, archived: true } : field));
    expectStatus(await world.caller.patch(`${TYPES}/${type_id}`, { fields: archived }), 200);
    const hidden = await world.patch(activity, { values: { rating: 2 } });
    expect(hidden.body.values).not.toHaveProperty('place');
    await world.caller.patch(`${TYPES}/${type_id}`, { fields: FIELDS });
    const shown = await world.caller.get<ActivityDto>(`${ACTIVITIES}/${activity.id}`);
    expect(shown.body.values).toMatchObject({ place: 'Ñuñoa', rating: 2 });
  });

  it('sent again as they are stored are no change, even of an option that is archived by now', async () => {
    const world = new ActivityWorld(crm);
    const { id: type_id } = await world.type({ fields: FIELDS });
    const activity = await world.activity({ type_id, values: ALL });
    const fields = FIELDS.map((field) =>
      field.key === 'mood'
        ? { ...field, options: [{ value: 'good', archived: true }, { value: 'bad' }] }
        : field,
    );
    expectStatus(await world.caller.patch(`${TYPES}/${type_id}`, { fields }), 200);
    const same = await world.patch(activity, { values: { mood: 'good', minutes: 45 } });
    expect(same.body).toEqual(activity);
    expectStatus(await world.patch(activity, { values: { mood: 'bad' } }), 200);
    expectProblem(await world.patch(activity, { values: { mood: 'good' } }), 400, 'validation_failed');
  });
});
