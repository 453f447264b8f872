import { eventually, expectProblem, expectStatus, kafkaProbe, type Caller } from '@customer-platform/testing';
import { at, ContactWorld } from '../people/contacts/contact.fixture.js';
import type { ContactDto } from '../people/contacts/contact.dto.js';
import { merge, read, tryUndo } from '../people/merges/merge.fixture.js';
import { accepted, anIdentify, START_MS } from '../core.fixture.js';

let world: ContactWorld;
beforeAll(async () => {
  world = await ContactWorld.start();
}, START_MS);
afterAll(() => world.close());

/** A contact that is known by a device alone. */
async function anonymous(caller: Caller, device: string, more: object = {}): Promise<ContactDto> {
  const email = `${device}@example.com`;
  const contact = await world.created(caller, { external_id: null, email, ...more });
  const identity = { type: 'device_id', value: device };
  expectStatus(await caller.post(at(contact, '/identities'), identity), 201);
  expectStatus(await caller.patch(at(contact), { email: null }), 200);
  return contact;
}

const identify = (caller: Caller, externalId: string, device: string, traits: object = {}) =>
  accepted(
    caller,
    anIdentify({ external_id: externalId, traits, identities: [{ type: 'device_id', value: device }] }),
    '/v1/core/identify',
  );

const stored = (organizationId: string, count: number): Promise<void> =>
  eventually(async () => {
    const rows = await world.query('SELECT 1 FROM events WHERE organization_id = $1', [organizationId]);
    expect(rows).toHaveLength(count);
  });

async function contactOf(caller: Caller, externalId: string): Promise<ContactDto> {
  const { body } = await caller.get<{ data: ContactDto[] }>(`/v1/core/contacts?external_id=${externalId}`);
  const [contact] = body.data;
  if (!contact) throw new Error(`there is no contact ${externalId}`);
  return contact;
}

describe('an identify that claims what an anonymous contact has', () => {
  it('takes that contact up, with its values, without a warning; an undo gives it back', async () => {
    const { id, caller } = world.anOrganization();
    const probe = kafkaProbe(world.core.app);
    probe.collect('core');
    const unknown = await anonymous(caller, 'tablet', { first_name: 'Guest', attributes: { theme: 'dark' } });
    const before = await read(caller, unknown);
    await identify(caller, 'ana', 'tablet', { first_name: 'Ana' });
    await stored(id, 1);
    const ana = await contactOf(caller, 'ana');
    expect(ana).toMatchObject({ first_name: 'Ana', attributes: { theme: 'dark' }, country: 'CL' });
    expect(await world.identitiesOf(ana)).toEqual(['device_id:tablet', 'external_id:ana']);
    const old = await caller.get(at(unknown));
    expect([old.status, old.headers.get('location')]).toEqual([307, at(ana)]);
    const { body } = await caller.get<{ data: { id: string; warnings: object[] }[] }>('/v1/core/events');
    expect(body.data[0]?.warnings).toEqual([]);
    const suggested = await caller.get<{ data: object[] }>('/v1/core/merge-suggestions');
    expect(suggested.body.data).toEqual([]);
    const [told] = await probe.expectEvents('core.contact.merged.v1', id, 1);
    expect(told).toMatchObject({
      correlationid: body.data[0]?.id,
      data: { survivor_id: ana.id, merged_id: unknown.id },
    });
    const audit = await world.query(
      `SELECT actor_type, actor_id FROM audit_entries WHERE organization_id = $1 AND action = 'core.contacts.merge'`,
      [id],
    );
    expect(audit).toEqual(Array(2).fill({ actor_type: 'system', actor_id: 'ingestion' }));
    expectStatus(await tryUndo(caller, { merge_id: told?.data.merge_id ?? '' }), 200);
    expect(await read(caller, unknown)).toMatchObject({
      first_name: before.first_name,
      attributes: before.attributes,
    });
    expect(await world.identitiesOf(unknown)).toEqual(['device_id:tablet']);
    expect((await read(caller, ana)).attributes).toEqual({});
  });

  it('of several who claim it at once, one takes it up; the others are suggested to that one', async () => {
    const { id, caller } = world.anOrganization();
    const unknown = await anonymous(caller, 'kiosk');
    const people = ['a', 'b', 'c', 'd'];
    await Promise.all(people.map((externalId) => identify(caller, externalId, 'kiosk')));
    await stored(id, people.length);
    const owners = await world.query(
      `SELECT contact_id FROM identities WHERE organization_id = $1 AND normal_value = 'kiosk'`,
      [id],
    );
    expect(owners).toHaveLength(1);
    const { headers } = await caller.get(at(unknown));
    expect(headers.get('location')).toBe(at({ id: String(owners[0]?.['contact_id']) }));
    const merged = await world.query(
      'SELECT 1 FROM contacts WHERE organization_id = $1 AND merged_into IS NOT NULL',
      [id],
    );
    expect(merged).toHaveLength(1);
  });

  it('leaves an identified contact alone, and one that was merged', async () => {
    const { id, caller } = world.anOrganization();
    const known = await world.created(caller, { external_id: 'owner' });
    await caller.post(at(known, '/identities'), { type: 'device_id', value: 'phone' });
    const taken = await anonymous(caller, 'shared');
    await merge(caller, known, taken);
    for (const device of ['phone', 'shared']) await identify(caller, 'ana', device);
    await stored(id, 2);
    const ana = await contactOf(caller, 'ana');
    expect(await world.identitiesOf(ana)).toEqual(['external_id:ana']);
    const { body } = await caller.get<{
      data: { contact_ids: string[]; state: string; reasons: object[] }[];
    }>('/v1/core/merge-suggestions');
    expect(body.data).toMatchObject([
      {
        contact_ids: [ana.id, known.id].sort(),
        state: 'open',
        reasons: [{ signal: 'device_id' }, { signal: 'device_id' }],
      },
    ]);
  });

  it('of a soft-deleted contact has it; who is restored then learns who', async () => {
    const { id, caller } = world.anOrganization();
    const email = 'ana@example.com';
    const deleted = await world.created(caller, { external_id: 'old', email });
    await caller.delete(at(deleted));
    const body = anIdentify({ external_id: 'new', traits: { email } });
    await accepted(caller, body, '/v1/core/identify');
    await stored(id, 1);
    const owner = await contactOf(caller, 'new');
    expect(await world.identitiesOf(owner)).toEqual([`email:${email}`, 'external_id:new']);
    expect(await world.identitiesOf(deleted)).toEqual(['external_id:old']);
    const conflict = expectProblem(await caller.post(at(deleted, '/restore')), 409, 'restore_conflict');
    expect(conflict['conflicting_id']).toBe(owner.id);
    const { body: events } = await caller.get<{ data: { warnings: object[] }[] }>('/v1/core/events');
    expect(events.data[0]?.warnings).toEqual([]);
  });

  it.each([
    ['an address that is none any more', 'email', 'peña@example.cl', 'invalid_format'],
    ['a number of no plan', 'phone', '+560987650011', 'invalid_format'],
    ['one more than a contact has', 'custom.card', 'card', 'limit_reached'],
  ])('stays with a soft-deleted contact who has it: %s', async (_, type, value, code) => {
    const { id, caller } = world.anOrganization();
    const deleted = await world.created(caller, { external_id: 'old' });
    expectStatus(await caller.post(at(deleted, '/identities'), { type: 'custom.card', value: 'kept' }), 201);
    // As a release before took it.
    await world.query(
      "UPDATE identities SET type = $2, value = $3, normal_value = $3 WHERE contact_id = $1 AND value = 'kept'",
      [deleted.id, type, value],
    );
    const before = await world.identitiesOf(deleted);
    await caller.delete(at(deleted));
    const others = Array.from({ length: 5 }, (__, n) => ({ type: 'custom.card', value: `own ${String(n)}` }));
    const identities = [...others, { type, value }];
    await accepted(caller, anIdentify({ external_id: 'new', identities }), '/v1/core/identify');
    await stored(id, 1);
    const { body } = await caller.get<{ data: { warnings: object[] }[] }>('/v1/core/events');
    expect(body.data[0]?.warnings).toMatchObject([{ pointer: '/identities/5/value', code }]);
    expect(await world.identitiesOf(deleted)).toEqual(before);
    expect(await world.identitiesOf(await contactOf(caller, 'new'))).toHaveLength(6);
  });
});
