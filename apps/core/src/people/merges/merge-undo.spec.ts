import { eventually, expectProblem, expectStatus, kafkaProbe, type Caller } from '@customer-platform/testing';
import { accepted, anIdentify, aTrack, START_MS } from '../../core.fixture.js';
import { at, ContactWorld } from '../contacts/contact.fixture.js';
import type { ContactDto } from '../contacts/contact.dto.js';
import { merge, profileOf, read, tryMerge, tryUndo, undo } from './merge.fixture.js';

let world: ContactWorld;
beforeAll(async () => {
  world = await ContactWorld.start();
}, START_MS);
afterAll(() => world.close());

const RUT = { type: 'CL_RUT', value: '12345678-5' };

/** External ids of the events of a contact, as they are listed. */
async function eventsOf(caller: Caller, contact: { id: string }): Promise<string[]> {
  const { body } = await caller.get<{ data: { external_id: string }[] }>(
    `/v1/core/events?contact_id=${contact.id}&limit=200`,
  );
  return body.data.map(({ external_id: id }) => id).sort();
}

async function track(caller: Caller, organizationId: string, externalIds: readonly string[]): Promise<void> {
  const stored = async () =>
    (await world.query('SELECT 1 FROM events WHERE organization_id = $1', [organizationId])).length;
  const before = await stored();
  await Promise.all(externalIds.map((external_id) => accepted(caller, aTrack({ external_id }))));
  await eventually(async () => expect(await stored()).toBe(before + externalIds.length));
}

const named = (caller: Caller, external_id: string, more: object = {}): Promise<ContactDto> =>
  world.created(caller, { external_id, ...more });

describe('an undone merge', () => {
  it('gives back profiles that nobody has touched, to the byte', async () => {
    const { id, caller } = world.anOrganization();
    await track(caller, id, ['a', 'b', 'b']);
    const found = async (externalId: string): Promise<ContactDto> => {
      const path = `/v1/core/contacts?external_id=${externalId}`;
      const { body } = await caller.get<{ data: ContactDto[] }>(path);
      return body.data[0] ?? (await named(caller, externalId));
    };
    const [survivor, merged] = [await found('a'), await found('b')];
    await caller.patch(at(survivor), {
      email: 'a@example.com',
      attributes: { plan: 'gold', nested: { x: 1 } },
    });
    await caller.patch(at(merged), {
      email: 'b@example.com',
      phone: '+56912345678',
      birth_date: '1990-05-17',
      national_id: RUT,
      attributes: { plan: 'basic', nested: { y: 2 }, more: null },
    });
    const before = [await read(caller, survivor), await read(caller, merged)].map(profileOf);
    const identities = [await world.identitiesOf(survivor), await world.identitiesOf(merged)];
    const times = 'SELECT field_times FROM contacts WHERE organization_id = $1 ORDER BY external_id';
    const said = await world.query(times, [id]);
    const keep = { email: 'merged', 'attributes.nested': 'merged', first_name: 'merged' };
    const done = await merge(caller, survivor, merged, { keep });
    const undone = await undo(caller, done);
    expect(undone).toMatchObject({ merge_id: done.merge_id, status: 'undone', fields: done.fields });
    expect(undone.contact).toEqual(await read(caller, survivor));
    const after = [await read(caller, survivor), await read(caller, merged)].map(profileOf);
    expect(JSON.stringify(after)).toBe(JSON.stringify(before));
    expect([await world.identitiesOf(survivor), await world.identitiesOf(merged)]).toEqual(identities);
    expect(await world.query(times, [id])).toEqual(said);
    expect([await eventsOf(caller, survivor), await eventsOf(caller, merged)]).toEqual([['a'], ['b', 'b']]);
  });

  it('leaves what was written later with the survivor, and takes back the rest', async () => {
    const { caller } = world.anOrganization();
    const survivor = await named(caller, 'a', {
      first_name: null,
      last_name: null,
      attributes: { plan: 'gold' },
    });
    const merged = await named(caller, 'b', {
      first_name: 'Ana',
      last_name: 'Rojas',
      attributes: { city: 'Lima' },
    });
    const done = await merge(caller, survivor, merged);
    // Said again, and therefore the survivor's own now; changed; and added.
    await caller.patch(at(survivor), { first_name: 'Ana', attributes: { plan: 'basic', color: 'red' } });
    await undo(caller, done);
    expect(await read(caller, survivor)).toMatchObject({
      first_name: 'Ana',
      last_name: null,
      attributes: { plan: 'basic', color: 'red' },
    });
    expect(profileOf(await read(caller, merged))).toEqual(profileOf(merged));
  });

  it('gives events back by their external id, those that came after the merge too', async () => {
    const { id, caller } = world.anOrganization();
    const [survivor, merged] = [await named(caller, 'a'), await named(caller, 'b')];
    await track(caller, id, ['a', 'b']);
    const done = await merge(caller, survivor, merged);
    expect(done.moved.events).toBe(1);
    await track(caller, id, ['a', 'b', 'b']);
    for (const either of [survivor, merged])
      expect(await eventsOf(caller, either)).toEqual(['a', 'a', 'b', 'b', 'b']);
    const together = await read(caller, survivor);
    await undo(caller, done);
    expect(await eventsOf(caller, survivor)).toEqual(['a', 'a']);
    expect(await eventsOf(caller, merged)).toEqual(['b', 'b', 'b']);
    for (const contact of [survivor, merged])
      expect((await read(caller, contact)).last_seen_at <= together.last_seen_at).toBe(true);
    await track(caller, id, ['b']);
    expect(await eventsOf(caller, merged)).toEqual(['b', 'b', 'b', 'b']);
  });

  it('what an identify says under the other’s id stays with the survivor, and its event goes', async () => {
    const { caller } = world.anOrganization();
    const [survivor, merged] = [await named(caller, 'a'), await named(caller, 'b')];
    const done = await merge(caller, survivor, merged);
    const said = { external_id: 'b', traits: { last_name: 'Rojas' }, occurred_at: new Date().toISOString() };
    await accepted(caller, anIdentify(said), '/v1/core/identify');
    await eventually(async () => expect((await read(caller, survivor)).last_name).toBe('Rojas'));
    await undo(caller, done);
    expect((await read(caller, survivor)).last_name).toBe('Rojas');
    expect((await read(caller, merged)).last_name).toBeNull();
    expect(await eventsOf(caller, merged)).toEqual(['b']);
  });

  it('of several comes last first; of chains too', async () => {
    const { id, caller } = world.anOrganization();
    const [a, b, c, d] = [
      await named(caller, 'a'),
      await named(caller, 'b', { last_name: 'B' }),
      await named(caller, 'c', { country: null, locale: 'es-CL' }),
      await named(caller, 'd', { timezone: 'America/Lima' }),
    ];
    const before = await Promise.all([a, b, c, d].map(async (one) => profileOf(await read(caller, one))));
    const first = await merge(caller, b, c);
    const second = await merge(caller, b, d);
    const third = await merge(caller, a, b);
    await track(caller, id, ['a', 'b', 'c', 'd']);
    expect(await eventsOf(caller, c)).toEqual(['a', 'b', 'c', 'd']);
    for (const early of [first, second])
      expectProblem(await tryUndo(caller, early), 409, 'merge_not_undoable');
    await undo(caller, third);
    expect([await eventsOf(caller, a), await eventsOf(caller, d)]).toEqual([['a'], ['b', 'c', 'd']]);
    expectProblem(await tryUndo(caller, first), 409, 'merge_not_undoable');
    await undo(caller, second);
    await undo(caller, first);
    const after = await Promise.all([a, b, c, d].map(async (one) => profileOf(await read(caller, one))));
    const unseen = (profile: Omit<ContactDto, 'version' | 'updated_at'>) => ({
      ...profile,
      last_seen_at: null,
    });
    expect(after.map(unseen)).toEqual(before.map(unseen));
    for (const [contact, name] of [
      [a, 'a'],
      [b, 'b'],
      [c, 'c'],
      [d, 'd'],
    ] as const) {
      expect(await eventsOf(caller, contact)).toEqual([name]);
      expect(await world.identitiesOf(contact)).toEqual([`external_id:${name}`]);
    }
  });

  it('repeated is the same; merged again it is another merge', async () => {
    const { caller } = world.anOrganization();
    const [survivor, merged] = [await named(caller, 'a'), await named(caller, 'b')];
    const done = await merge(caller, survivor, merged);
    const undone = await undo(caller, done);
    expect(await undo(caller, done)).toEqual(undone);
    const again = await merge(caller, survivor, merged);
    expect(again.merge_id).not.toBe(done.merge_id);
    const swapped = await undo(caller, again).then(() => tryMerge(caller, merged, survivor));
    expectStatus(swapped, 200);
  });

  it('shows by a dry run what it would come to', async () => {
    const { caller } = world.anOrganization();
    const [survivor, merged] = [
      await named(caller, 'a', { last_name: null }),
      await named(caller, 'b', { last_name: 'B' }),
    ];
    const done = await merge(caller, survivor, merged);
    const tried = await tryUndo(caller, done, { dry_run: true });
    expect(tried.body).toMatchObject({ dry_run: true, status: 'undone', contact: { last_name: null } });
    expect((await read(caller, survivor)).last_name).toBe('B');
    await caller.patch(at(survivor), { country: 'PE' });
    const guard = { 'If-Match': tried.headers.get('etag') ?? '' };
    const body = { undo_merge_id: done.merge_id };
    expectProblem(await caller.post('/v1/core/contacts/merge', body, guard), 412, 'etag_mismatch');
  });

  it('leaves a value that another contact has taken since with that one', async () => {
    const { caller } = world.anOrganization();
    const [survivor, merged] = [
      await named(caller, 'a'),
      await named(caller, 'b', { email: 'b@example.com' }),
    ];
    const done = await merge(caller, survivor, merged);
    await caller.patch(at(survivor), { email: 'new@example.com' });
    const other = await named(caller, 'c', { email: 'b@example.com' });
    await undo(caller, done);
    expect((await read(caller, merged)).email).toBe('b@example.com');
    expect(await world.identitiesOf(merged)).toEqual(['external_id:b']);
    expect(await world.identitiesOf(other)).toContain('email:b@example.com');
    expect(await world.identitiesOf(survivor)).toEqual(['email:new@example.com', 'external_id:a']);
  });

  it('409 restore_conflict when another contact has the national id that would come back', async () => {
    const { caller } = world.anOrganization();
    const [survivor, merged] = [await named(caller, 'a'), await named(caller, 'b', { national_id: RUT })];
    const done = await merge(caller, survivor, merged);
    await caller.patch(at(survivor), { national_id: null });
    const other = await named(caller, 'c', { national_id: RUT });
    const problem = expectProblem(await tryUndo(caller, done), 409, 'restore_conflict');
    expect(problem['conflicting_id']).toBe(other.id);
    await caller.patch(at(other), { national_id: null });
    await undo(caller, done);
    expect((await read(caller, merged)).national_id?.masked).toBe('***5678-5');
  });

  it('works from a survivor that was soft-deleted meanwhile', async () => {
    const { id, caller } = world.anOrganization();
    const [survivor, merged] = [
      await named(caller, 'a'),
      await named(caller, 'b', { email: 'b@example.com' }),
    ];
    const done = await merge(caller, survivor, merged);
    await caller.delete(at(survivor));
    const other = await named(caller, 'c', { email: 'b@example.com' });
    await undo(caller, done);
    expect(await world.identitiesOf(merged)).toEqual(['external_id:b']);
    expect(await world.identitiesOf(other)).toContain('email:b@example.com');
    expect((await read(caller, merged)).deleted_at).toBeNull();
    expect((await read(caller, survivor)).deleted_at).not.toBeNull();
    await track(caller, id, ['b']);
    expect(await eventsOf(caller, merged)).toEqual(['b']);
  });

  it('409 merge_not_undoable after an erasure', async () => {
    const { caller } = world.anOrganization();
    const [survivor, merged] = [await named(caller, 'a'), await named(caller, 'b')];
    const done = await merge(caller, survivor, merged);
    await world.query('UPDATE contacts SET erased_at = now() WHERE id = $1', [survivor.id]);
    expectProblem(await tryUndo(caller, done), 409, 'merge_not_undoable');
  });
});

describe('merges among events on their way', () => {
  it('store every event once, on whoever has its external id in the end; none is told twice', async () => {
    const { id, caller } = world.anOrganization();
    const probe = kafkaProbe(world.core.app);
    probe.collect('core');
    const [survivor, merged] = [await named(caller, 'a'), await named(caller, 'b')];
    let sent = 0;
    for (let round = 0; round < 4; round += 1) {
      const burst = (count: number) => {
        sent += count;
        return Array.from({ length: count }, (_, n) =>
          accepted(caller, aTrack({ external_id: n % 2 ? 'a' : 'b' })),
        );
      };
      const [done] = await Promise.all([merge(caller, survivor, merged), ...burst(10)]);
      await Promise.all([undo(caller, done), ...burst(10)]);
    }
    await eventually(
      async () => {
        expect(await world.query('SELECT 1 FROM events WHERE organization_id = $1', [id])).toHaveLength(sent);
      },
      { within: 20_000 },
    );
    const half = sent / 2;
    expect(await eventsOf(caller, survivor)).toEqual(Array(half).fill('a'));
    expect(await eventsOf(caller, merged)).toEqual(Array(half).fill('b'));
    expect(await world.query('SELECT 1 FROM contacts WHERE organization_id = $1', [id])).toHaveLength(2);
    const strays = await world.query(
      'SELECT 1 FROM events WHERE organization_id = $1 AND origin_id IS NOT NULL',
      [id],
    );
    expect(strays).toEqual([]);
    await probe.expectEvents('core.event.recorded.v1', id, sent);
    const told = probe.events('core.event.recorded.v1', id).map(({ data }) => data.event_id);
    expect(new Set(told).size).toBe(sent);
    expect(told).toHaveLength(sent);
  });
});
