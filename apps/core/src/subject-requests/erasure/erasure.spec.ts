import { newId } from '@customer-platform/database';
import {
  DatabaseFault,
  eventually,
  expectProblem,
  expectStatus,
  kafkaProbe,
  searchEverything,
  type Caller,
} from '@customer-platform/testing';
import { accepted, anIdentify, aTrack, START_MS } from '../../core.fixture.js';
import { ErasureWorld, REQUESTS, VERIFICATION } from '../subject-request.fixture.js';
import type { SubjectRequestDto } from '../subject-request.dto.js';

const CONTACTS = '/v1/core/contacts';
const IDENTIFY = '/v1/core/identify';

interface Usage {
  accepted: number;
  stored: number;
  duplicates: number;
  dead_lettered: number;
  pending: number;
  erased: number;
}

let world: ErasureWorld;
beforeAll(async () => {
  world = await ErasureWorld.start();
}, START_MS);
afterAll(() => world.close());

/** Conserved at every look. */
async function usageOf(caller: Caller): Promise<{ events: Usage; contacts: Record<string, number> }> {
  const answer = await caller.get<{ totals: { events: Usage; contacts: Record<string, number> } }>(
    '/v1/core/usage',
  );
  expectStatus(answer, 200);
  const { events } = answer.body.totals;
  expect(events.accepted).toBe(events.stored + events.duplicates + events.dead_lettered + events.pending);
  return answer.body.totals;
}

const settled = (caller: Caller, want: Partial<Usage>): Promise<void> =>
  eventually(async () => expect((await usageOf(caller)).events).toMatchObject({ ...want, pending: 0 }), {
    within: 30_000,
  });

const contactOf = (caller: Caller, externalId: string): Promise<string> =>
  eventually(async () => {
    const answer = await caller.get<{ data: { id: string }[] }>(`${CONTACTS}?external_id=${externalId}`);
    const [contact] = answer.body.data;
    if (!contact) throw new Error('the contact is not there yet');
    return contact.id;
  });

/** A person of whom something stands in every table that can hold it. */
class Person {
  readonly mark = newId().slice(-10);
  readonly externalId = `Ext-${this.mark}`;
  readonly email = `José.Ñandú.${this.mark}`.normalize('NFC').replaceAll(/[^\w.]/g, 'x') + '@Example.com';
  readonly digits = String(10_000_000 + (Number.parseInt(this.mark.slice(-6), 16) % 89_999_999));
  readonly phone = `+569${this.digits}`;
  readonly firstName = `Ñusta${this.mark}`;
  readonly lastName = `García-Márquez${this.mark}`;
  readonly secrets = ['attr', 'prop', 'note', 'evidence', 'reference', 'poison'].map(
    (kind) => `${kind}-${this.mark}`,
  );
  readonly rut = '12.345.678-5';

  /** What may be found nowhere. */
  get sought(): string[] {
    const names = [this.firstName, this.lastName, `nusta${this.mark}`, `marquez${this.mark}`];
    return [this.externalId, this.email, this.digits, this.mark, ...names, ...this.secrets, '12345678'];
  }

  async comeTo(caller: Caller): Promise<string> {
    const headers = { 'idempotency-key': newId() };
    const body = {
      external_id: this.externalId,
      email: this.email,
      first_name: this.firstName,
      last_name: this.lastName,
      country: 'CL',
      national_id: { type: 'CL_RUT', value: this.rut },
      attributes: { plan: `attr-${this.mark}`, nested: { deep: [this.email] } },
    };
    const made = await caller.post<{ id: string }>(CONTACTS, body, headers);
    expectStatus(made, 201);
    const { id } = made.body;
    const other = await caller.post<{ id: string }>(CONTACTS, {
      external_id: `Other-${this.mark}`,
      phone: this.phone,
    });
    expectStatus(other, 201);
    // The caller's words: an audit row has them for good, and no personal value belongs there.
    const merge = { survivor_id: id, merged_id: other.body.id, reason: 'The same person' };
    expectStatus(await caller.post(`${CONTACTS}/merge`, merge), 200);
    const device = { type: 'device_id', value: `device-${this.mark}` };
    expectStatus(await caller.post(`${CONTACTS}/${id}/identities`, device), 201);
    const consent = {
      purpose: 'marketing',
      status: 'granted',
      notice_version: '1',
      method: 'web_form',
      evidence: { said: `evidence-${this.mark}`, by: this.email },
    };
    expectStatus(await caller.post(`${CONTACTS}/${id}/consents`, consent), 201);
    return id;
  }

  async act(caller: Caller): Promise<void> {
    const said = { amount: 1, note: `prop-${this.mark}`, mail: this.email.toUpperCase() };
    const first = aTrack({ external_id: this.externalId, properties: said });
    await accepted(caller, first);
    // The same key with another body: a dead letter that holds it.
    await accepted(caller, { ...first, properties: { poison: `poison-${this.mark}` } });
    const traits = { email: this.email, first_name: this.firstName, plan: `attr-${this.mark}` };
    await accepted(caller, anIdentify({ external_id: this.externalId, traits }), IDENTIFY);
    await accepted(caller, aTrack({ external_id: `Other-${this.mark}`, properties: said }));
  }
}

describe('a person who was erased', () => {
  it('is found nowhere in core, and everything adds up as before', async () => {
    const { id: organizationId, caller } = world.contacts.anOrganization();
    const { database } = world.contacts.core;
    const rule = { attribute: 'email', op: 'exists', value: true };
    const segment = await caller.post<{ id: string }>('/v1/core/segments', { name: 'Mail', rule });
    expectStatus(segment, 201);
    const person = new Person();
    const contactId = await person.comeTo(caller);
    await accepted(caller, aTrack({ external_id: 'somebody-else' }));
    await person.act(caller);
    await settled(caller, { accepted: 5, stored: 4, dead_lettered: 1, erased: 0 });
    const member = async (): Promise<unknown> =>
      (await caller.get<{ member_count: number }>(`/v1/core/segments/${segment.body.id}`)).body.member_count;
    await eventually(async () => expect(await member()).toBe(1), { within: 30_000 });
    const before = await searchEverything(database, organizationId, person.sought);
    expect(before.found.length).toBeGreaterThan(20);
    const contacts = (await usageOf(caller)).contacts;

    const request = await world.erase(caller, {
      contact_id: contactId,
      note: `note-${person.mark}`,
      verification: { ...VERIFICATION, reference: `reference-${person.mark}` },
    });
    expect((await caller.get(`${CONTACTS}/${contactId}`)).status).toBe(404);
    const done = await world.doneByCore(caller, request);
    expect(done).toMatchObject({ state: 'in_progress', note: null, verification: { reference: null } });
    await eventually(async () => {
      const after = await searchEverything(database, organizationId, person.sought);
      expect(after.found).toEqual([]);
      expect(after.rows).toBeGreaterThan(10);
    });

    expect((await usageOf(caller)).events).toEqual({
      ...{ accepted: 5, stored: 4, duplicates: 0, dead_lettered: 1, pending: 0, erased: 3, refused: 0 },
    });
    expect((await usageOf(caller)).contacts).toMatchObject({
      active: (contacts['active'] ?? 0) - 1,
      erased: 1,
    });
    expect(await member()).toBe(0);
    const consents = await database.query<{ purpose: string; evidence: unknown }>(
      'SELECT purpose, evidence FROM consent_events WHERE contact_id = $1',
      [contactId],
    );
    expect(consents).toEqual([{ purpose: 'marketing', evidence: null }]);

    await world.answerAll(organizationId, request.id);
    const completed = await world.inState(caller, request, 'completed');
    expect(completed.receipts.map(({ state }) => state)).toEqual(Array(4).fill('verified'));
    const residue = Date.parse(completed.residual_until ?? '') - Date.parse(completed.completed_at ?? '');
    expect(residue).toBe(7 * 86_400_000);
  }, 90_000);

  it('comes back by no event: each is accepted, counted and forgotten', async () => {
    const { id: organizationId, caller } = world.contacts.anOrganization();
    const person = new Person();
    const contactId = await person.comeTo(caller);
    const first = aTrack({ external_id: person.externalId });
    await accepted(caller, first);
    await settled(caller, { stored: 1 });
    const request = await world.erase(caller, { contact_id: contactId });
    await world.doneByCore(caller, request);
    const late = aTrack({ external_id: person.externalId, properties: { note: `prop-${person.mark}` } });
    await accepted(caller, first);
    await accepted(caller, late);
    await accepted(caller, late);
    await accepted(caller, { ...late, properties: { note: `poison-${person.mark}` } });
    // Under another external id, but by their own address and number.
    const other = anIdentify({ traits: { email: person.email.toLowerCase() } });
    await accepted(caller, other, IDENTIFY);
    const national = { phone: `9 ${person.digits}`, country: 'cl' };
    await accepted(caller, anIdentify({ traits: national }), IDENTIFY);
    const merged = aTrack({ external_id: `Other-${person.mark}` });
    await accepted(caller, merged);
    await settled(caller, { accepted: 8, stored: 1, duplicates: 1, dead_lettered: 6, erased: 1 });
    const letters = await caller.get<{ data: Record<string, unknown>[] }>('/v1/core/dead-letters');
    expect(letters.body.data).toHaveLength(6);
    for (const letter of letters.body.data) {
      expect(letter).toMatchObject({ state: 'closed', payload: null, external_id: null, contact_id: null });
      expectProblem(
        await caller.post(`/v1/core/dead-letters/${String(letter['id'])}/replay`, {}),
        409,
        'not_replayable',
      );
    }
    const { found } = await searchEverything(world.contacts.core.database, organizationId, person.sought);
    expect(found).toEqual([]);
    const listed = await caller.get<{ data: unknown[] }>(CONTACTS);
    expect(listed.body.data).toEqual([]);
  }, 90_000);

  it('409 subject_erased by every identifier in any writing, unless readmitted', async () => {
    const { caller } = world.contacts.anOrganization();
    const person = new Person();
    const request = await world.erase(caller, { contact_id: await person.comeTo(caller) });
    const writings = [
      { external_id: person.externalId },
      { email: person.email.toUpperCase() },
      { phone: `(9) ${person.digits}`, country: 'CL' },
      { external_id: newId(), national_id: { type: 'CL_RUT', value: '12345678-5' } },
      { external_id: newId(), national_id: { type: 'CL_RUT', value: '012.345.678 - 5' } },
      { external_id: `Other-${person.mark}` },
    ];
    for (const body of writings) expectProblem(await caller.post(CONTACTS, body), 409, 'subject_erased');
    const somebody = await world.contacts.created(caller);
    const email = { email: person.email };
    expectProblem(await caller.patch(`${CONTACTS}/${somebody.id}`, email), 409, 'subject_erased');
    const readmit = { email: person.email, readmit_reason: 'Came back to the shop' };
    expectStatus(await caller.post(CONTACTS, readmit), 201);
    expectProblem(await caller.post(CONTACTS, { external_id: person.externalId }), 409, 'subject_erased');
    const rows = await eventually(async () => {
      const audit = await caller.get<{ data: { reason: string | null; action: string }[] }>(
        '/v1/core/audit-log?action=core.contacts.create',
      );
      const found = audit.body.data.filter(({ reason }) => reason !== null);
      expect(found).toHaveLength(1);
      return found;
    });
    expect(rows[0]?.reason).toBe('Came back to the shop');
    await world.doneByCore(caller, request);
  }, 60_000);

  it('is neither restored, parted nor merged, and erased again without complaint', async () => {
    const { id: organizationId, caller } = world.contacts.anOrganization();
    const [survivor, merged] = [await world.contacts.created(caller), await world.contacts.created(caller)];
    const third = await world.contacts.created(caller);
    const done = await caller.post<{ merge_id: string }>(`${CONTACTS}/merge`, {
      survivor_id: survivor.id,
      merged_id: merged.id,
    });
    const second = await caller.post<SubjectRequestDto>(REQUESTS, { type: 'erasure', contact_id: merged.id });
    expectStatus(await caller.delete(`${CONTACTS}/${survivor.id}`), 204);
    const request = await world.erase(caller, { contact_id: survivor.id });
    for (const { id } of [survivor, merged]) {
      expectProblem(await caller.get(`${CONTACTS}/${id}`), 404, 'not_found');
      expectProblem(await caller.post(`${CONTACTS}/${id}/restore`, {}), 404, 'not_found');
      expectProblem(await caller.delete(`${CONTACTS}/${id}/purge`), 404, 'not_found');
    }
    const undo = { undo_merge_id: done.body.merge_id };
    expectProblem(await caller.post(`${CONTACTS}/merge`, undo), 409, 'merge_not_undoable');
    const into = { survivor_id: third.id, merged_id: survivor.id };
    expectProblem(await caller.post(`${CONTACTS}/merge`, into), 422, 'reference_not_found');
    const path = `${REQUESTS}/${second.body.id}`;
    expectStatus(await caller.patch(path, { verification: VERIFICATION }), 200);
    for (const { id } of [request, second.body]) {
      await world.doneByCore(caller, { id });
      await world.answerAll(organizationId, id);
      await world.inState(caller, { id }, 'completed');
    }
  }, 60_000);

  it('is gone whatever was on its way: events, merges and the erasure at once', async () => {
    const { id: organizationId, caller } = world.contacts.anOrganization();
    const externalId = `racing-${newId()}`;
    await accepted(caller, aTrack({ external_id: externalId }));
    const contactId = await contactOf(caller, externalId);
    const others = await Promise.all([1, 2, 3].map(() => world.contacts.created(caller)));
    const events = Array.from({ length: 60 }, () => accepted(caller, aTrack({ external_id: externalId })));
    const merges = others.map(({ id }) =>
      caller.post(`${CONTACTS}/merge`, { survivor_id: contactId, merged_id: id }),
    );
    const request = await eventually(() => world.erase(caller, { contact_id: contactId }), {
      within: 30_000,
    });
    await Promise.all([...events, ...merges]);
    await world.doneByCore(caller, request);
    // Who got no answer in time has asked again: that one counts as a duplicate.
    await eventually(
      async () => {
        const { accepted: taken, duplicates, pending } = (await usageOf(caller)).events;
        expect({ sent: taken - duplicates, pending }).toEqual({ sent: 61, pending: 0 });
      },
      { within: 30_000 },
    );
    const { events: usage } = await usageOf(caller);
    expect(usage.erased).toBe(usage.stored);
    const { found } = await searchEverything(world.contacts.core.database, organizationId, [externalId]);
    expect(found).toEqual([]);
  }, 90_000);
});

describe('an erasure whose piece is broken off', () => {
  it('goes on there, at whichever step, and counts nothing twice', async () => {
    const { id: organizationId, caller } = world.contacts.anOrganization();
    const { database } = world.contacts.core;
    const person = new Person();
    const contactId = await person.comeTo(caller);
    await person.act(caller);
    await settled(caller, { accepted: 4, stored: 3 });
    const faults = await Promise.all(
      ['segments', 'consents', 'letters', 'payloads', 'answers', 'fence', 'receipt', 'asked'].map((step) =>
        DatabaseFault.in(database, {
          table: 'contact_erasures',
          on: 'UPDATE',
          when: `NEW.step = '${step}' AND NEW.organization_id = '${organizationId}'`,
          times: 1,
        }),
      ),
    );
    const request = await world.erase(caller, { contact_id: contactId });
    const done = await eventually(
      async () => {
        const now = await world.read(caller, request);
        expect(now.receipts[0]?.state).toBe('verified');
        return now;
      },
      { within: 60_000 },
    );
    await Promise.all(faults.map((fault) => fault.mend()));
    expect(done.receipts[0]?.counts).toMatchObject({ contacts: 2, events: 3, dead_letters: 1 });
    expect((await usageOf(caller)).events).toMatchObject({ stored: 3, dead_lettered: 1, erased: 3 });
    expect((await searchEverything(database, organizationId, person.sought)).found).toEqual([]);
  }, 120_000);
});

describe('receipts', () => {
  it('completes with four verified ones alone, however often each comes', async () => {
    const { id: organizationId, caller } = world.contacts.anOrganization();
    const probe = kafkaProbe(world.contacts.core.app);
    probe.collect('core');
    const contact = await world.contacts.created(caller);
    const request = await world.erase(caller, { contact_id: contact.id });
    await world.doneByCore(caller, request);
    const tell = async (module: 'crm' | 'loyalty', options = {}): Promise<void> =>
      world.tell(
        organizationId,
        request.id,
        module,
        await world.receipt(organizationId, request.id, module, options),
      );
    const stateOf = async (module: string): Promise<string | undefined> =>
      (await world.read(caller, request)).receipts.find((each) => each.module === module)?.state;
    await tell('crm', { signedBy: 'loyalty' });
    await eventually(async () => expect(await stateOf('crm')).toBe('refused'));
    await tell('crm', { counts: { notes: 2 } });
    await eventually(async () => expect(await stateOf('crm')).toBe('refused'));
    // Of another request.
    const foreign = await world.receipt(organizationId, newId(), 'crm');
    await world.tell(organizationId, request.id, 'crm', foreign);
    await eventually(async () => expect(await stateOf('crm')).toBe('refused'));
    await tell('crm');
    await tell('crm');
    await tell('loyalty');
    await eventually(async () => expect(await stateOf('loyalty')).toBe('verified'));
    expect(await stateOf('crm')).toBe('verified');
    expect((await world.read(caller, request)).state).toBe('in_progress');
    await world.answerAll(organizationId, request.id);
    await world.inState(caller, request, 'completed');
    await world.answerAll(organizationId, request.id);
    const told = await probe.expectEvents('core.subject_request.completed.v1', organizationId, 1);
    expect(told).toHaveLength(1);
    const [erased] = await probe.expectEvents('core.contact.erased.v1', organizationId, 1);
    expect(erased?.data).toMatchObject({ contact_id: contact.id, contact: null });
  }, 60_000);
});
