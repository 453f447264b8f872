import { expectProblem, expectStatus, itBehavesLikeASoftDeletableResource } from '@customer-platform/testing';
import { startCrm, type TestCrm } from '../../crm.fixture.js';
import { DEFINITIONS, OBJECT_PERMISSIONS, ObjectWorld } from '../objects.fixture.js';
import type { ObjectDefinitionDto } from './object-definition.dto.js';

let crm: TestCrm;
let world: ObjectWorld;
beforeAll(async () => {
  crm = await startCrm();
});
afterAll(() => crm.close());
beforeEach(() => {
  world = new ObjectWorld(crm);
});

itBehavesLikeASoftDeletableResource({
  app: () => crm.app,
  path: DEFINITIONS,
  permissions: OBJECT_PERMISSIONS,
  body: (number) => ({
    slug: `object_${String(number)}`,
    name: 'Object',
    fields: [{ key: 'size', type: 'integer', indexed: true }],
  }),
  patch: (number) => ({ name: `Changed ${String(number)}` }),
  unique: 'slug',
});

const PLATE = { key: 'plate', type: 'string', max_length: 10, unique: true };

describe('POST /v1/crm/object-definitions', () => {
  it('answers what was given, with what is usual in place of what was not', async () => {
    const insurer = await world.define('insurer');
    const given = [
      PLATE,
      { key: 'year', label: 'Year', type: 'integer', min: 1900, indexed: true },
      { key: 'owner', type: 'reference', target: 'contact' },
      { key: 'insurer', type: 'reference', target: insurer.id.toUpperCase() },
    ];
    const vehicle = await world.define('vehicle', given);
    const common = { required: false, archived: false, unique: false, indexed: false, index_state: null };
    expect(vehicle).toMatchObject({ slug: 'vehicle', record_count: 0, deleted_at: null });
    expect(vehicle.fields).toEqual([
      { ...common, ...PLATE, label: 'plate', indexed: true, index_state: 'ready' },
      { ...common, ...given[1], max: null, index_state: 'ready' },
      { ...common, ...given[2], label: 'owner', on_erasure: 'delete' },
      { ...common, ...given[3], label: 'insurer', target: insurer.id },
    ]);
  });

  it.each<[string, string, object]>([
    ['/slug', 'invalid_format', { slug: 'Vehicle' }],
    ['/slug', 'invalid_format', { slug: 'restore' }],
    ['/slug', 'required', { slug: undefined }],
    ['/name', 'too_long', { name: 'x'.repeat(81) }],
    ['/record_count', 'unknown_field', { record_count: 1 }],
    [
      '/fields',
      'too_long',
      { fields: Array.from({ length: 101 }, (_, n) => ({ key: `k${String(n)}`, type: 'date' })) },
    ],
    [
      '/fields',
      'too_long',
      {
        fields: Array.from({ length: 11 }, (_, n) => ({ key: `k${String(n)}`, type: 'date', indexed: true })),
      },
    ],
    ['/fields/0/type', 'invalid_enum', { fields: [{ key: 'aa', type: 'object' }] }],
    ['/fields/0/max_length', 'out_of_range', { fields: [{ ...PLATE, max_length: 501 }] }],
    ['/fields/0/index_state', 'unknown_field', { fields: [{ ...PLATE, index_state: 'ready' }] }],
    ['/fields/0/target', 'required', { fields: [{ key: 'owner', type: 'reference' }] }],
    ['/fields/0/target', 'invalid_format', { fields: [{ key: 'owner', type: 'reference', target: 'user' }] }],
    [
      '/fields/0/unique',
      'not_allowed',
      { fields: [{ key: 'owner', type: 'reference', target: 'contact', unique: true }] },
    ],
    [
      '/fields/0/on_erasure',
      'not_allowed',
      {
        fields: [{ key: 'owner', type: 'reference', target: 'contact', on_erasure: 'clear', required: true }],
      },
    ],
    [
      '/fields/0/on_erasure',
      'invalid_enum',
      { fields: [{ key: 'owner', type: 'reference', target: 'contact', on_erasure: 'keep' }] },
    ],
    ['/fields/1/key', 'duplicate_item', { fields: [PLATE, PLATE] }],
    ['/fields/0/on_erasure', 'unknown_field', { fields: [{ key: 'aa', type: 'date', on_erasure: 'clear' }] }],
  ])('400: %s %s', async (pointer, code, override) => {
    const answer = await world.caller.post(DEFINITIONS, { slug: 'vehicle', name: 'Vehicle', ...override });
    const problem = expectProblem(answer, 400, 'validation_failed');
    expect(problem.errors).toEqual([expect.objectContaining({ pointer, code })]);
  });

  it('422 for a target that is not there, soft-deleted, or of another organization', async () => {
    const to = (target: string) => ({
      slug: 'policy',
      name: 'Policy',
      fields: [{ key: 'of', type: 'reference', target }],
    });
    const foreign = await new ObjectWorld(crm).define('vehicle');
    const own = await world.define('vehicle');
    for (const target of [foreign.id, crypto.randomUUID()]) {
      const problem = expectProblem(
        await world.caller.post(DEFINITIONS, to(target)),
        422,
        'reference_not_found',
      );
      expect(problem.errors).toEqual([expect.objectContaining({ pointer: '/fields/0/target' })]);
    }
    expectStatus(await world.caller.delete(`${DEFINITIONS}/${own.id}`), 204);
    expectProblem(await world.caller.post(DEFINITIONS, to(own.id)), 422, 'reference_deleted');
  });

  it('409 limit_reached beyond 50', async () => {
    await crm.database.query(
      `INSERT INTO object_definitions (organization_id, id, slug, name, fields, indexes, next_number, revision, created_at, updated_at)
       SELECT $1, gen_random_uuid(), 'made_' || n, 'Made', '[]', '[]', 1, 1, now(), now() FROM generate_series(1, 49) AS n`,
      [world.organizationId],
    );
    await world.define('last');
    const problem = expectProblem(
      await world.caller.post(DEFINITIONS, { slug: 'more', name: 'x' }),
      409,
      'limit_reached',
    );
    expect(problem).toMatchObject({ limit: 50 });
  });
});

describe('GET /v1/crm/object-definitions', () => {
  it('filters by the beginning of the name, ignoring case', async () => {
    const [car] = [await world.define('vehicle', [], { name: 'Car' }), await world.define('policy')];
    const ids = async (query: string): Promise<string[]> => {
      const { body } = await world.caller.get<{ data: ObjectDefinitionDto[] }>(`${DEFINITIONS}?${query}`);
      return body.data.map(({ id }) => id);
    };
    expect(await ids('name[prefix]=cA')).toEqual([car.id]);
    expect(await ids('name=car')).toEqual([car.id]);
    expect(await ids('name[prefix]=ar')).toEqual([]);
  });
});

describe('GET /v1/crm/object-definitions/{id}', () => {
  it('gives the JSON Schema of a record to whoever accepts it by name', async () => {
    const { id } = await world.define('vehicle', [
      { ...PLATE, required: true, label: 'Plate' },
      { key: 'fuel', type: 'enum', options: [{ value: 'gas' }, { value: 'lpg', archived: true }] },
      { key: 'old', type: 'date', archived: true },
    ]);
    const accept = { headers: { Accept: 'application/json;q=0.1, Application/Schema+JSON' } };
    const answer = await world.caller.get<Record<string, unknown>>(`${DEFINITIONS}/${id}`, accept);
    expectStatus(answer, 200);
    expect(answer.headers.get('content-type')).toMatch(/^application\/schema\+json/);
    expect(answer.body).toMatchObject({
      title: 'The vehicle',
      required: ['values'],
      properties: {
        values: {
          required: ['plate'],
          additionalProperties: false,
          properties: {
            plate: { title: 'Plate', type: 'string', maxLength: 10 },
            fuel: { title: 'fuel', anyOf: [{ enum: ['gas'] }, { type: 'null' }] },
          },
        },
      },
    });
    const usual = await world.caller.get<ObjectDefinitionDto>(`${DEFINITIONS}/${id}`, {
      headers: { Accept: '*/*' },
    });
    expect(usual.body.slug).toBe('vehicle');
  });
});

describe('PATCH /v1/crm/object-definitions/{id}', () => {
  const YEAR = { key: 'year', type: 'integer', min: 1900, max: 2100 };
  const FUEL = { key: 'fuel', type: 'enum', options: [{ value: 'gas' }, { value: 'lpg' }] };

  it.each<[string, object[]]>([
    ['removed', []],
    ['of tighter bounds', [{ ...YEAR, min: 1950 }]],
    ['unique', [{ ...YEAR, unique: true }]],
  ])(
    '409 field_in_use: a field of which even a soft-deleted record has a value is to be %s',
    async (_, fields) => {
      const vehicle = await world.define('vehicle', [YEAR]);
      const record = await world.add('vehicle', { year: 2020 });
      await world.add('vehicle', {});
      expectStatus(await world.delete('vehicle', record), 204);
      const problem = expectProblem(await world.redefine(vehicle, { fields }), 409, 'field_in_use');
      expect(problem).toMatchObject({ field: 'year', count: 1 });
      expectStatus(await world.delete('vehicle', record, '/purge'), 204);
      expectStatus(await world.redefine(vehicle, { fields }), 200);
    },
  );

  it('409 field_in_use: an option or a target of a field that is in use', async () => {
    const other = await world.define('other');
    const vehicle = await world.define('vehicle', [FUEL, { key: 'of', type: 'reference', target: other.id }]);
    const target = await world.add('other', {});
    const record = await world.add('vehicle', { fuel: 'gas', of: target.id });
    const fields = [{ ...FUEL, options: [{ value: 'gas' }] }, vehicle.fields[1]].map(withoutState);
    expectProblem(await world.redefine(vehicle, { fields }), 409, 'field_in_use');
    const retargeted = [FUEL, { key: 'of', type: 'reference', target: vehicle.id }];
    expectProblem(await world.redefine(vehicle, { fields: retargeted }), 409, 'field_in_use');
    expectStatus(await world.patch('vehicle', record, { fuel: null, of: null }), 200);
    expectStatus(await world.redefine(vehicle, { fields: retargeted }), 200);
  });

  it('archives what is in use, and the other way round', async () => {
    const vehicle = await world.define('vehicle', [YEAR]);
    const record = await world.add('vehicle', { year: 2020 });
    expectStatus(await world.redefine(vehicle, { fields: [{ ...YEAR, archived: true }] }), 200);
    expect((await world.get('vehicle', record)).body.values).toEqual({});
    const refused = expectProblem(
      await world.patch('vehicle', record, { year: 1 }),
      400,
      'validation_failed',
    );
    expect(refused.errors).toEqual([
      expect.objectContaining({ pointer: '/values/year', code: 'not_allowed' }),
    ]);
    expectStatus(await world.redefine(vehicle, { fields: [YEAR] }), 200);
    expect((await world.get('vehicle', record)).body.values).toEqual({ year: 2020 });
  });

  it('409 records_incompatible: active records lack what is to be required', async () => {
    const vehicle = await world.define('vehicle', [YEAR]);
    const lacking = await world.add('vehicle', {});
    await world.add('vehicle', { year: 2020 });
    const required = { fields: [{ ...YEAR, required: true }] };
    const problem = expectProblem(await world.redefine(vehicle, required), 409, 'records_incompatible');
    expect(problem).toMatchObject({ field: 'year', count: 1 });
    expectStatus(await world.delete('vehicle', lacking), 204);
    expectStatus(await world.redefine(vehicle, required), 200);
    const restored = expectProblem(await world.restore('vehicle', lacking), 409, 'records_incompatible');
    expect(restored).toMatchObject({ field: 'year', count: 1 });
  });

  it('never changes a slug or a type', async () => {
    const vehicle = await world.define('vehicle', [YEAR]);
    const slug = expectProblem(await world.redefine(vehicle, { slug: 'car' }), 400, 'validation_failed');
    expect(slug.errors).toEqual([expect.objectContaining({ pointer: '/slug', code: 'immutable' })]);
    const type = expectProblem(
      await world.redefine(vehicle, { fields: [{ key: 'year', type: 'date' }] }),
      400,
      'validation_failed',
    );
    expect(type.errors).toEqual([expect.objectContaining({ pointer: '/fields/0/type', code: 'immutable' })]);
  });
});

describe('a soft-deleted definition', () => {
  it('is 404 by slug; by its id records are read, deleted and purged, but not written', async () => {
    const vehicle = await world.define('vehicle', [{ key: 'year', type: 'integer' }]);
    const [first, second] = [
      await world.add('vehicle', { year: 1 }),
      await world.add('vehicle', { year: 2 }),
    ];
    expectStatus(await world.delete('vehicle', second), 204);
    expectStatus(await world.caller.delete(`${DEFINITIONS}/${vehicle.id}`), 204);
    expectProblem(await world.get('vehicle', first), 404, 'not_found');
    expectProblem(await world.post('vehicle', {}), 404, 'not_found');
    expectProblem(await world.caller.get('/v1/crm/objects/vehicle'), 404, 'not_found');
    expect((await world.get(vehicle.id, first)).body).toEqual(first);
    expect(await world.column(vehicle.id, 'year', '?include_deleted=true')).toEqual([2, 1]);
    expectProblem(await world.post(vehicle.id, {}), 409, 'definition_deleted');
    expectProblem(await world.patch(vehicle.id, first, { year: 3 }), 409, 'definition_deleted');
    expectProblem(await world.restore(vehicle.id, second), 409, 'definition_deleted');
    const purge = `${DEFINITIONS}/${vehicle.id}/purge`;
    const held = expectProblem(await world.caller.delete(purge), 409, 'resource_referenced');
    expect(held['references']).toEqual([{ module: 'crm', resource: 'objects', count: 2 }]);
    expectStatus(await world.delete(vehicle.id, first), 204);
    for (const record of [first, second]) expectStatus(await world.delete(vehicle.id, record, '/purge'), 204);
    expectStatus(await world.caller.delete(purge), 204);
  });

  it('cannot be purged while it is another’s target', async () => {
    const vehicle = await world.define('vehicle');
    await world.define('policy', [{ key: 'of', type: 'reference', target: vehicle.id }]);
    expectStatus(await world.caller.delete(`${DEFINITIONS}/${vehicle.id}`), 204);
    const held = expectProblem(
      await world.caller.delete(`${DEFINITIONS}/${vehicle.id}/purge`),
      409,
      'resource_referenced',
    );
    expect(held['references']).toEqual([{ module: 'crm', resource: 'object_definitions', count: 1 }]);
  });
});

/** A field as it is sent back: without what the service sets. */
function withoutState(field: object | undefined): object {
  const { index_state: _, index_progress: __, ...given } = (field ?? {}) as Record<string, unknown>;
  return given;
}
