import { Database, newId, type Transaction } from '@customer-platform/database';
import {
  DatabaseFault,
  eventually,
  expectProblem,
  expectStatus,
  type Caller,
} from '@customer-platform/testing';
import { at, CONTACTS } from '../../people/contacts/contact.fixture.js';
import type { ContactDto } from '../../people/contacts/contact.dto.js';
import { ContactPair } from '../../people/merges/contact-pair.js';
import { accepted, anIdentify, aTrack, START_MS } from '../../core.fixture.js';
import { ErasedIdentifiers } from '../../blocklist/erased-identifiers.js';
import { ErasureWorld, REQUESTS, VERIFICATION } from '../subject-request.fixture.js';

const IDENTIFY = '/v1/core/identify';
const PHONE = '+56912345678';

let world: ErasureWorld;
beforeAll(async () => {
  world = await ErasureWorld.start();
}, START_MS);
afterAll(() => world.close());

const erased = async (caller: Caller, contact: { id: string }): Promise<void> => {
  await world.doneByCore(caller, await world.erase(caller, { contact_id: contact.id }));
};

/** Waits until so many events were either stored or set aside. @returns how many were stored */
function storedOf(organizationId: string, events: number): Promise<number> {
  return eventually(
    async () => {
      const [row] = await world.contacts.query(
        `SELECT (SELECT count(*) FROM events WHERE organization_id = $1)::int AS stored,
                (SELECT count(*) FROM dead_letters WHERE organization_id = $1)::int AS dead`,
        [organizationId],
      );
      const { stored, dead } = row as { stored: number; dead: number };
      expect(stored + dead).toBe(events);
      return stored;
    },
    { within: 30_000 },
  );
}

async function read(caller: Caller, contact: { id: string }): Promise<ContactDto> {
  const answer = await caller.get<ContactDto>(at(contact));
  expectStatus(answer, 200);
  return answer.body;
}

const inOrganization = <T>(organizationId: string, work: (tx: Transaction) => Promise<T>): Promise<T> =>
  world.contacts.core.app.app.get(Database, { strict: false }).acrossOrganizations(async (tx) => {
    await tx.useOrganization(organizationId);
    return work(tx);
  });

/** Blocks a value, as an erasure of who had it alone did. */
const block = (organizationId: string, type: string, normal: string): Promise<void> =>
  inOrganization(organizationId, (tx) =>
    world.contacts.core.app.app
      .get(ErasedIdentifiers, { strict: false })
      .block(tx, newId(), [{ type, normal }]),
  );

describe('what an erased person had in common with others', () => {
  it('stays theirs: in a field whose identity is another’s, and as an identity that was yielded', async () => {
    const { id, caller } = world.contacts.anOrganization();
    const deleted = await world.contacts.created(caller, { phone: PHONE });
    expectStatus(await caller.delete(at(deleted)), 204);
    const person = await world.contacts.created(caller, { email: 'family@example.com', phone: PHONE });
    const shared = anIdentify({ external_id: 'child', traits: { email: 'family@example.com' } });
    await accepted(caller, shared, IDENTIFY);
    expect(await storedOf(id, 1)).toBe(1);
    await erased(caller, person);
    await accepted(caller, { ...shared, idempotency_key: newId() }, IDENTIFY);
    await accepted(caller, anIdentify({ external_id: 'other', traits: { phone: PHONE } }), IDENTIFY);
    expect(await storedOf(id, 3)).toBe(3);
    expectProblem(await caller.post(CONTACTS, { external_id: person.external_id }), 409, 'subject_erased');
  }, 60_000);

  it('is no bar to a contact that has it although it was blocked', async () => {
    const { id, caller } = world.contacts.anOrganization();
    const living = await world.contacts.created(caller, { external_id: 'living', email: 'own@example.com' });
    await block(id, 'email', 'own@example.com');
    const own = { traits: { email: 'own@example.com', last_name: 'Eva' } };
    await accepted(caller, anIdentify({ ...own, external_id: 'living' }), IDENTIFY);
    await accepted(caller, anIdentify({ ...own, external_id: 'somebody' }), IDENTIFY);
    expect(await storedOf(id, 2)).toBe(1);
    expect((await read(caller, living)).last_name).toBe('Eva');
  }, 60_000);
});

describe('the number of an erased person', () => {
  it.each([
    ['with blanks around the country', {}, { country: ' CL ', phone: '9 1234 5678' }],
    ['by the country that the contact has', { country: 'CL' }, { phone: '9 1234 5678' }],
    [
      'by a country that is older than the contact’s',
      { country: 'PE' },
      { country: 'cl', phone: '9 1234 5678' },
    ],
  ])(
    'is read as a profile reads it: %s',
    async (_, has, traits) => {
      const { id, caller } = world.contacts.anOrganization();
      const living = await world.contacts.created(caller, { external_id: 'living', country: null, ...has });
      await erased(caller, await world.contacts.created(caller, { phone: PHONE }));
      await accepted(caller, anIdentify({ external_id: 'living', traits }), IDENTIFY);
      expect(await storedOf(id, 1)).toBe(0);
      expect((await read(caller, living)).phone).toBeNull();
    },
    60_000,
  );
});

describe('what is blocked comes back', () => {
  it('neither with a contact that is restored nor with one that is parted', async () => {
    const { id, caller } = world.contacts.anOrganization();
    const yielding = await world.contacts.created(caller, { email: 'back@example.com' });
    expectStatus(await caller.delete(at(yielding)), 204);
    const taker = await world.contacts.created(caller, { email: 'back@example.com' });
    expectStatus(await caller.patch(at(taker), { email: null }), 200);
    const [survivor, merged] = [
      await world.contacts.created(caller),
      await world.contacts.created(caller, { email: 'parted@example.com' }),
    ];
    const merge = { survivor_id: survivor.id, merged_id: merged.id };
    const done = await caller.post<{ merge_id: string }>(`${CONTACTS}/merge`, merge);
    expectStatus(done, 200);
    expectStatus(await caller.patch(at(survivor), { email: null }), 200);
    await block(id, 'email', 'back@example.com');
    await block(id, 'email', 'parted@example.com');
    expectStatus(await caller.post(at(yielding, '/restore'), {}), 200);
    const undo = { undo_merge_id: done.body.merge_id };
    expectStatus(await caller.post(`${CONTACTS}/merge`, undo), 200);
    for (const contact of [yielding, merged])
      expect(await world.contacts.identitiesOf(contact)).toEqual([`external_id:${contact.external_id}`]);
  }, 60_000);
});

describe('an erasure under way', () => {
  /** Holds erasures of the organization up before their second round. */
  const heldUp = (organizationId: string) =>
    DatabaseFault.in(world.contacts.core.database, {
      table: 'contact_erasures',
      on: 'UPDATE',
      when: `NEW.round = 2 AND NEW.organization_id = '${organizationId}'`,
    });

  it('takes nothing of a person who was let back in', async () => {
    const { id, caller } = world.contacts.anOrganization();
    const person = await world.contacts.created(caller, { external_id: 'back', email: 'back@example.com' });
    const fault = await heldUp(id);
    const request = await world.erase(caller, { contact_id: person.id });
    await world.beforeRoundTwo(request);
    const key = { 'idempotency-key': newId() };
    const body = { email: 'back@example.com', readmit_reason: 'Came back to the shop' };
    const again = await caller.post<{ id: string }>(CONTACTS, body, key);
    expectStatus(again, 201);
    const kept = await world.letter(id, anIdentify({ traits: { email: 'back@example.com' } }));
    const gone = await world.letter(id, aTrack({ external_id: 'back' }));
    await fault.mend();
    await world.doneByCore(caller, request);
    const rows = await world.contacts.query(
      'SELECT id FROM dead_letters WHERE organization_id = $1 AND payload IS NOT NULL',
      [id],
    );
    expect(rows).toEqual([{ id: kept }]);
    expect(rows).not.toContainEqual({ id: gone });
    expect((await caller.post<{ id: string }>(CONTACTS, body, key)).body.id).toBe(again.body.id);
  }, 90_000);

  it('takes what was suggested of the person meanwhile, and their values out of others’ suggestions', async () => {
    const { id, caller } = world.contacts.anOrganization();
    const person = await world.contacts.created(caller, { email: 'late@example.com' });
    const [one = '', other = ''] = [
      (await world.contacts.created(caller)).id,
      (await world.contacts.created(caller)).id,
    ].sort();
    const fault = await heldUp(id);
    const request = await world.erase(caller, { contact_id: person.id });
    await world.beforeRoundTwo(request);
    const reasons = ['late@example.com', 'else@example.com'].map((value) => ({
      ...{ signal: 'email', type: 'email', value, masked: 'l***' },
    }));
    for (const pair of [[person.id, one].sort(), [one, other]])
      await world.contacts.query(
        `INSERT INTO merge_suggestions (organization_id, id, first_id, second_id, state, reasons, score, created_at, updated_at)
         VALUES ($1, $2, $3, $4, 'open', $5, 0.96, now(), now())`,
        [id, newId(), ...pair, JSON.stringify(reasons)],
      );
    for (const contactId of [person.id, one, other])
      await world.contacts.query(
        `INSERT INTO identity_claimants (organization_id, type, normal_value, contact_id) VALUES ($1, 'email', 'late@example.com', $2)`,
        [id, contactId],
      );
    await fault.mend();
    await world.doneByCore(caller, request);
    const left = await world.contacts.query(
      'SELECT first_id, second_id, reasons, score FROM merge_suggestions WHERE organization_id = $1',
      [id],
    );
    expect(left).toEqual([{ first_id: one, second_id: other, reasons: [reasons[1]], score: 0.8 }]);
    expect(
      await world.contacts.query('SELECT FROM identity_claimants WHERE organization_id = $1', [id]),
    ).toEqual([]);
  }, 90_000);

  it('waits for an answer that is not kept yet', async () => {
    const { id, caller } = world.contacts.anOrganization();
    const person = await world.contacts.created(caller);
    await world.contacts.query(
      `INSERT INTO idempotency_keys (organization_id, route, key_hash, fingerprint, claim_id, lease_until, created_at, expires_at)
       VALUES ($1, 'POST ${REQUESTS}', '\\x01', 'f', $2, now() + interval '1 h', now() - interval '1 s', now() + interval '1 d')`,
      [id, newId()],
    );
    const request = await world.erase(caller, { contact_id: person.id, note: 'A note' });
    await world.beforeRoundTwo(request);
    const next = world.contacts.anOrganization();
    await erased(next.caller, await world.contacts.created(next.caller));
    await world.beforeRoundTwo(request);
    const body = { ...request, note: 'A note', verification: { ...VERIFICATION } };
    await world.contacts.query(
      `UPDATE idempotency_keys SET status = 202, body = $2 WHERE organization_id = $1 AND key_hash = '\\x01'`,
      [id, JSON.stringify(body)],
    );
    await world.doneByCore(caller, request);
    const [kept] = await world.contacts.query(
      `SELECT body::jsonb->'note' AS note, body::jsonb->'verification'->'reference' AS reference
         FROM idempotency_keys WHERE organization_id = $1 AND key_hash = '\\x01'`,
      [id],
    );
    expect(kept).toEqual({ note: null, reference: null });
  }, 90_000);

  it('deletes many events, matches and answers in pieces, and counts each once', async () => {
    const { id, caller } = world.contacts.anOrganization();
    const person = await world.contacts.created(caller);
    const other = await world.contacts.created(caller);
    const merge = { survivor_id: person.id, merged_id: other.id };
    expectStatus(await caller.post(`${CONTACTS}/merge`, merge), 200);
    const stranger = await world.contacts.created(caller);
    for (const contactId of [person.id, other.id, stranger.id]) {
      await world.contacts.query(
        `INSERT INTO events (organization_id, id, type, event, external_id, contact_id, idempotency_key, occurred_at, received_at,
                             payload, source, fingerprint)
         SELECT $1::uuid, gen_random_uuid(), 'track', 'seen', 'x', $2::uuid, gen_random_uuid(),
                '2026-01-01T00:00:00Z'::timestamptz + (n / 3) * interval '1 s', '2026-01-01T00:00:00Z', '{}', 'api', gen_random_uuid()
           FROM generate_series(1, 1200) AS n`,
        [id, contactId],
      );
    }
    for (const conditionId of [newId(), newId()]) {
      await world.contacts.query(
        `INSERT INTO segment_conditions (organization_id, id, event, fingerprint, state) VALUES ($1, $2, 'seen', $3, 'ready')`,
        [id, conditionId, conditionId],
      );
      await world.contacts.query(
        `INSERT INTO segment_matches (organization_id, condition_id, contact_id, occurred_at, event_id)
         SELECT $1::uuid, $2::uuid, contact_id, occurred_at, id FROM events WHERE organization_id = $1::uuid`,
        [id, conditionId],
      );
    }
    await world.contacts.query(
      `INSERT INTO idempotency_keys (organization_id, route, key_hash, fingerprint, status, body)
       SELECT $1::uuid, 'POST /v1/core/contacts', int4send(n), 'f', 201,
              jsonb_build_object('id', CASE WHEN n % 2 = 0 THEN $2::text ELSE $3::text END)::text FROM generate_series(1, 500) AS n`,
      [id, person.id, stranger.id],
    );
    // No statement may delete more than a piece.
    await world.contacts.query(
      `CREATE FUNCTION refuse_long() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         IF (SELECT count(*) FROM gone) > 1000 THEN RAISE EXCEPTION 'too long'; END IF; RETURN NULL; END $$`,
      [],
    );
    await world.contacts.query(
      `CREATE TRIGGER refuse_long AFTER DELETE ON segment_matches REFERENCING OLD TABLE AS gone
         FOR EACH STATEMENT EXECUTE FUNCTION refuse_long()`,
      [],
    );
    const request = await world.erase(caller, { contact_id: person.id });
    const done = await world.doneByCore(caller, request);
    expect(done.receipts[0]?.counts).toMatchObject({ events: 2_400, kept_answers: 250 });
    const [left] = await world.contacts.query(
      `SELECT (SELECT count(*) FROM events WHERE organization_id = $1)::int AS events,
              (SELECT count(*) FROM segment_matches WHERE organization_id = $1)::int AS matches,
              (SELECT count(*) FROM idempotency_keys WHERE organization_id = $1)::int AS answers`,
      [id],
    );
    expect(left).toEqual({ events: 1_200, matches: 2_400, answers: 250 });
  }, 120_000);
});

describe('whoever locks contacts', () => {
  it('waits for other locks as long as before', async () => {
    const { id, caller } = world.contacts.anOrganization();
    const contact = await world.contacts.created(caller);
    const pair = world.contacts.core.app.app.get(ContactPair, { strict: false });
    const [before, after] = await inOrganization(id, async (tx) => {
      const ask = () => tx.query(`SELECT current_setting('lock_timeout') AS patience`);
      const first = await ask();
      await pair.lock(tx, [contact.id]);
      return [first, await ask()];
    });
    expect(before).toEqual([{ patience: '10s' }]);
    expect(after).toEqual(before);
  });
});
