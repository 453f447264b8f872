import { newId } from '@customer-platform/database';
import { eventually, expectProblem, expectStatus, type Caller } from '@customer-platform/testing';
import { at, CONTACTS } from '../../people/contacts/contact.fixture.js';
import { accepted, anIdentify, aTrack, START_MS } from '../../core.fixture.js';
import { ErasureWorld } from '../subject-request.fixture.js';

let world: ErasureWorld;
beforeAll(async () => {
  world = await ErasureWorld.start();
}, START_MS);
afterAll(() => world.close());

const letter = (organizationId: string, body: unknown, externalId: string | null = null): Promise<string> =>
  world.letter(organizationId, body, externalId);

async function payloadsLeft(ids: readonly string[]): Promise<boolean[]> {
  const rows = await world.contacts.query(
    'SELECT id, payload IS NOT NULL AS kept FROM dead_letters WHERE id = ANY($1)',
    [ids],
  );
  return ids.map((id) => rows.some((row) => row['id'] === id && row['kept'] === true));
}

async function identity(caller: Caller, contact: { id: string }, type: string, value: string): Promise<void> {
  expectStatus(await caller.post(at(contact, '/identities'), { type, value }), 201);
}

describe('an erasure', () => {
  it('destroys nobody else’s dead letters and kept answers, whatever the person calls themselves', async () => {
    const { id, caller } = world.contacts.anOrganization();
    const victim = { external_id: 'victim', email: 'victim@example.com', country: 'CL' };
    const key = { 'idempotency-key': newId() };
    const made = await caller.post<{ id: string }>(CONTACTS, victim, key);
    expectStatus(made, 201);
    const person = await world.contacts.created(caller);
    for (const value of ['event', 'id', 'external_id', 'victim@example.com', 'victim', made.body.id])
      await identity(caller, person, `custom.a${value.length}`, value);
    const letters = [
      await letter(id, aTrack({ external_id: 'victim' }), 'victim'),
      await letter(id, anIdentify({ external_id: 'victim', traits: { email: victim.email } }), 'victim'),
      await letter(id, '{"id": "7", "event": "victim@example.com", '),
    ];
    await world.doneByCore(caller, await world.erase(caller, { contact_id: person.id }));
    expect(await payloadsLeft(letters)).toEqual([true, true, true]);
    const again = await caller.post<{ id: string }>(CONTACTS, victim, key);
    expectStatus(again, 201);
    expect(again.body.id).toBe(made.body.id);
  }, 60_000);

  it('finds letters of the person in whatever writing, and all of more than one piece', async () => {
    const { id, caller } = world.contacts.anOrganization();
    const person = await world.contacts.created(caller, {
      external_id: 'ñusta/1',
      email: 'Ana@münchen.example',
      phone: '+56912345678',
    });
    const others = [];
    for (let n = 0; n < 150; n += 1) others.push(await letter(id, aTrack({ external_id: `other-${n}` })));
    const theirs = [
      await letter(id, anIdentify({ traits: { phone: '+56 9 1234 5678' } })),
      await letter(id, anIdentify({ traits: { email: 'ANA@MÜNCHEN.example' } })),
      await letter(id, '{"external_id": "\\u00f1usta\\/1"}'),
      await letter(id, '{"mail": "ana@m\\u00fcnchen.example", '),
      await letter(id, '{"phone": "(9) 1234 5678", '),
    ];
    for (let n = 0; n < 150; n += 1) others.push(await letter(id, aTrack({ external_id: `more-${n}` })));
    theirs.push(
      await letter(id, anIdentify({ traits: {}, identities: [{ type: 'phone', value: '56 9 12345678' }] })),
    );
    theirs.push(await letter(id, anIdentify({ traits: { country: 'CL', phone: '912345678' } })));
    await world.doneByCore(caller, await world.erase(caller, { contact_id: person.id }));
    const left = await payloadsLeft(theirs);
    expect(left).toEqual(Array(7).fill(false));
    expect(await payloadsLeft(others)).not.toContain(false);
  }, 90_000);

  it('closes 1,000 letters and more that name the person twice', async () => {
    const { id, caller } = world.contacts.anOrganization();
    const person = await world.contacts.created(caller, { external_id: 'often' });
    await world.contacts.query(
      `INSERT INTO dead_letters (organization_id, id, event_id, type, stage, code, detail, attempts, payload, external_id,
                                 contact_id, state, fingerprint, received_at, first_failed_at, last_failed_at)
       SELECT $1, gen_random_uuid(), gen_random_uuid(), 'track', 'store', 'internal_error', 'It failed.', 1, NULL, 'often', $2,
              'pending', gen_random_uuid(), now(), now(), now() FROM generate_series(1, 1500)`,
      [id, person.id],
    );
    const done = await world.doneByCore(caller, await world.erase(caller, { contact_id: person.id }));
    expect(done.receipts[0]?.counts).toMatchObject({ dead_letters: 1_500 });
    const open = await world.contacts.query(
      'SELECT FROM dead_letters WHERE organization_id = $1 AND external_id IS NOT NULL',
      [id],
    );
    expect(open).toEqual([]);
  }, 60_000);
});

describe('an event that fails after the erasure', () => {
  it('is kept without its payload, by whatever it names the person', async () => {
    const { caller } = world.contacts.anOrganization();
    const person = await world.contacts.created(caller, {
      email: 'Ana@münchen.example',
      phone: '+56912345678',
    });
    await world.doneByCore(caller, await world.erase(caller, { contact_id: person.id }));
    const living = aTrack({ external_id: 'living' });
    await accepted(caller, living);
    const { idempotency_key: key } = living;
    // The same key with other bodies: dead letters.
    const named = [
      { traits: { email: 'ANA@xn--mnchen-3ya.example' } },
      { traits: { phone: '9 1234 5678', country: ' cl' } },
      { traits: {}, identities: [{ type: 'phone', value: '+56 9 1234 5678' }] },
    ];
    for (const body of named)
      await accepted(
        caller,
        anIdentify({ ...body, external_id: 'living', idempotency_key: key }),
        '/v1/core/identify',
      );
    await accepted(caller, { ...living, properties: { other: true } });
    await eventually(
      async () => {
        const { body } = await caller.get<{ data: { payload: unknown; closed_reason: string }[] }>(
          '/v1/core/dead-letters',
        );
        expect(body.data.map(({ closed_reason: reason }) => reason)).toEqual(
          Array(4).fill('idempotency_key_conflict'),
        );
        expect(body.data.filter(({ payload }) => payload !== null)).toHaveLength(1);
      },
      { within: 30_000 },
    );
  }, 60_000);
});

describe('the key of an erased event', () => {
  it('stays used: what somebody else sends under it is a conflict, and what it was stands nowhere', async () => {
    const { id: organizationId, caller } = world.contacts.anOrganization();
    const first = aTrack({ external_id: 'ana' });
    const { event_id: eventId } = await accepted(caller, first);
    const [ana] = await eventually(async () => {
      const { body } = await caller.get<{ data: { id: string }[] }>(`${CONTACTS}?external_id=ana`);
      expect(body.data).toHaveLength(1);
      return body.data;
    });
    const [stored] = await world.contacts.query('SELECT fingerprint FROM events WHERE id = $1', [eventId]);
    await world.doneByCore(caller, await world.erase(caller, { contact_id: ana?.id }));
    const other = { ...first, external_id: 'bea' };
    expect((await accepted(caller, other)).event_id).toBe(eventId);
    await accepted(caller, first);
    await eventually(
      async () => {
        const { body } = await caller.get<{ data: Record<string, unknown>[] }>('/v1/core/dead-letters');
        expect(body.data.map(({ event_id: of, closed_reason: why }) => [of, why])).toEqual(
          Array(2).fill([eventId, 'idempotency_key_conflict']),
        );
        expect(body.data.map(({ external_id: whose }) => whose).sort()).toEqual(['bea', null]);
      },
      { within: 30_000 },
    );
    const { body: events } = await caller.get<{ data: unknown[] }>('/v1/core/events');
    expect(events.data).toEqual([]);
    const traces = await world.contacts.query(
      'SELECT id, fingerprint = $2 AS told FROM removed_events WHERE organization_id = $1',
      [organizationId, stored?.['fingerprint']],
    );
    expect(traces).toEqual([{ id: eventId, told: false }]);
  }, 60_000);
});

describe('the identities of a contact', () => {
  /** So many identities, each of a type of its own. */
  const fill = (organizationId: string, contactId: string, count: number) =>
    world.contacts.query(
      `INSERT INTO identities (organization_id, id, contact_id, type, value, normal_value, source, first_seen_at, last_seen_at)
       SELECT $1::uuid, gen_random_uuid(), $2::uuid, 'custom.t' || n, n, n, 'api', now(), now() FROM generate_series(1, $3::int) AS n`,
      [organizationId, contactId, count],
    );

  it('are at most 500 of all types together: by the API, by events and by merges', async () => {
    const { id, caller } = world.contacts.anOrganization();
    const contact = await world.contacts.created(caller, { external_id: 'full' });
    await fill(id, contact.id, 498);
    await identity(caller, contact, 'device_id', 'first');
    const refused = await caller.post(at(contact, '/identities'), { type: 'custom.one', value: 'more' });
    expect(expectProblem(refused, 409, 'limit_reached')['limit']).toBe(500);
    const identities = [
      { type: 'custom.two', value: 'more' },
      { type: 'anonymous_id', value: 'more' },
      { type: 'device_id', value: 'second' },
    ];
    const body = anIdentify({ external_id: 'full', traits: {}, identities });
    await accepted(caller, body, '/v1/core/identify');
    const warnings = await eventually(
      async () => {
        const rows = await world.contacts.query('SELECT warnings FROM events WHERE organization_id = $1', [
          id,
        ]);
        expect(rows).toHaveLength(1);
        return rows[0]?.['warnings'];
      },
      { within: 30_000 },
    );
    expect(warnings).toEqual([
      { pointer: '/identities/0/value', code: 'limit_reached' },
      { pointer: '/identities/1/value', code: 'limit_reached' },
    ]);
    const held = await world.contacts.identitiesOf(contact);
    expect(held).toHaveLength(500);
    expect(held).toContain('device_id:second');
    const other = await world.contacts.created(caller);
    const merge = await caller.post(`${CONTACTS}/merge`, { survivor_id: contact.id, merged_id: other.id });
    expect(expectProblem(merge, 409, 'merge_blocked')['blockers']).toEqual([
      { code: 'limit_reached', field: 'identities' },
    ]);
  }, 60_000);
});
