import { Database, newId } from '@customer-platform/database';
import { eventually, expectProblem, expectStatus, peerModule, type Caller } from '@customer-platform/testing';
import { accepted, anIdentify, aTrack, START_MS } from '../../core.fixture.js';
import { aContact, at, CONTACTS, ContactWorld } from '../contacts/contact.fixture.js';
import type { ContactDto } from '../contacts/contact.dto.js';
import { imported, MAPPING } from '../../imports/import.fixture.js';
import { ErasedIdentifiers } from '../../blocklist/erased-identifiers.js';

const NFC = 'socio-Pe\u00f1a';
const NFD = 'socio-Pen\u0303a';
/** The same id as other systems write it and as people paste it. */
const WRITINGS = [
  NFC,
  NFD,
  `\u200b${NFC}`,
  'socio-Pe\u00ad\u00f1a',
  `\u202a${NFD}\u202c`,
  `\u00a0${NFC}\u00a0`,
];

let world: ContactWorld;
beforeAll(async () => {
  world = await ContactWorld.start();
}, START_MS);
afterAll(() => world.close());

const found = async (caller: Caller, filter: string, value: string): Promise<string[]> => {
  const answer = await caller.get<{ data: ContactDto[] }>(
    `${CONTACTS}?${filter}=${encodeURIComponent(value)}`,
  );
  expectStatus(answer, 200);
  return answer.body.data.map(({ id }) => id);
};

const externalIds = async (organizationId: string): Promise<unknown[]> => {
  const rows = await world.query('SELECT external_id FROM contacts WHERE organization_id = $1 ORDER BY id', [
    organizationId,
  ]);
  return rows.map((row) => row['external_id']);
};

const eventsStored = (organizationId: string, count: number) =>
  eventually(async () => {
    const rows = await world.query(
      'SELECT contact_id, external_id FROM events WHERE organization_id = $1 ORDER BY id',
      [organizationId],
    );
    expect(rows).toHaveLength(count);
    return rows;
  });

/** A contact as a release before kept it: byte by byte as it was sent. */
const kept = async (caller: Caller, externalId: string): Promise<ContactDto> => {
  const contact = await world.created(caller, { external_id: 'to-be' });
  await world.query('UPDATE contacts SET external_id = $2 WHERE id = $1', [contact.id, externalId]);
  await world.query('UPDATE identities SET value = $2, normal_value = $2 WHERE contact_id = $1', [
    contact.id,
    externalId,
  ]);
  return contact;
};

describe('an external id in several writings', () => {
  it('is one contact of events that come at once', async () => {
    const { id, caller } = world.anOrganization();
    await Promise.all([
      ...WRITINGS.map((external_id) => accepted(caller, aTrack({ external_id }))),
      ...WRITINGS.map((external_id) => accepted(caller, anIdentify({ external_id }), '/v1/core/identify')),
    ]);
    const stored = await eventsStored(id, 2 * WRITINGS.length);
    expect(await externalIds(id)).toEqual([NFC]);
    expect(new Set(stored.map((row) => row['external_id']))).toEqual(new Set([NFC]));
    const page = await caller.get<{ data: unknown[] }>(
      `/v1/core/events?external_id=${encodeURIComponent(NFD)}`,
    );
    expect(page.body.data).toHaveLength(stored.length);
  });

  it('is one contact by the API and by identities', async () => {
    const { id, caller } = world.anOrganization();
    const contact = await world.created(caller, { external_id: `${NFD}\u200b` });
    expect(contact.external_id).toBe(NFC);
    for (const external_id of WRITINGS) {
      const again = await caller.post(CONTACTS, aContact({ external_id }));
      expect(expectProblem(again, 409, 'duplicate_value')['conflicting_id']).toBe(contact.id);
      expectStatus(await caller.patch(at(contact), { external_id }), 200);
      const own = { type: 'external_id', value: external_id };
      expectStatus(await caller.post(at(contact, '/identities'), own), 200);
      expect(await found(caller, 'external_id', external_id)).toEqual([contact.id]);
      expect(await found(caller, 'identity', `external_id:${external_id}`)).toEqual([contact.id]);
    }
    expectProblem(await caller.patch(at(contact), { external_id: 'socio-Pena' }), 400, 'validation_failed');
    expect(await externalIds(id)).toEqual([NFC]);
  });

  it('is one contact of a file', async () => {
    const { id, caller } = world.anOrganization();
    const csv = ['id,mail,name', ...WRITINGS.map((each, at_) => `${each},,Name ${String(at_)}`)].join('\n');
    const done = await imported(caller, csv, { mapping: MAPPING, on_existing: 'update' });
    expect(done.rows).toMatchObject({ created: 1, updated: WRITINGS.length - 1, failed: 0 });
    expect(await externalIds(id)).toEqual([NFC]);
  });

  it('is one contact of callers, events and a file at once', async () => {
    const { id, caller } = world.anOrganization();
    const created = Promise.all(
      WRITINGS.map((external_id) => caller.post(CONTACTS, aContact({ external_id }))),
    );
    const events = WRITINGS.map((external_id) => accepted(caller, aTrack({ external_id })));
    const file = imported(caller, ['id', ...WRITINGS].join('\n'), { mapping: { id: 'external_id' } });
    await Promise.all([created, file, ...events]);
    await eventsStored(id, WRITINGS.length);
    expect(await externalIds(id)).toEqual([NFC]);
    for (const { status } of await created) expect([201, 409]).toContain(status);
  });

  it('is refused where it stands for no identifier', async () => {
    const { caller } = world.anOrganization();
    for (const external_id of ['\u200b', '\u00a0', '\u200bnull'])
      expectProblem(await caller.post(CONTACTS, aContact({ external_id })), 400, 'placeholder_identifier');
  });

  it('of other identifiers is one, too', async () => {
    const { id, caller } = world.anOrganization();
    const contact = await world.created(caller, { external_id: 'ana' });
    for (const value of WRITINGS) {
      const body = anIdentify({ external_id: 'ana', identities: [{ type: 'custom.socio', value }] });
      await accepted(caller, body, '/v1/core/identify');
    }
    await eventsStored(id, WRITINGS.length);
    expect(await world.identitiesOf(contact)).toEqual([`custom.socio:${NFC}`, 'external_id:ana']);
    const query = `?type=custom.socio&value=${encodeURIComponent(`${NFD}\u200b`)}`;
    expectStatus(await caller.delete(at(contact, `/identities${query}`)), 204);
  });
});

describe('an external id as a release before kept it', () => {
  it.each([
    ['in NFD', NFD, [NFC, NFD, `${NFC}\u200b`]],
    ['in NFC', NFC, [NFD, NFC, `\u00a0${NFD}`]],
    ['with what nobody sees', `${NFD}\u200b`, [`${NFD}\u200b`]],
  ])('is found %s, by every door', async (_, before, writings) => {
    const { id, caller } = world.anOrganization();
    const contact = await kept(caller, before);
    for (const external_id of writings) {
      await accepted(caller, aTrack({ external_id }));
      await accepted(caller, anIdentify({ external_id }), '/v1/core/identify');
      const again = await caller.post(CONTACTS, aContact({ external_id }));
      expect(expectProblem(again, 409, 'duplicate_value')['conflicting_id']).toBe(contact.id);
      expectStatus(await caller.patch(at(contact), { external_id }), 200);
      expect(await found(caller, 'external_id', external_id)).toEqual([contact.id]);
      const messaging = await peerModule('messaging', 'core', world.core.app.internalUrl);
      const asked = { organization_id: id, external_id, channel: 'in_app' };
      const address = await messaging.post<{ contact_id: string }>('/internal/contacts/address', asked);
      expect(address.body.contact_id).toBe(contact.id);
    }
    const done = await imported(caller, ['id', ...writings].join('\n'), { mapping: { id: 'external_id' } });
    expect(done.rows).toMatchObject({ created: 0, failed: 0 });
    await eventsStored(id, 2 * writings.length);
    expect(await externalIds(id)).toEqual([before]);
    const request = { type: 'access', identity: { type: 'external_id', value: writings[0] } };
    const opened = await caller.post<{ contact_id: string }>('/v1/core/subject-requests', request);
    expect(opened.body.contact_id).toBe(contact.id);
  });

  it('means the one that is written so, where two people have it in two writings', async () => {
    const { id, caller } = world.anOrganization();
    const [one, other] = [await kept(caller, NFD), await kept(caller, NFC)];
    await accepted(caller, aTrack({ external_id: NFD }));
    await accepted(caller, aTrack({ external_id: NFC }));
    const stored = await eventsStored(id, 2);
    const owners = new Map(stored.map((row) => [row['external_id'], row['contact_id']]));
    expect(owners).toEqual(
      new Map([
        [NFD, one.id],
        [NFC, other.id],
      ]),
    );
  });

  it('makes nobody anew who was erased under it', async () => {
    const { id, caller } = world.anOrganization();
    const erased = `${NFD}\u200b`;
    const { app } = world.core.app;
    await app.get(Database).inOrganization({ organizationId: id }, (tx) =>
      app.get(ErasedIdentifiers, { strict: false }).block(tx, newId(), [
        { type: 'external_id', normal: erased },
        { type: 'external_id', normal: NFD },
      ]),
    );
    for (const external_id of [erased, NFD, NFC, `\u200b${NFC}`])
      expectProblem(await caller.post(CONTACTS, aContact({ external_id })), 409, 'subject_erased');
    await accepted(caller, aTrack({ external_id: NFC }));
    await accepted(caller, anIdentify({ external_id: erased }), '/v1/core/identify');
    await eventually(async () => {
      const letters = await caller.get<{ data: unknown[] }>('/v1/core/dead-letters?code=subject_erased');
      expect(letters.body.data).toHaveLength(2);
    });
    const done = await imported(caller, ['id', erased, NFC].join('\n'), { mapping: { id: 'external_id' } });
    expect(done.rows).toMatchObject({ created: 0, failed: 2 });
    expect(await externalIds(id)).toEqual([]);
  });

  it('is asked back by whoever had it when they are restored', async () => {
    const { id, caller } = world.anOrganization();
    const contact = await kept(caller, NFD);
    expectStatus(await caller.delete(at(contact)), 204);
    const next = await world.created(caller, { external_id: NFC });
    expectProblem(await caller.post(at(contact, '/restore')), 409, 'restore_conflict');
    expectStatus(await caller.delete(at(next)), 204);
    expectStatus(await caller.delete(at(next, '/purge')), 204);
    expectStatus(await caller.post(at(contact, '/restore')), 200);
    await accepted(caller, aTrack({ external_id: NFC }));
    const [stored] = await eventsStored(id, 1);
    expect(stored?.['contact_id']).toBe(contact.id);
  });
});
