import {
  expectProblem,
  expectStatus,
  itBehavesLikeASoftDeletableResource,
  type Caller,
} from '@customer-platform/testing';
import { SEGMENTS, SegmentWorld } from '../segments/segment.fixture.js';
import type { AttributeDefinitionDto, ConversionOutcomeDto } from './attribute-definition.dto.js';
import {
  aContactWith,
  attributesOf,
  CONTACTS,
  declared,
  DEFINITIONS,
  readDefinition,
} from './attribute.fixture.js';

let world: SegmentWorld;
let id: string;
let caller: Caller;
beforeAll(async () => {
  world = await SegmentWorld.start();
}, 60_000);
beforeEach(() => {
  ({ id, caller } = world.anOrganization());
});
afterAll(() => world.close());

describe('/v1/core/attribute-definitions', () => {
  itBehavesLikeASoftDeletableResource({
    app: () => world.core.app,
    path: DEFINITIONS,
    permissions: {
      read: 'core.attributes.read',
      create: 'core.attributes.create',
      update: 'core.attributes.update',
      delete: 'core.attributes.delete',
      purge: 'core.attributes.purge',
    },
    // Listed by key: the newest comes first.
    body: (number) => ({ key: `attribute_${999_999 - number}`, type: 'string' }),
    patch: (number) => ({ label: `Attribute ${number}` }),
    unique: 'key',
  });
});

/** So many numbers that have hundreds of digits where they are stored. */
const tiny = (count: number): number[] => Array.from({ length: count }, (_, n) => Number(`${n + 1}e-300`));

/** So many that differ. */
const texts = (count: number, text: string): string[] =>
  Array.from({ length: count }, (_, n) => `${text}${String(n)}`);

describe('POST /v1/core/attribute-definitions', () => {
  it('answers what was declared, the key as label unless given', async () => {
    const body = await declared(caller, 'plan', 'string', { enum: ['free', 'pro'], member_visible: true });
    expect(body).toMatchObject({
      ...{ key: 'plan', label: 'plan', type: 'string', enum: ['free', 'pro'] },
      ...{ max_length: null, min: null, max: null, member_visible: true, conversion: null },
    });
    expect(await readDefinition(caller, body)).toEqual(body);
  });

  it.each([
    [{ key: 'email', type: 'string' }, '/key', 'not_allowed'],
    [{ key: 'a.b', type: 'string' }, '/key', 'invalid_format'],
    [{ key: 'plan', type: 'text' }, '/type', 'invalid_enum'],
    [{ key: 'plan', type: 'boolean', max_length: 3 }, '/max_length', 'not_allowed'],
    [{ key: 'plan', type: 'string', min: 3 }, '/min', 'not_allowed'],
    [{ key: 'plan', type: 'integer', min: 1.5 }, '/min', 'wrong_type'],
    [{ key: 'plan', type: 'number', min: 2, max: 1 }, '/max', 'out_of_range'],
    [{ key: 'plan', type: 'number', max: 2 ** 53 }, '/max', 'out_of_range'],
    [{ key: 'plan', type: 'string', enum: ['a', 1] }, '/enum/1', 'wrong_type'],
    [{ key: 'plan', type: 'string', enum: ['a', 'a'] }, '/enum', 'duplicate_item'],
    [{ key: 'plan', type: 'string', enum: ['a', 'b'.repeat(201)] }, '/enum/1', 'too_long'],
    [{ key: 'plan', type: 'string_list', enum: texts(150, 'é'.repeat(60)) }, '/enum', 'too_long'],
    [{ key: 'plan', type: 'number', enum: tiny(60) }, '/enum', 'too_long'],
  ])('400 for %j', async (body, pointer, code) => {
    const { errors } = expectProblem(await caller.post(DEFINITIONS, body), 400, 'validation_failed');
    expect(errors).toMatchObject([{ pointer, code }]);
  });

  it('takes as many allowed values as there may be, of which the table takes no more either', async () => {
    const known = texts(200, 'ab"\\'.repeat(10));
    const { id: definition } = await declared(caller, 'plan', 'string', { enum: known });
    for (const column of ['enum', 'next'])
      await expect(
        world.core.database.query(
          `UPDATE attribute_definitions SET ${column} = to_jsonb(repeat('a', 20480)) WHERE id = $1`,
          [definition],
        ),
      ).rejects.toThrow('check constraint');
  });

  it('409 limit_reached for the 201st, however many come at once', async () => {
    await world.core.database.query(
      `INSERT INTO attribute_definitions (organization_id, id, key, label, type, member_visible, created_at, updated_at)
       SELECT $1, gen_random_uuid(), 'a' || n, 'a', 'string', false, now(), now() FROM generate_series(1, 198) AS n`,
      [id],
    );
    const answers = await Promise.all(
      Array.from({ length: 4 }, (_, n) => caller.post(DEFINITIONS, { key: `b${n}`, type: 'string' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409]);
    const refused = answers.find(({ status }) => status === 409);
    if (refused) expectProblem(refused, 409, 'limit_reached');
  });

  it('goes through what contacts have: shows it, refuses to lose, clears where told', async () => {
    const ana = await aContactWith(caller, 'ana', { age: '42' });
    const bea = await aContactWith(caller, 'bea', { age: 'old' });
    const body = { key: 'age', type: 'integer' };
    const shown = await caller.post<ConversionOutcomeDto>(DEFINITIONS, { ...body, dry_run: true });
    expectStatus(shown, 200);
    const outcome = {
      ...{ convertible: 1, unconvertible: 1, complete: true },
      samples: [{ contact_id: bea.id, value: '"old"', code: 'attribute_type_mismatch' }],
    };
    expect(shown.body).toEqual(outcome);
    expect(
      expectProblem(await caller.post(DEFINITIONS, body), 409, 'attribute_migration_conflict'),
    ).toMatchObject(outcome);
    expect((await caller.get<{ data: [] }>(DEFINITIONS)).body.data).toEqual([]);
    await declared(caller, 'age', 'integer', { on_failure: 'clear' });
    expect(await attributesOf(caller, ana)).toEqual({ age: 42 });
    expect(await attributesOf(caller, bea)).toEqual({});
  });

  it('shows values to those who may read contacts only', async () => {
    await aContactWith(caller, 'ana', { age: 'old' });
    const other = world.core.app.as(id, ['core.attributes.create']);
    const body = { key: 'age', type: 'integer', dry_run: true };
    const { samples } = (await other.post<ConversionOutcomeDto>(DEFINITIONS, body)).body;
    expect(samples).toEqual([]);
  });
});

describe('what is written', () => {
  const good = {
    ...{ text: 'a', whole: 1, part: 1.5, yes: true, day: '2026-01-31', list: ['a', 'b'] },
    at: '2026-01-31T12:00:00-03:00',
  };
  const types = { text: 'string', whole: 'integer', part: 'number', yes: 'boolean', day: 'date' };

  beforeEach(async () => {
    for (const [key, type] of Object.entries({ ...types, at: 'datetime', list: 'string_list' }))
      await declared(caller, key, type);
  });

  it('fits its definition, and what has none is kept as sent', async () => {
    const ana = await aContactWith(caller, 'ana', { ...good, other: { a: ['42', 42] } });
    expect(ana.attributes).toEqual({ ...good, at: '2026-01-31T15:00:00.000Z', other: { a: ['42', 42] } });
    const bad = {
      text: 1,
      whole: '1',
      part: '1.5',
      yes: 'true',
      day: '2026-02-30',
      at: '2026-01-31',
      list: 'a',
    };
    const answers = [
      await caller.post(CONTACTS, { external_id: 'bea', attributes: bad }),
      await caller.patch(`${CONTACTS}/${ana.id}`, { attributes: bad }),
    ];
    for (const answer of answers) {
      const { errors } = expectProblem(answer, 400, 'attribute_type_mismatch');
      expect(errors?.map(({ pointer }) => pointer).sort()).toEqual(
        Object.keys(bad)
          .map((key) => `/attributes/${key}`)
          .sort(),
      );
    }
    expect(await attributesOf(caller, ana)).toEqual(ana.attributes);
    expectStatus(await caller.patch(`${CONTACTS}/${ana.id}`, { attributes: { text: null } }), 200);
  });

  it('is within the bounds of its definition, with the code of each', async () => {
    await declared(caller, 'plan', 'string', { enum: ['free', 'pro'] });
    await declared(caller, 'code', 'string', { max_length: 2 });
    await declared(caller, 'age', 'integer', { min: 0, max: 150 });
    const attributes = { plan: 'gold', code: 'abc', age: 151 };
    const { errors } = expectProblem(
      await caller.post(CONTACTS, { external_id: 'bea', attributes }),
      400,
      'validation_failed',
    );
    expect(errors).toMatchObject([
      { pointer: '/attributes/plan', code: 'invalid_enum' },
      { pointer: '/attributes/code', code: 'too_long' },
      { pointer: '/attributes/age', code: 'out_of_range' },
    ]);
    expect(
      (await aContactWith(caller, 'bea', { plan: 'pro', code: 'ab', age: 150 })).attributes,
    ).toMatchObject({
      plan: 'pro',
    });
  });

  it('by an identify leaves out what does not fit, with a warning', async () => {
    const traits = {
      whole: '1',
      text: 'b',
      at: '2026-01-31T12:00:00-03:00',
      first_name: 'Ana',
    };
    await world.store(id, [{ externalId: 'ana', at: '2026-01-15T12:00:00Z', traits }]);
    const { body } = await caller.get<{ data: { warnings: unknown }[] }>('/v1/core/events');
    expect(body.data[0]?.warnings).toEqual([{ pointer: '/traits/whole', code: 'attribute_type_mismatch' }]);
    const found = await caller.get<{ data: { attributes: unknown }[] }>(`${CONTACTS}?external_id=ana`);
    expect(found.body.data).toMatchObject([
      { first_name: 'Ana', attributes: { text: 'b', at: '2026-01-31T15:00:00.000Z' } },
    ]);
  });

  it('of another organization is its own affair', async () => {
    const other = world.anOrganization().caller;
    expect((await aContactWith(other, 'ana', { whole: 'one' })).attributes).toEqual({ whole: 'one' });
  });
});

describe('DELETE and restore', () => {
  it('ends the check, and begins it again with what was written meanwhile', async () => {
    const { id: definition } = await declared(caller, 'age', 'integer');
    expectStatus(await caller.delete(`${DEFINITIONS}/${definition}`), 204);
    const ana = await aContactWith(caller, 'ana', { age: 'old' });
    const restore = `${DEFINITIONS}/${definition}/restore`;
    expectProblem(await caller.post(restore), 409, 'attribute_migration_conflict');
    const shown = await caller.post(`${restore}?dry_run=true`);
    expect(shown.body).toMatchObject({ convertible: 0, unconvertible: 1 });
    expectStatus(await caller.post(`${restore}?on_failure=clear`), 200);
    expect(await attributesOf(caller, ana)).toEqual({});
    expectProblem(
      await caller.patch(`${CONTACTS}/${ana.id}`, { attributes: { age: 'old' } }),
      400,
      'attribute_type_mismatch',
    );
  });

  it('409 resource_referenced on purge while a segment asks for the attribute', async () => {
    const definition = await declared(caller, 'age', 'integer');
    const segment = await world.segment(caller, { attribute: 'attributes.age', op: 'gt', value: 1 });
    expectStatus(await caller.delete(`${DEFINITIONS}/${definition.id}`), 204);
    const purge = `${DEFINITIONS}/${definition.id}/purge`;
    expect(expectProblem(await caller.delete(purge), 409, 'resource_referenced')['references']).toEqual([
      { module: 'core', resource: 'segments', count: 1 },
    ]);
    expectStatus(await caller.delete(`${SEGMENTS}/${segment.id}`), 204);
    expectStatus(await caller.delete(purge), 204);
  });
});

describe('GET /v1/core/attribute-definitions', () => {
  it('filters by key and type, and sorts by key', async () => {
    for (const [key, type] of [
      ['beta', 'string'],
      ['alpha', 'integer'],
      ['gamma', 'string'],
    ] as const)
      await declared(caller, key, type);
    const keys = async (query: string) => {
      const answer = await caller.get<{ data: AttributeDefinitionDto[] }>(`${DEFINITIONS}?${query}`);
      expectStatus(answer, 200);
      return answer.body.data.map(({ key }) => key);
    };
    expect(await keys('')).toEqual(['alpha', 'beta', 'gamma']);
    expect(await keys('type=string&sort=-key')).toEqual(['gamma', 'beta']);
    expect(await keys('key[prefix]=al')).toEqual(['alpha']);
  });
});
