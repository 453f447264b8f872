import { jest } from '@jest/globals';
import { Database } from '@customer-platform/database';
import { expectProblem, expectStatus, type Caller } from '@customer-platform/testing';
import { merge, undo } from '../../people/merges/merge.fixture.js';
import { SegmentFollower } from '../../following/segment-follower.js';
import { PreviewSlots } from '../../previews/preview-slots.js';
import { TimeLimit } from '../../previews/time-limit.js';
import { SegmentWorld } from '../../segments/segment.fixture.js';
import type { AttributeDefinitionDto, ConversionOutcomeDto } from '../attribute-definition.dto.js';
import {
  aContactWith,
  attributesOf,
  CONTACTS,
  declared,
  DEFINITIONS,
  manyContacts,
  readDefinition,
  runnerOf,
} from '../attribute.fixture.js';
import { AttributesModule } from '../attributes.module.js';

/** More than a request goes through by itself. */
const MANY = 450;

let world: SegmentWorld;
let id: string;
let caller: Caller;
beforeAll(async () => {
  world = await SegmentWorld.start();
}, 60_000);
beforeEach(() => {
  ({ id, caller } = world.anOrganization());
});
afterEach(() => runnerOf(world).runAll());
afterAll(() => world.close());

const at = ({ id: definition }: { id: string }, query = '') => `${DEFINITIONS}/${definition}${query}`;

async function patched(
  definition: { id: string },
  body: Record<string, unknown>,
  query = '',
): Promise<AttributeDefinitionDto> {
  const answer = await caller.patch<AttributeDefinitionDto>(at(definition, query), body);
  expectStatus(answer, 200);
  return answer.body;
}

/** Reads the fields that the audit rows of a definition's changes name, the first change first. */
async function changesToldOf({ id: definition }: { id: string }): Promise<string[][]> {
  const rows = await world.core.database.query<{ changed_fields: string[] }>(
    `SELECT changed_fields FROM audit_entries
      WHERE organization_id = $1 AND resource_id = $2 AND action = 'core.attributes.update' ORDER BY id`,
    [id, definition],
  );
  return rows.map(({ changed_fields: fields }) => fields.sort());
}

describe('PATCH of the type', () => {
  it('is told of by the fields that it changes', async () => {
    const definition = await declared(caller, 'size', 'string', { max_length: 5, enum: ['a', 'b'] });
    await patched(definition, { max_length: 2 });
    await patched(definition, { label: 'Size', enum: ['a'] });
    await patched(definition, { max_length: 9 });
    await patched(definition, { type: 'string_list' });
    expect(await changesToldOf(definition)).toEqual([
      ['max_length'],
      ['enum', 'label'],
      ['max_length'],
      ['type'],
    ]);
  });

  it('shows, converts, and tells of it', async () => {
    const definition = await declared(caller, 'size', 'string', { max_length: 5 });
    const ana = await aContactWith(caller, 'ana', { size: '42' });
    const dry = await caller.patch<ConversionOutcomeDto>(at(definition, '?dry_run=true'), {
      type: 'integer',
    });
    expect(dry.body).toEqual({ convertible: 1, unconvertible: 0, complete: true, samples: [] });
    expect(await readDefinition(caller, definition)).toEqual(definition);
    const changed = await patched(definition, { type: 'integer' });
    expect(changed).toMatchObject({ type: 'integer', max_length: null, conversion: null });
    expect(changed.updated_at > definition.updated_at).toBe(true);
    expect(await attributesOf(caller, ana)).toEqual({ size: 42 });
    const told = await world.outbox<{ type: string; data: Record<string, unknown> }>(id);
    expect(told.filter(({ type }) => type === 'core.attribute.migrated.v1')).toMatchObject([
      {
        data: {
          ...{ attribute_id: definition.id, key: 'size', from: 'string', to: 'integer' },
          counts: { total: 1, converted: 1, cleared: 0 },
        },
      },
    ]);
    expect(told.filter(({ type }) => type === 'core.contact.updated.v1')).toMatchObject([
      { data: { contact_id: ana.id, version: 2, changed_fields: ['attributes.size'] } },
    ]);
  });

  it('409 where values would be lost, and nothing is changed; clears them where told', async () => {
    const definition = await declared(caller, 'size', 'string');
    const ana = await aContactWith(caller, 'ana', { size: 'large' });
    const refused = await caller.patch(at(definition), { type: 'integer' });
    expect(expectProblem(refused, 409, 'attribute_migration_conflict')).toMatchObject({
      ...{ convertible: 0, unconvertible: 1, samples: [{ contact_id: ana.id, value: '"large"' }] },
    });
    expect(await readDefinition(caller, definition)).toEqual(definition);
    expect(await patched(definition, { type: 'integer' }, '?on_failure=clear')).toMatchObject({
      type: 'integer',
    });
    expect(await attributesOf(caller, ana)).toEqual({});
  });

  it('asks the same of tighter bounds, and lets looser ones hold at once', async () => {
    const definition = await declared(caller, 'size', 'integer', { max: 10 });
    await aContactWith(caller, 'ana', { size: 9 });
    expectProblem(await caller.patch(at(definition), { max: 5 }), 409, 'attribute_migration_conflict');
    expect(await patched(definition, { max: null, label: 'Size' })).toMatchObject({
      max: null,
      label: 'Size',
    });
    await aContactWith(caller, 'bea', { size: 11 });
    expect(await patched(definition, { max: 11 })).toMatchObject({ max: 11, conversion: null });
    expect((await world.outbox<{ type: string }>(id)).map(({ type }) => type)).not.toContain(
      'core.attribute.migrated.v1',
    );
  });
});

describe('the conversion of many contacts', () => {
  it('goes piece by piece; segments stand still until it has ended, and follow the declared type from then on', async () => {
    await manyContacts(world, id, MANY);
    const definition = await declared(caller, 'size', 'string');
    await runnerOf(world).runAll();
    const rule = { attribute: 'attributes.size', op: 'in', value: ['1', '007', 7, MANY] };
    const segment = await world.segment(caller, rule);
    const other = await world.segment(caller, { attribute: 'first_name', op: 'exists', value: true });
    const before = await world.inside(caller, segment);
    expect(before).toEqual(['person-1', 'person-450', 'person-7']);
    await aContactWith(caller, 'seven', { size: '007' });
    await world.evaluate();

    const begun = await patched(definition, { type: 'integer' }, '?on_failure=clear');
    expect(begun).toMatchObject({
      type: 'string',
      conversion: { state: 'converting', total: MANY + 1, to: { type: 'integer' } },
    });
    expectProblem(await caller.patch(at(definition), { type: 'boolean' }), 409, 'invalid_state');
    expectProblem(await caller.delete(at(definition)), 409, 'invalid_state');
    const held = await world.inside(caller, segment);
    expect(held).toEqual([...before, 'seven']);
    let processed = begun.conversion?.processed ?? 0;
    for (let step = 0; step < 20; step += 1) {
      const { conversion } = await readDefinition(caller, definition);
      if (!conversion) break;
      await world.evaluate();
      expect(await world.inside(caller, segment)).toEqual(held);
      expect(await world.read(caller, segment.id)).toMatchObject({ state: 'building' });
      expect(await world.read(caller, other.id)).toMatchObject({ state: 'ready' });
      expect(conversion.processed).toBeGreaterThanOrEqual(processed);
      ({ processed } = conversion);
      await runnerOf(world).runNext();
    }
    expect(await readDefinition(caller, definition)).toMatchObject({ type: 'integer', conversion: null });
    await world.evaluate();
    expect(await world.inside(caller, segment)).toEqual(['person-1', 'person-450', 'person-7']);
    expect(await world.read(caller, segment.id)).toMatchObject({ state: 'ready' });
    const [counts] = await world.core.database.query<{ numbers: number; others: number }>(
      `SELECT count(*) FILTER (WHERE jsonb_typeof(attributes -> 'size') = 'number')::int AS numbers,
              count(*) FILTER (WHERE jsonb_typeof(attributes -> 'size') <> 'number')::int AS others
         FROM contacts WHERE organization_id = $1`,
      [id],
    );
    expect(counts).toEqual({ numbers: MANY, others: 0 });
  }, 60_000);

  it('takes what is written meanwhile by the declared type, and stores it as what it will be', async () => {
    await manyContacts(world, id, MANY);
    const definition = await declared(caller, 'size', 'string');
    await runnerOf(world).runAll();
    expect(await patched(definition, { type: 'integer' })).toMatchObject({
      conversion: { state: 'verifying' },
    });
    const ana = await aContactWith(caller, 'ana', { size: '5' });
    expect(ana.attributes).toEqual({ size: 5 });
    const post = (size: unknown) => caller.post(CONTACTS, { external_id: 'bea', attributes: { size } });
    expectProblem(await post('five'), 400, 'attribute_type_mismatch');
    expectProblem(await post(5), 400, 'attribute_type_mismatch');
    await world.store(id, [{ externalId: 'person-1', at: world.now(), traits: { size: '11' } }]);
    const preview = await caller.post<{ count: number }>('/v1/core/segments/preview', {
      rule: { attribute: 'attributes.size', op: 'eq', value: 11 },
    });
    expect(preview.body.count).toBe(2);
    await runnerOf(world).runAll();
    expect(await readDefinition(caller, definition)).toMatchObject({ type: 'integer', conversion: null });
    expect((await post(5)).status).toBe(201);
  }, 60_000);

  it('changes nothing where a value was written just before that would be lost', async () => {
    await manyContacts(world, id, MANY);
    const definition = await declared(caller, 'size', 'string');
    await runnerOf(world).runAll();
    const lose = (): Promise<unknown> =>
      world.core.database.query(
        `UPDATE contacts SET attributes = '{"size": "large"}'
          WHERE organization_id = $1 AND id = (SELECT max(id::text)::uuid FROM contacts WHERE organization_id = $1)`,
        [id],
      );
    await patched(definition, { type: 'integer' });
    await lose();
    await runnerOf(world).runAll();
    expect(await readDefinition(caller, definition)).toMatchObject({ type: 'string', conversion: null });
    const [numbers] = await world.core.database.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM contacts WHERE organization_id = $1 AND jsonb_typeof(attributes -> 'size') = 'number'`,
      [id],
    );
    expect(numbers).toEqual({ count: 0 });

    const fresh = await declared(caller, 'other', 'integer');
    await world.core.database.query(
      `UPDATE contacts SET attributes = '{"other": "x"}' WHERE organization_id = $1`,
      [id],
    );
    await runnerOf(world).runAll();
    expect((await readDefinition(caller, fresh)).deleted_at).not.toBeNull();
  }, 60_000);
});

describe('where there is no time for all contacts', () => {
  /** Time for so many statements. */
  const timeFor = (statements: number): void => {
    const attempt: TimeLimit['attempt'] = Reflect.get(TimeLimit.prototype, 'attempt');
    let left = statements;
    const limited: TimeLimit['attempt'] = function (this: TimeLimit, ...given) {
      left -= 1;
      return left < 0 ? Promise.resolve(undefined) : (attempt.apply(this, given) as Promise<undefined>);
    };
    jest.spyOn(TimeLimit.prototype, 'attempt').mockImplementation(limited);
  };
  afterEach(() => jest.restoreAllMocks());

  it('a dry run answers what it came to', async () => {
    await manyContacts(world, id, MANY);
    timeFor(3);
    const dry = await caller.post(DEFINITIONS, { key: 'size', type: 'integer', dry_run: true });
    expect(dry.body).toEqual({ convertible: 200, unconvertible: 0, complete: false, samples: [] });
  });

  it('a change leaves the rest to the conversion, which changes nothing where a value would be lost', async () => {
    const definition = await declared(caller, 'size', 'string');
    await manyContacts(world, id, MANY);
    await world.core.database.query(
      `UPDATE contacts SET attributes = '{"size": "large"}'
        WHERE organization_id = $1 AND id = (SELECT max(id::text)::uuid FROM contacts WHERE organization_id = $1)`,
      [id],
    );
    timeFor(2);
    expect(await patched(definition, { type: 'integer' })).toMatchObject({
      conversion: { state: 'verifying', total: MANY, processed: 400 },
    });
    await runnerOf(world).runAll();
    expect(await readDefinition(caller, definition)).toMatchObject({ type: 'string', conversion: null });
  });

  it('429 to a dry run while as many are worked on as may be; a change looks at the first contacts', async () => {
    const slots = world.core.app.app.select(AttributesModule).get(PreviewSlots, { strict: true });
    const { promise, resolve } = Promise.withResolvers<void>();
    const held = ['a', 'b', 'c', 'd', 'e'].map((other) =>
      slots.hold({ organizationId: other, organization: {} }, () => promise),
    );
    const body = { key: 'size', type: 'integer', dry_run: true };
    await aContactWith(caller, 'ana', { size: 'large' });
    expectProblem(await caller.post(DEFINITIONS, body), 429, 'rate_limited');
    const change = await caller.post(DEFINITIONS, { ...body, dry_run: false });
    expectProblem(change, 409, 'attribute_migration_conflict');
    resolve();
    await Promise.all(held);
    expectStatus(await caller.post(DEFINITIONS, body), 200);
  });
});

describe('the runner', () => {
  const beginMany = async (organization: { id: string; caller: Caller }): Promise<AttributeDefinitionDto> => {
    await manyContacts(world, organization.id, MANY);
    return declared(organization.caller, 'size', 'integer', { on_failure: 'clear' });
  };

  it('waits while events are not published', async () => {
    const definition = await beginMany({ id, caller });
    const before = await readDefinition(caller, definition);
    expect(before.conversion).not.toBeNull();
    await world.core.database.query(`UPDATE outbox SET created_at = now() - interval '1 minute'`);
    await runnerOf(world).runPublished();
    expect(await readDefinition(caller, definition)).toEqual(before);
    await world.core.database.query('DELETE FROM outbox');
    await runnerOf(world).runAll();
    expect(await readDefinition(caller, definition)).toMatchObject({ conversion: null });
  });

  it('passes over what another works on', async () => {
    const one = await beginMany({ id, caller });
    const other = world.anOrganization();
    const second = await beginMany(other);
    const before = [await readDefinition(caller, one), await readDefinition(other.caller, second)];
    const database = world.core.app.app.get(Database, { strict: false });
    await database.acrossOrganizations(async (tx) => {
      await tx.query('SELECT FROM attribute_conversions WHERE definition_id = $1 FOR UPDATE', [one.id]);
      await runnerOf(world).runNext();
    });
    expect(await readDefinition(caller, one)).toEqual(before[0]);
    expect(await readDefinition(other.caller, second)).not.toEqual(before[1]);
  });
});

describe('at once', () => {
  it('a definition and those who write what it forbids: none of it is left where it stands', async () => {
    for (let round = 0; round < 5; round += 1) {
      const key = `size_${round}`;
      const create = caller.post(DEFINITIONS, { key, type: 'integer' });
      const writes = Array.from({ length: 6 }, (_, n) =>
        caller.post(CONTACTS, { external_id: `${round}-${n}`, attributes: { [key]: 'large' } }),
      );
      const answers = await Promise.all([create, ...writes]);
      await runnerOf(world).runAll();
      expect(answers.every(({ status }) => [201, 400, 409].includes(status))).toBe(true);
      const { body } = await caller.get<{ data: AttributeDefinitionDto[] }>(`${DEFINITIONS}?key=${key}`);
      const rows = await world.core.database.query(
        `SELECT 1 FROM contacts WHERE organization_id = $1 AND attributes ->> $2 = 'large'`,
        [id, key],
      );
      expect(body.data.length === 0 || rows.length === 0).toBe(true);
    }
  });

  it('a definition that is made while an event is processed: the event is checked by it', async () => {
    const follower = world.core.app.app.get(SegmentFollower, { strict: false });
    const stored = follower.eventsStored.bind(follower);
    const spy = jest.spyOn(follower, 'eventsStored').mockImplementationOnce(async (tx, events) => {
      await declared(caller, 'size', 'integer');
      return stored(tx, events);
    });
    await world.store(id, [
      { externalId: 'ana', at: world.now(-1_000), traits: { size: 'large', plan: 'pro' } },
    ]);
    spy.mockRestore();
    const found = await caller.get<{ data: { attributes: unknown }[] }>(`${CONTACTS}?external_id=ana`);
    expect(found.body.data).toMatchObject([{ attributes: { plan: 'pro' } }]);
    const { body } = await caller.get<{ data: { warnings: unknown }[] }>('/v1/core/events');
    expect(body.data).toMatchObject([
      { warnings: [{ pointer: '/traits/size', code: 'attribute_type_mismatch' }] },
    ]);
  });
});

describe('merges', () => {
  it('bring nothing back by their undo that a definition refuses since', async () => {
    const ana = await aContactWith(caller, 'ana', { size: 'large', plan: 'pro' });
    const bea = await aContactWith(caller, 'bea', { size: 'small' });
    const done = await merge(caller, ana, bea, { keep: { 'attributes.size': 'merged' } });
    await declared(caller, 'size', 'string', { enum: ['small'], on_failure: 'clear' });
    await undo(caller, done);
    expect(await attributesOf(caller, ana)).toEqual({ plan: 'pro' });
    expect(await attributesOf(caller, bea)).toEqual({ size: 'small' });
  });
});

describe('segments', () => {
  it('compare by the declared type, from the definition to its deletion', async () => {
    await aContactWith(caller, 'ana', { age: 42, at: '2026-01-31T12:00:00-03:00' });
    const older = await world.segment(caller, { attribute: 'attributes.age', op: 'eq', value: '42' });
    const then = await world.segment(caller, {
      attribute: 'attributes.at',
      op: 'eq',
      value: '2026-01-31T15:00:00Z',
    });
    const inside = async () => [await world.inside(caller, older), await world.inside(caller, then)];
    expect(await inside()).toEqual([[], []]);
    const definition = await declared(caller, 'age', 'integer');
    await declared(caller, 'at', 'datetime');
    await world.evaluate();
    expect(await inside()).toEqual([['ana'], ['ana']]);
    expectStatus(await caller.delete(at(definition)), 204);
    await world.evaluate();
    expect(await inside()).toEqual([[], ['ana']]);
    expect(await world.told(id)).toEqual(expect.arrayContaining([expect.stringContaining('rule_change')]));
  });
});
