import { newId, ReferenceHolds } from '@customer-platform/database';
import { Problem } from '@customer-platform/problem-json';
import { changed, merged, startThings, type Behaviour, type Things } from './contact-refs.fixture.js';
import type { Memory } from './things.module.js';

describe.each<Memory>(['ids', 'hashes'])('references of a module that remembers erased %s', (memory) => {
  let things: Things;
  let organizationId: string;
  beforeAll(async () => {
    things = await startThings(memory);
  });
  afterAll(() => things.close());
  beforeEach(() => {
    things.core.reset();
    organizationId = newId();
  });

  const known = async (...ids: string[]): Promise<void> =>
    things.follower.changed(ids.map((id) => changed(organizationId, id, 1)));
  const refer = (id: string): Promise<string> =>
    things.references.refer(organizationId, { id, pointer: '/contact_id' }, async (tx, contactId) => {
      await tx.query('INSERT INTO things VALUES ($1, $2, $3, $3)', [organizationId, newId(), contactId]);
      return contactId;
    });
  const refused = async (promise: Promise<unknown>): Promise<unknown> => {
    const error: unknown = await promise.catch((thrown: unknown) => thrown);
    return error instanceof Problem ? error.code : error;
  };
  const holdersOf = async (): Promise<string[]> => {
    const rows = await things.database.query<{ id: string }>(
      'SELECT contact_id AS id FROM things WHERE organization_id = $1',
      [organizationId],
    );
    return rows.map(({ id }) => id);
  };

  const silent: [string, Behaviour][] = [
    ['is slow', 'slowly'],
    ['hangs up', 'hangs up'],
    ['answers 500', { status: 500 }],
    ['refuses', { status: 403 }],
    ['does not know the route', { status: 404 }],
    ['sends no JSON', { text: '<html>' }],
    ['sends something else', { text: '{"data": [{"id": "1"}]}' }],
    ['answers what is no list', { text: '{"data": {}}' }],
  ];

  it.each(silent)('of an unknown contact, while core %s: 503, nothing written', async (_, behaviour) => {
    const { id } = things.core.aContact(organizationId);
    things.core.behaviour = behaviour;
    expect(await refused(refer(id))).toBe('dependency_unavailable');
    expect(await refused(things.references.survivorOf(organizationId, id))).toBe('dependency_unavailable');
    expect(await things.known(organizationId)).toEqual([]);
    expect(await holdersOf()).toEqual([]);
  });

  it('of a contact that core answers oddly are 503, and of the others in the same answer what they are', async () => {
    const { core, references } = things;
    const [there, odd, absent] = [core.aContact(organizationId).id, newId(), newId()];
    core.behaviour = { oddly: [{ id: odd, state: 'merged', version: 1 }] };
    const given = await references.referAll(organizationId, [odd, there, absent], async (_tx, all) => all);
    expect(given).toEqual([
      { code: 'dependency_unavailable' },
      { contactId: there },
      { code: 'reference_not_found' },
    ]);
    expect(await refused(refer(odd))).toBe('dependency_unavailable');
    expect(await refused(references.survivorOf(organizationId, odd))).toBe('dependency_unavailable');
    core.behaviour = 'hangs up';
    expect(await refer(there)).toBe(there);
    core.behaviour = { oddly: [null] };
    const resolved = await references.resolve(organizationId, [there, absent]);
    expect([resolved.get(there)?.kind, resolved.get(absent)?.kind]).toEqual(['present', 'unreadable']);
  });

  it('take a thousand ids and ask core once for those that are not known', async () => {
    const { references, core } = things;
    const there = Array.from({ length: 400 }, () => core.aContact(organizationId).id);
    await references.resolve(organizationId, there.slice(0, 100));
    const unknown = Array.from({ length: 600 }, () => newId());
    const resolved = await references.resolve(organizationId, [...there, ...unknown]);
    expect(resolved.size).toBe(1_000);
    expect(there.every((id) => resolved.get(id)?.kind === 'present')).toBe(true);
    expect(unknown.every((id) => resolved.get(id)?.kind === 'absent')).toBe(true);
    expect(core.lookups.map((ids) => ids.length)).toEqual([100, 900]);
    await expect(references.resolve(organizationId, [...there, ...unknown, newId()])).rejects.toBeInstanceOf(
      RangeError,
    );
  });

  it('of a known contact ask nobody, though core is down; of an unknown one once', async () => {
    const [here, { id: there }] = [newId(), things.core.aContact(organizationId)];
    await known(here);
    expect(await refer(there)).toBe(there);
    things.core.behaviour = 'hangs up';
    for (const id of [here, there]) expect(await refer(id)).toBe(id);
    expect(things.core.lookups).toEqual([[there]]);
  });

  it('of a merged contact mean its survivor, though core names one after the other', async () => {
    const { core } = things;
    const last = core.aContact(organizationId).id;
    const middle = core.aContact(organizationId, { state: 'merged', merged_into: last }).id;
    const first = core.aContact(organizationId, { state: 'merged', merged_into: middle }).id;
    expect(await refer(first.toUpperCase())).toBe(last);
    expect(await things.references.survivorOf(organizationId, first)).toBe(last);
    expect(core.lookups).toEqual([[first], [middle], [last]]);
  });

  it('are refused: soft-deleted by one code, foreign, erased, purged and never there by another', async () => {
    const { core } = things;
    const deleted = core.aContact(organizationId, { state: 'deleted' }).id;
    const erased = core.aContact(organizationId, { state: 'erased' }).id;
    const into = core.aContact(organizationId, { state: 'merged', merged_into: erased }).id;
    expect(await refused(refer(deleted))).toBe('reference_deleted');
    expect(await things.references.survivorOf(organizationId, deleted)).toBe(deleted);
    for (const id of [erased, into, core.aContact(newId()).id, newId()]) {
      expect(await refused(refer(id))).toBe('reference_not_found');
      expect(await refused(things.references.survivorOf(organizationId, id))).toBe('not_found');
    }
  });

  it('of several are answered each by itself, in their order', async () => {
    const [here, gone] = [newId(), newId()];
    await known(here);
    await things.follower.changed([changed(organizationId, gone, 2, 'deleted')]);
    const ids = [gone, here, newId(), here.toUpperCase()];
    const answers = await things.references.referAll(organizationId, ids, async (_tx, given) => given);
    expect(answers).toEqual([
      { code: 'reference_deleted' },
      { contactId: here },
      { code: 'reference_not_found' },
      { contactId: here },
    ]);
  });

  it('are held back while core is about to purge the contact', async () => {
    const [id, other] = [newId(), newId()];
    await known(id, other);
    const held = { organizationId, resource: 'core.contacts', id };
    await things.app.app.get(ReferenceHolds).countAndHold(held, newId(), 10_000);
    expect(await refused(refer(id))).toBe('reference_deleted');
    expect(await refer(other)).toBe(other);
  });

  it('what core answers is no newer than what its events have said', async () => {
    const { core, refs } = things;
    const { id } = core.aContact(organizationId, { version: 3 });
    await things.follower.changed([changed(organizationId, id, 5, 'deleted')]);
    const stale = { organizationId, id, state: 'active', mergedInto: null, version: 3 } as const;
    await things.in(organizationId, (tx) => refs.learn(tx, [stale]));
    expect(await things.known(organizationId)).toMatchObject([{ state: 'deleted', version: 5 }]);
  });

  it('written while their contact is merged end at the survivor; while it is erased, none is left', async () => {
    const [id, survivor] = [newId(), newId()];
    await known(id, survivor);
    const merging = merged(organizationId, { survivor, merged: id, version: 2 });
    await Promise.all([...Array.from({ length: 20 }, () => refer(id)), things.follower.merged([merging])]);
    expect(await holdersOf()).toEqual(Array.from({ length: 20 }, () => survivor));
    const writing = Array.from({ length: 20 }, () => refused(refer(id)));
    await Promise.race(writing);
    await things.in(organizationId, async (tx) => {
      await things.refs.erase(tx, [survivor]);
      await tx.query('DELETE FROM things WHERE organization_id = $1', [organizationId]);
    });
    await Promise.all(writing);
    expect(await holdersOf()).toEqual([]);
  });

  it('in filters mean the survivor, once each; others stay as they are given', async () => {
    const [id, survivor, unknown] = [newId(), newId(), newId()];
    await things.follower.merged([merged(organizationId, { survivor, merged: id, version: 2 })]);
    const query = {
      filters: [
        { field: 'contact_id', op: 'in', value: id, values: [id, survivor, unknown] },
        { field: 'contact_id', op: 'is_null', value: true, values: [true] },
        { field: 'other', op: 'eq', value: id, values: [id] },
      ],
    } as never;
    const { filters } = await things.references.resolveFilters(organizationId, query);
    expect(filters).toMatchObject([
      { value: survivor, values: [survivor, unknown] },
      { op: 'is_null', values: [true] },
      { field: 'other', values: [id] },
    ]);
  });
});
