import type { DomainEvent } from '@customer-platform/events';
import {
  anOrganization,
  type Answer,
  type Caller,
  domainEvent,
  expectProblem,
  expectStatus,
  itBehavesLikeASoftDeletableResource,
  kafkaProbe,
} from '@customer-platform/testing';
import { startCrm, type TestCrm } from '../crm.fixture.js';
import type { ActivityTypeDto } from './activity-type.dto.js';
import { FirstTypesConsumer } from './first-types.consumer.js';

const TYPES = '/v1/crm/activity-types';
const PERMISSIONS = {
  read: 'crm.activity_types.read',
  create: 'crm.activity_types.create',
  update: 'crm.activity_types.update',
  delete: 'crm.activity_types.delete',
  purge: 'crm.activity_types.purge',
} as const;

let crm: TestCrm;
beforeAll(async () => {
  crm = await startCrm({ events: true });
});
afterAll(() => crm.close());

const aCaller = (organizationId = anOrganization().id): Caller =>
  crm.app.as(organizationId, Object.values(PERMISSIONS));
const post = (caller: Caller, body: object): Promise<Answer<ActivityTypeDto>> =>
  caller.post<ActivityTypeDto>(TYPES, { key: 'visit', name: 'Visit', ...body });

async function aType(caller: Caller, body: object = {}): Promise<ActivityTypeDto> {
  const answer = await post(caller, body);
  expectStatus(answer, 201);
  return answer.body;
}

itBehavesLikeASoftDeletableResource({
  app: () => crm.app,
  path: TYPES,
  permissions: PERMISSIONS,
  body: (number) => ({ key: `key_${String(number)}`, name: `Name ${String(number)}` }),
  patch: (number) => ({ name: `Changed ${String(number)}` }),
  unique: 'key',
});

describe('POST /v1/crm/activity-types', () => {
  it('answers what was given, the rest filled in', async () => {
    const outcomes = [{ key: 'sold', label: 'Sold' }, { key: 'lost' }];
    const fields = [
      { key: 'place', type: 'string', label: 'Where', required: true },
      { key: 'minutes', type: 'integer', min: 0 },
      { key: 'mood', type: 'enum', options: [{ value: 'good' }, { value: 'bad', archived: true }] },
      { key: 'until', type: 'datetime' },
    ];
    const type = await aType(aCaller(), { outcomes, outcome_required: true, fields });
    const plain = { required: false, archived: false };
    expect(type).toMatchObject({
      key: 'visit',
      name: 'Visit',
      outcome_required: true,
      outcomes: [
        { key: 'sold', label: 'Sold', archived: false },
        { key: 'lost', label: 'lost', archived: false },
      ],
      fields: [
        { ...plain, key: 'place', label: 'Where', required: true, type: 'string', max_length: 255 },
        { ...plain, key: 'minutes', label: 'minutes', type: 'integer', min: 0, max: null },
        {
          ...plain,
          key: 'mood',
          label: 'mood',
          type: 'enum',
          options: [
            { value: 'good', label: 'good', archived: false },
            { value: 'bad', label: 'bad', archived: true },
          ],
        },
        { ...plain, key: 'until', label: 'until', type: 'datetime' },
      ],
    });
    expect(await aType(aCaller())).toMatchObject({ outcomes: [], outcome_required: false, fields: [] });
  });

  const field = (override: object) => ({ fields: [{ key: 'one', type: 'string', ...override }] });
  const many = (count: number, item: (index: number) => object): object[] =>
    Array.from({ length: count }, (_, index) => item(index));

  it.each<[string, string, object]>([
    ['/key', 'required', { key: undefined }],
    ['/key', 'invalid_format', { key: 'Visit' }],
    ['/key', 'invalid_format', { key: 'v' }],
    ['/key', 'invalid_format', { key: 'v'.repeat(41) }],
    ['/name', 'too_short', { name: '' }],
    ['/name', 'too_long', { name: 'x'.repeat(61) }],
    ['/outcome_required', 'wrong_type', { outcome_required: null }],
    ['/outcomes', 'too_long', { outcomes: many(21, (index) => ({ key: `key_${String(index)}` })) }],
    ['/outcomes/0', 'wrong_type', { outcomes: ['sold'] }],
    ['/outcomes/0/key', 'required', { outcomes: [{}] }],
    ['/outcomes/0/label', 'too_short', { outcomes: [{ key: 'sold', label: '' }] }],
    ['/outcomes/0/archived', 'wrong_type', { outcomes: [{ key: 'sold', archived: 1 }] }],
    ['/outcomes/0/colour', 'unknown_field', { outcomes: [{ key: 'sold', colour: 'red' }] }],
    ['/outcomes/1/key', 'duplicate_item', { outcomes: [{ key: 'sold' }, { key: 'sold' }] }],
    ['/fields', 'wrong_type', { fields: {} }],
    ['/fields', 'too_long', { fields: many(31, (index) => ({ key: `key_${String(index)}`, type: 'date' })) }],
    ['/fields/0/type', 'required', field({ type: undefined })],
    ['/fields/0/type', 'invalid_enum', field({ type: 'reference' })],
    ['/fields/0/unique', 'unknown_field', field({ unique: true })],
    ['/fields/0/indexed', 'unknown_field', field({ indexed: true })],
    ['/fields/0/min', 'unknown_field', field({ min: 1 })],
    ['/fields/0/key', 'invalid_format', field({ key: '1st' })],
    ['/fields/0/required', 'wrong_type', field({ required: 'yes' })],
    ['/fields/0/max_length', 'out_of_range', field({ max_length: 10_001 })],
    ['/fields/0/max_length', 'wrong_type', field({ max_length: 1.5 })],
    ['/fields/0/min', 'wrong_type', field({ type: 'integer', min: 0.5 })],
    ['/fields/0/min', 'out_of_range', field({ type: 'number', min: -1e16 })],
    ['/fields/0/max', 'out_of_range', field({ type: 'number', min: 2, max: 1 })],
    ['/fields/0/options', 'required', field({ type: 'enum' })],
    ['/fields/0/options', 'too_short', field({ type: 'enum', options: [] })],
    [
      '/fields/0/options',
      'too_long',
      field({ type: 'enum', options: many(201, (at) => ({ value: String(at) })) }),
    ],
    ['/fields/0/options/0/value', 'wrong_type', field({ type: 'enum', options: [{ value: 1 }] })],
    [
      '/fields/0/options/1/value',
      'duplicate_item',
      field({ type: 'enum', options: [{ value: 'a' }, { value: 'a' }] }),
    ],
    ['/fields/1/key', 'duplicate_item', { fields: many(2, () => ({ key: 'one', type: 'date' })) }],
  ])('400: %s %s', async (pointer, code, override) => {
    const caller = aCaller();
    const problem = expectProblem(await post(caller, override), 400, 'validation_failed');
    expect(problem.errors).toEqual([expect.objectContaining({ pointer, code })]);
    expect((await caller.get<{ data: unknown[] }>(TYPES)).body.data).toEqual([]);
  });

  it('409 limit_reached beyond 200, however many come at once; also for a restore', async () => {
    const organizationId = anOrganization().id;
    const caller = aCaller(organizationId);
    const first = await aType(caller, { key: 'first' });
    await caller.delete(`${TYPES}/${first.id}`);
    await crm.database.query(
      `INSERT INTO activity_types
         (organization_id, id, key, name, outcomes, outcome_required, fields, created_at, updated_at)
       SELECT $1, gen_random_uuid(), 'key_' || n, 'Name', '[]', false, '[]', now(), now()
         FROM generate_series(1, 199) AS n`,
      [organizationId],
    );
    const answers = await Promise.all(['aa', 'bb', 'cc'].map((key) => post(caller, { key })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    for (const answer of answers.filter(({ status }) => status === 409))
      expect(expectProblem(answer, 409, 'limit_reached')).toMatchObject({ limit: 200 });
    expectProblem(await caller.post(`${TYPES}/${first.id}/restore`), 409, 'limit_reached');
  });
});

describe('GET /v1/crm/activity-types', () => {
  it('filters by key and by name, and sorts by name', async () => {
    const caller = aCaller();
    const [b, a] = [
      await aType(caller, { key: 'bb', name: 'B' }),
      await aType(caller, { key: 'aa', name: 'A' }),
    ];
    const list = async (query: string) =>
      (await caller.get<{ data: ActivityTypeDto[] }>(`${TYPES}?${query}`)).body.data;
    expect(await list('key=bb')).toEqual([b]);
    expect(await list('sort=name')).toEqual([a, b]);
    expect(await list('name[prefix]=b')).toEqual([b]);
    expect(await list('name=a')).toEqual([a]);
    for (const query of ['key[prefix]=b', 'key[in]=aa,bb'])
      expectProblem(await caller.get(`${TYPES}?${query}`), 400, 'invalid_filter');
    expectProblem(await caller.get(`${TYPES}?outcomes=A`), 400, 'unknown_parameter');
  });
});

describe('PATCH /v1/crm/activity-types/{id}', () => {
  it('400 immutable for the key, and for the type of a field', async () => {
    const caller = aCaller();
    const { id, key } = await aType(caller, { fields: [{ key: 'one', type: 'string' }] });
    const ofKey = expectProblem(await caller.patch(`${TYPES}/${id}`, { key }), 400, 'validation_failed');
    expect(ofKey.errors).toEqual([expect.objectContaining({ pointer: '/key', code: 'immutable' })]);
    const fields = [
      { key: 'two', type: 'date' },
      { key: 'one', type: 'date' },
    ];
    const ofType = expectProblem(await caller.patch(`${TYPES}/${id}`, { fields }), 400, 'validation_failed');
    expect(ofType.errors).toEqual([
      expect.objectContaining({ pointer: '/fields/1/type', code: 'immutable' }),
    ]);
  });

  it('takes lists whole: what is not given is gone, in the order given', async () => {
    const caller = aCaller();
    const fields = ['one', 'two'].map((key) => ({ key, type: 'string' }));
    const { id } = await aType(caller, { fields, outcomes: [{ key: 'sold' }, { key: 'lost' }] });
    const { body } = await caller.patch<ActivityTypeDto>(`${TYPES}/${id}`, {
      fields: [{ key: 'three', type: 'boolean' }, fields[0]],
      outcomes: [],
    });
    expect(body.fields.map((field) => (field as { key: string }).key)).toEqual(['three', 'one']);
    expect(body.outcomes).toEqual([]);
  });
});

describe('the first types of a new organization', () => {
  type Founded = DomainEvent<'identity.organization.created.v1'>;
  const founded = (id: string): Founded =>
    domainEvent('identity.organization.created.v1', id, { organization_id: id, id, slug: 'x', changed: [] });
  const give = (...events: Founded[]) => crm.app.app.get(FirstTypesConsumer).give(events);
  const keysOf = async (caller: Caller): Promise<string[]> =>
    (await caller.get<{ data: ActivityTypeDto[] }>(`${TYPES}?sort=name`)).body.data.map(({ key }) => key);

  it('are call, email, meeting and task, told and audited; told again they are not given again', async () => {
    const probe = kafkaProbe(crm.app);
    probe.collect('crm');
    const [organizationId, other] = [anOrganization().id, anOrganization().id];
    const caller = aCaller(organizationId);
    const [told, second] = [founded(organizationId), founded(other)];
    await Promise.all([give(told, second, told), give(second, told)]);
    expect(await keysOf(caller)).toEqual(['call', 'email', 'meeting', 'task']);
    expect(await keysOf(aCaller(other))).toEqual(['call', 'email', 'meeting', 'task']);
    await probe.expectEvents('crm.activity_type.created.v1', organizationId, 4);
    const audited = await crm.database.query(
      'SELECT actor_id FROM audit_entries WHERE organization_id = $1 AND action = $2',
      [organizationId, 'crm.activity_types.create'],
    );
    expect(audited).toEqual(Array(4).fill({ actor_id: 'crm.activity-types' }));
    const { data } = (await caller.get<{ data: ActivityTypeDto[] }>(`${TYPES}?key=call`)).body;
    await caller.delete(`${TYPES}/${data[0]?.id ?? ''}`);
    await give(told);
    expect(await keysOf(caller)).toEqual(['email', 'meeting', 'task']);
  });

  it('leave a key that the organization has taken meanwhile', async () => {
    const organizationId = anOrganization().id;
    const caller = aCaller(organizationId);
    const own = await aType(caller, { key: 'call', name: 'Ours' });
    await give(founded(organizationId));
    expect(await keysOf(caller)).toEqual(['email', 'meeting', 'call', 'task']);
    expect((await caller.get(`${TYPES}/${own.id}`)).body).toEqual(own);
  });
});

describe('crm.activity_type events', () => {
  it('tell every change by the names of the fields', async () => {
    const probe = kafkaProbe(crm.app);
    probe.collect('crm');
    const organizationId = anOrganization().id;
    const caller = aCaller(organizationId);
    const { id } = await aType(caller);
    await caller.patch(`${TYPES}/${id}`, { outcomes: [{ key: 'sold' }], outcome_required: true });
    await caller.delete(`${TYPES}/${id}`);
    await caller.post(`${TYPES}/${id}/restore`);
    await caller.delete(`${TYPES}/${id}`);
    await caller.delete(`${TYPES}/${id}/purge`);
    await probe.expectEvents('crm.activity_type.purged.v1', organizationId, 1);
    const changed = (verb: 'created' | 'updated' | 'deleted' | 'restored' | 'purged') =>
      probe.events(`crm.activity_type.${verb}.v1`, organizationId).map(({ data }) => data.changed);
    expect(changed('created')).toEqual([['key', 'name', 'outcomes', 'outcome_required', 'fields']]);
    expect(changed('updated')).toEqual([['outcomes', 'outcome_required']]);
    expect(changed('deleted')).toEqual([['deleted_at'], ['deleted_at']]);
    expect(changed('restored')).toEqual([['deleted_at']]);
    expect(changed('purged')).toEqual([[]]);
  });
});
