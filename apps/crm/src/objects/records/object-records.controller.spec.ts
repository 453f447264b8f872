import {
  expectProblem,
  expectStatus,
  itBehavesLikeASoftDeletableResource,
  kafkaProbe,
} from '@customer-platform/testing';
import { startCrm, type TestCrm } from '../../crm.fixture.js';
import { OBJECT_PERMISSIONS, OBJECTS, ObjectWorld } from '../objects.fixture.js';

let crm: TestCrm;
let world: ObjectWorld;
beforeAll(async () => {
  crm = await startCrm({ events: true });
});
afterAll(() => crm.close());
beforeEach(() => {
  crm.modules.reset();
  world = new ObjectWorld(crm);
});

itBehavesLikeASoftDeletableResource({
  app: () => crm.app,
  path: `${OBJECTS}/vehicle`,
  permissions: OBJECT_PERMISSIONS,
  prepare: async (organizationId) => {
    const fields = [
      { key: 'plate', type: 'string', unique: true, required: true },
      { key: 'year', type: 'integer', indexed: true },
    ];
    await new ObjectWorld(crm, organizationId).define('vehicle', fields);
  },
  body: (number) => ({ values: { plate: `P${String(number)}`, year: number } }),
  patch: (number) => ({ values: { year: 1000 + number } }),
  unique: 'values.plate',
  uniquePointer: '/values/plate',
});

const FIELDS = [
  { key: 'title', type: 'string', max_length: 5, required: true },
  { key: 'year', type: 'integer', min: 1900, max: 2100 },
  { key: 'weight', type: 'number' },
  { key: 'sold', type: 'boolean' },
  { key: 'day', type: 'date' },
  { key: 'at', type: 'datetime' },
  { key: 'fuel', type: 'enum', options: [{ value: 'gas' }, { value: 'old', archived: true }] },
];

describe('POST /v1/crm/objects/{slug}', () => {
  it('takes every type, and shows null for what is absent', async () => {
    await world.define('vehicle', FIELDS);
    const given = {
      ...{ title: 'Fünf!', year: 2020, weight: -0.5, sold: false, day: '2024-02-29' },
      ...{ at: '2026-01-01T01:00:00+01:00', fuel: 'gas' },
    };
    const record = await world.add('vehicle', given);
    expect(record.values).toEqual({ ...given, at: '2026-01-01T00:00:00.000Z' });
    const bare = await world.add('vehicle', { title: 'x', year: null });
    const nothing = { year: null, weight: null, sold: null, day: null, at: null, fuel: null };
    expect(bare.values).toEqual({ ...nothing, title: 'x' });
  });

  it.each<[string, string, object]>([
    ['title', 'required', {}],
    ['title', 'required', { title: null }],
    ['title', 'too_long', { title: '123456' }],
    ['title', 'wrong_type', { title: 5 }],
    ['year', 'wrong_type', { title: 'x', year: '5' }],
    ['year', 'wrong_type', { title: 'x', year: 2000.5 }],
    ['year', 'out_of_range', { title: 'x', year: 1899 }],
    ['weight', 'out_of_range', { title: 'x', weight: 2 ** 53 }],
    ['sold', 'wrong_type', { title: 'x', sold: 'true' }],
    ['day', 'invalid_format', { title: 'x', day: '2023-02-29' }],
    ['at', 'invalid_format', { title: 'x', at: '2023-02-28' }],
    ['at', 'invalid_format', { title: 'x', at: '0000-06-15T00:00:00Z' }],
    ['day', 'invalid_format', { title: 'x', day: '0000-06-15' }],
    ['fuel', 'invalid_enum', { title: 'x', fuel: 'old' }],
    ['colour', 'unknown_field', { title: 'x', colour: 'red' }],
  ])('400: /values/%s %s', async (key, code, values) => {
    await world.define('vehicle', FIELDS);
    const problem = expectProblem(await world.post('vehicle', { ...values }), 400, 'validation_failed');
    expect(problem.errors).toEqual([expect.objectContaining({ pointer: `/values/${key}`, code })]);
  });

  it('400 too_long for values of more than 64 KiB together', async () => {
    const fields = Array.from({ length: 7 }, (_, n) => ({
      key: `t${String(n)}`,
      type: 'string',
      max_length: 10_000,
    }));
    await world.define('vehicle', fields);
    const values = Object.fromEntries(fields.map(({ key }) => [key, 'x'.repeat(10_000)]));
    const problem = expectProblem(await world.post('vehicle', values), 400, 'validation_failed');
    expect(problem.errors).toEqual([expect.objectContaining({ pointer: '/values', code: 'too_long' })]);
  });

  it('takes the definition’s id in the place of its slug', async () => {
    const { id } = await world.define('vehicle', FIELDS);
    const record = await world.add(id.toUpperCase(), { title: 'x' });
    expect((await world.get('vehicle', record)).body).toEqual(record);
    expect((await world.definition({ id })).record_count).toBe(1);
  });

  it('finds no record under another definition', async () => {
    await world.define('vehicle', FIELDS);
    await world.define('policy');
    const record = await world.add('vehicle', { title: 'x' });
    expectProblem(await world.get('policy', record), 404, 'not_found');
    expectProblem(await world.patch('policy', record, {}), 404, 'not_found');
    for (const suffix of ['', '/purge'])
      expectProblem(await world.delete('policy', record, suffix), 404, 'not_found');
    expectProblem(await world.restore('policy', record), 404, 'not_found');
  });
});

describe('a unique field', () => {
  const UNIQUE = (type: object) => [{ key: 'code', unique: true, ...type }];

  it.each<[string, object, unknown, unknown, unknown]>([
    ['texts by NFC', { type: 'string' }, 'e\u0301', '\u00e9', 'E\u0301'],
    ['numbers', { type: 'number' }, 1.5, 1.5, 1.25],
    ['dates', { type: 'date' }, '2026-01-01', '2026-01-01', '2026-01-02'],
    [
      'instants',
      { type: 'datetime' },
      '2026-01-01T00:00:00Z',
      '2026-01-01T01:00:00+01:00',
      '2026-01-01T00:00:00.001Z',
    ],
    ['options', { type: 'enum', options: [{ value: 'a' }, { value: 'b' }] }, 'a', 'a', 'b'],
  ])('compares %s', async (_, type, first, same, other) => {
    await world.define('thing', UNIQUE(type));
    await world.add('thing', { code: first });
    const problem = expectProblem(await world.post('thing', { code: same }), 409, 'duplicate_value');
    expect(problem.errors).toEqual([expect.objectContaining({ pointer: '/values/code' })]);
    const another = await world.add('thing', { code: other });
    expectProblem(await world.patch('thing', another, { code: same }), 409, 'duplicate_value');
  });

  it('lets records without a value, and with one that was given up, be', async () => {
    await world.define('thing', UNIQUE({ type: 'integer' }));
    const [first, second] = [await world.add('thing', { code: 1 }), await world.add('thing', {})];
    await world.add('thing', {});
    expectStatus(await world.patch('thing', first, { code: 2 }), 200);
    expectStatus(await world.patch('thing', second, { code: 1 }), 200);
    expectStatus(await world.delete('thing', second), 204);
    await world.add('thing', { code: 1 });
  });

  it('goes to one of many that ask at once', async () => {
    await world.define('thing', UNIQUE({ type: 'integer' }));
    const answers = await Promise.all(Array.from({ length: 8 }, () => world.post('thing', { code: 1 })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(7).fill(409)]);
  });

  it('may be unique no more', async () => {
    const thing = await world.define('thing', UNIQUE({ type: 'integer' }));
    await world.add('thing', { code: 1 });
    const fields = [{ key: 'code', type: 'integer', indexed: true }];
    expectStatus(await world.redefine(thing, { fields }), 200);
    await world.add('thing', { code: 1 });
    expect(await world.column('thing', 'code', '?values.code=1')).toEqual([1, 1]);
  });
});

describe('events of objects', () => {
  it('name what changed, and hold no value', async () => {
    const probe = kafkaProbe(crm.app);
    probe.collect('crm');
    const definition = await world.define('vehicle', FIELDS);
    await world.redefine(definition, { name: 'Other' });
    const record = await world.add('vehicle', { title: 'Eins', year: 2020 });
    expectStatus(await world.patch('vehicle', record, { title: 'Zwei', year: null, sold: null }), 200);
    expectStatus(await world.patch('vehicle', record, { title: 'Zwei' }), 200);
    expectStatus(await world.delete('vehicle', record), 204);
    expectStatus(await world.restore('vehicle', record), 200);
    expectStatus(await world.delete('vehicle', record), 204);
    expectStatus(await world.delete('vehicle', record, '/purge'), 204);
    await probe.expectEvents('crm.object.purged.v1', world.organizationId, 1);
    const told = (type: Parameters<typeof probe.events>[0]) =>
      probe.events(type, world.organizationId).map(({ data }) => data);
    const of = (id: string, changed: string[]) => [{ id, slug: 'vehicle', changed }];
    expect(told('crm.object_definition.created.v1')).toEqual(of(definition.id, ['slug', 'name', 'fields']));
    expect(told('crm.object_definition.updated.v1')).toEqual(of(definition.id, ['name']));
    const both = ['values.title', 'values.year'];
    expect(told('crm.object.created.v1')).toEqual(of(record.id, both));
    expect(told('crm.object.updated.v1')).toEqual(of(record.id, both));
    expect(told('crm.object.deleted.v1')).toEqual([
      ...of(record.id, ['deleted_at']),
      ...of(record.id, ['deleted_at']),
    ]);
    expect(told('crm.object.restored.v1')).toEqual(of(record.id, ['deleted_at']));
    expect(told('crm.object.purged.v1')).toEqual(of(record.id, []));
    const audited = await crm.database.query(
      `SELECT changed_fields FROM audit_entries WHERE organization_id = $1 AND action = 'crm.objects.update'`,
      [world.organizationId],
    );
    expect(audited.map((row) => row['changed_fields'])).toEqual([['values', ...both]]);
  });
});
