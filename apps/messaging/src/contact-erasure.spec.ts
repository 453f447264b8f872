import { randomUUID } from 'node:crypto';
import { newId } from '@customer-platform/database';
import { eventually, type Caller } from '@customer-platform/testing';
import {
  aContact,
  aSend,
  history,
  messagingWorld,
  send,
  settled,
  type MessagingWorld,
} from './messaging.fixture.js';

const DAY_MS = 86_400_000;

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld();
  world.probe.collect('messaging');
});
afterAll(() => world.close());

type Person = ReturnType<typeof aContact>;

async function known(organizationId: string, contact: Person, version = 1): Promise<void> {
  await world.probe.publish({
    type: 'core.contact.updated.v1',
    organizationId,
    data: { contact_id: contact.id, version, changed_fields: [], contact },
  });
}

/** Has the contact erased and answers what messaging said when it was done. */
async function erase(organizationId: string, contactId: string, requestId = newId(), ids?: string[]) {
  const before = world.probe.events('messaging.erasure.completed.v1', organizationId).length;
  await world.probe.publish({
    type: 'core.erasure.requested.v1',
    organizationId,
    data: { subject_request_id: requestId, contact_id: contactId, ...(ids && { contact_ids: ids }) },
  });
  const told = await world.probe.expectEvents('messaging.erasure.completed.v1', organizationId, before + 1);
  return told.at(-1)?.data;
}

async function aKnownPerson(
  organizationId: string,
  overrides: Record<string, unknown> = {},
): Promise<Person> {
  const person = aContact({ first_name: `Name-${randomUUID()}`, phone: '+56912345678', ...overrides });
  await known(organizationId, person);
  await eventually(async () => {
    expect(await world.database.query('SELECT 1 FROM contacts WHERE id = $1', [person.id])).toHaveLength(1);
  });
  return person;
}

/** What an erasure must find although no route leads there: a send whose process died, a read, a cap, an event that waits. */
async function traces(organizationId: string, person: Person): Promise<string> {
  const lost = newId();
  await world.database.query(
    `WITH dead AS (INSERT INTO in_flight VALUES ($1, $2, 1, ARRAY['contact:' || $3::uuid], now() - interval '1 min'))
     INSERT INTO sends (organization_id, id, channel, state, category, contact_id, recipient, address, source, attempts,
       correlation_id, lane, due_at, created_at, updated_at)
     VALUES ($1, $2, 'email', 'dispatching', 'transactional', $3, '{}', $4, 'api', 1, $2, 0, now() + interval '1 hour',
       now(), now())`,
    [organizationId, lost, person.id, person.email],
  );
  await world.database.query('INSERT INTO notification_reads VALUES ($1, $2, now())', [
    organizationId,
    person.id,
  ]);
  await world.database.query(
    `INSERT INTO cap_counters (organization_id, contact_id, channel, period, begins_on, used)
     VALUES ($1, $2, 'email', 'day', now(), 1)`,
    [organizationId, person.id],
  );
  await world.database.query(
    `INSERT INTO event_waits VALUES ($1, gen_random_uuid(), $2, $3, now() + interval '15 min', now() + interval '1 min', now())`,
    [organizationId, person.id, JSON.stringify({ data: { external_id: person.external_id } })],
  );
  return lost;
}

/** Deliveries that wait: one of the contact, one that names it among others, one only of somebody like it. */
async function deliveriesAbout(
  organizationId: string,
  { id, external_id, first_name }: Person,
): Promise<[own: string, shared: string, anothers: string]> {
  const [own, shared, anothers, another] = [newId(), newId(), newId(), newId()];
  const payloads = [
    [own, { contact_id: id, traits: { name: first_name } }, id],
    [shared, { contact_ids: [another, id] }, null],
    [anothers, { contact_id: another, external_id: `${external_id}-other` }, another],
  ] as const;
  for (const [eventId, data, contactId] of payloads)
    await world.database.query(
      `INSERT INTO webhook_deliveries (organization_id, endpoint_id, event_id, type, payload, contact_id, correlation_id, due_at, created_at)
       VALUES ($1, $1, $2, 'core.contact.updated', $3, $4, gen_random_uuid(), now() + interval '1 day', now())`,
      [organizationId, eventId, JSON.stringify({ data }), contactId],
    );
  return [own, shared, anothers];
}

/** All rows of the organization, but for the ids of erased contacts, by which they are known to be gone. */
async function everything(organizationId: string): Promise<string> {
  const tables = await world.database.query<{ name: string }>(
    `SELECT c.table_name AS name FROM information_schema.columns c JOIN information_schema.tables t USING (table_name)
      WHERE c.column_name = 'organization_id' AND c.table_schema = 'public' AND t.table_type = 'BASE TABLE'
        AND c.table_name NOT IN ('outbox', 'audit_entries', 'reference_holds')`,
  );
  const rows = await Promise.all(
    tables.map(({ name }) =>
      world.database.query(
        `SELECT to_jsonb(t) ${name === 'contacts' ? "- 'id'" : ''} AS row FROM ${name} t WHERE organization_id = $1`,
        [organizationId],
      ),
    ),
  );
  return JSON.stringify(rows);
}

const suppress = (api: Caller, address: string) =>
  api.post('/v1/messaging/suppressions', {
    channel: 'email',
    address,
    reason: 'manual',
    note: `Asked by ${address}`,
  });

describe('the erasure of a contact', () => {
  it('takes the person out of every row, and leaves what was done', async () => {
    const { id, api } = world.organization();
    const person = await aKnownPerson(id);
    const metadata = { of: person.first_name };
    const sent = await send(
      api,
      aSend({
        recipient: { contact_id: person.id },
        content: { subject: `For ${person.first_name}`, text: 'Hello.' },
        metadata,
      }),
    );
    await settled(api, sent, 'sent');
    const waiting = await send(
      api,
      aSend({
        recipient: { external_id: person.external_id },
        not_before: new Date(Date.now() + DAY_MS).toISOString(),
        data: { name: person.first_name },
        metadata,
      }),
    );
    await world.database.query(
      `INSERT INTO notifications VALUES ($1, gen_random_uuid(), $2, $3, 'Hello.', NULL, NULL, now())`,
      [id, person.id, person.first_name],
    );
    await world.probe.publish({
      type: 'core.consent.recorded.v1',
      organizationId: id,
      data: {
        contact_id: person.id,
        event_id: newId(),
        purpose: 'marketing',
        channel: null,
        status: 'granted',
        previous: null,
      } as never,
    });
    const values = [person.id, person.email, person.external_id, person.first_name];
    const before = await everything(id);
    for (const value of values) expect(before).toContain(value);

    expect(await erase(id, person.id)).toMatchObject({ counts: { sends: 2, notifications: 1 } });

    const after = await everything(id);
    for (const value of values) expect(after).not.toContain(value);
    expect(await settled(api, sent, 'sent')).toMatchObject({
      contact_id: null,
      address: null,
      subject: null,
      correlation_id: null,
    });
    expect((await history(api, sent)).map(({ state }) => state)).toContain('sent');
    expect(await settled(api, waiting, 'canceled')).toMatchObject({ reason: 'erased' });
  });

  it('leaves suppressions and opt-outs, by their keys, and these still block', async () => {
    const { id, api } = world.organization();
    const [suppressed, opted] = [await aKnownPerson(id), await aKnownPerson(id)];
    expect((await suppress(api, suppressed.email)).status).toBe(201);
    await world.database.query(`INSERT INTO preferences VALUES ($1, $2, 'email', '', false, now())`, [
      id,
      `contact:${opted.id}`,
    ]);
    expect(await erase(id, suppressed.id)).toMatchObject({ counts: { suppressions: 1 } });
    expect(await erase(id, opted.id)).toMatchObject({ counts: { preferences: 1 } });
    const after = await everything(id);
    for (const { id: contactId, email } of [suppressed, opted]) {
      expect(after).not.toContain(email);
      expect(after).not.toContain(contactId);
    }
    const refused = await api.post<{ code: string }>(
      '/v1/messaging/sends',
      aSend({ recipient: { address: suppressed.email } }),
      { 'idempotency-key': randomUUID() },
    );
    expect([refused.status, refused.body.code]).toEqual([422, 'recipient_suppressed']);
    const marketing = await send(api, aSend({ recipient: { address: opted.email }, category: 'marketing' }));
    await settled(api, marketing, 'opted_out');
  });

  it('takes those along whose merge was heard of before they were', async () => {
    const { id, api } = world.organization();
    const [survivor, merged] = [await aKnownPerson(id), aContact()];
    const pair = { merge_id: newId(), survivor_id: survivor.id, merged_id: merged.id };
    const data = { ...pair, survivor_version: 2, merged_version: 2 };
    await world.probe.publish({ type: 'core.contact.merged.v1', organizationId: id, data });
    const rows = (condition: string): Promise<void> =>
      eventually(async () => {
        const found = await world.database.query(`SELECT 1 FROM contacts WHERE id = $1 AND ${condition}`, [
          merged.id,
        ]);
        expect(found).toHaveLength(1);
      });
    await rows(`state = 'merged'`);
    await known(id, merged);
    await rows('email IS NOT NULL');
    expect((await suppress(api, merged.email)).status).toBe(201);
    expect(await erase(id, survivor.id)).toMatchObject({ counts: { suppressions: 1 } });
    expect(await everything(id)).not.toContain(merged.email);
  });

  it('takes those along who were merged into it', async () => {
    const { id, api } = world.organization();
    const [survivor, merged] = [await aKnownPerson(id), await aKnownPerson(id)];
    const sent = await send(api, aSend({ recipient: { contact_id: merged.id } }));
    await settled(api, sent, 'sent');
    await world.probe.publish({
      type: 'core.contact.merged.v1',
      organizationId: id,
      data: {
        merge_id: newId(),
        survivor_id: survivor.id,
        merged_id: merged.id,
        survivor_version: 2,
        merged_version: 2,
      },
    });
    expect(await erase(id, survivor.id)).toMatchObject({ counts: { sends: 1 } });
    const after = await everything(id);
    for (const { id: contactId, email } of [survivor, merged]) {
      expect(after).not.toContain(email);
      expect(after).not.toContain(contactId);
    }
  });

  it.each(['who was merged', 'the survivor'])(
    'of %s spares the other, of whose parting nothing has been heard yet',
    async (which) => {
      const { id, api } = world.organization();
      const [survivor, merged] = [await aKnownPerson(id), await aKnownPerson(id)];
      const pair = { merge_id: newId(), survivor_id: survivor.id, merged_id: merged.id };
      const data = { ...pair, survivor_version: 2, merged_version: 2 };
      await world.probe.publish({ type: 'core.contact.merged.v1', organizationId: id, data });
      const row = `SELECT 1 FROM contacts WHERE id = '${merged.id}' AND state = 'merged'`;
      await eventually(async () => expect(await world.database.query(row)).toHaveLength(1));
      const [gone, other] = which === 'the survivor' ? [survivor, merged] : [merged, survivor];
      await erase(id, gone.id, newId(), gone === survivor ? [gone.id] : undefined);
      await settled(api, await send(api, aSend({ recipient: { contact_id: other.id } })), 'sent');
    },
  );

  it('holds against what is told later, and answers a repeated request with its receipt', async () => {
    const { id, api } = world.organization();
    const person = await aKnownPerson(id);
    const requestId = newId();
    const first = await erase(id, person.id, requestId);
    await known(id, person, 9);
    expect(await erase(id, person.id, requestId)).toEqual(first);
    expect(await everything(id)).not.toContain(person.email);
    const answer = await api.post<{ code: string }>(
      '/v1/messaging/sends',
      aSend({ recipient: { contact_id: person.id } }),
      { 'idempotency-key': randomUUID() },
    );
    expect([answer.status, answer.body.code]).toEqual([422, 'recipient_unreachable']);
  });

  it('races 60 sends to the contact: none points to it afterwards', async () => {
    const { id, api } = world.organization();
    const person = await aKnownPerson(id);
    const posting = Array.from({ length: 60 }, () =>
      api.post('/v1/messaging/sends', aSend({ recipient: { contact_id: person.id } }), {
        'idempotency-key': randomUUID(),
      }),
    );
    await Promise.race(posting);
    await erase(id, person.id);
    for (const { status } of await Promise.all(posting)) expect([202, 422]).toContain(status);
    expect(await everything(id)).not.toContain(person.id);
  });

  it('leaves nothing in any table: reads, caps, payloads that wait, events that wait, sends that never knew whose they were', async () => {
    const { id, api } = world.organization();
    const person = aContact({
      first_name: `Name-${randomUUID()}`,
      phone: '+56912345679',
      external_id: `ext-${randomUUID()}`,
    });
    // Before anybody knows the contact.
    const early = await send(
      api,
      aSend({ recipient: { address: person.email }, metadata: { of: person.first_name } }),
    );
    await settled(api, early, 'sent');
    const waiting = await send(
      api,
      aSend({
        recipient: { address: person.email.toUpperCase() },
        not_before: new Date(Date.now() + DAY_MS).toISOString(),
        data: { name: person.first_name },
      }),
    );
    const others = await send(api, aSend({ metadata: { of: 'others' } }));
    await known(id, person);
    await eventually(async () => {
      expect(await world.database.query('SELECT 1 FROM contacts WHERE id = $1', [person.id])).toHaveLength(1);
    });
    const lost = await traces(id, person);
    const [own, shared, anothers] = await deliveriesAbout(id, person);
    const values = [person.id, person.email, person.first_name];
    const before = await everything(id);
    for (const value of [...values, `"${person.external_id}`]) expect(before).toContain(value);

    expect(await erase(id, person.id)).toMatchObject({ counts: { sends: 3, webhook_deliveries: 1 } });
    await eventually(
      async () =>
        expect(
          await world.database.query('SELECT 1 FROM background_jobs WHERE organization_id = $1', [id]),
        ).toEqual([]),
      { within: 20_000 },
    );

    const after = (await everything(id)).replaceAll(`${person.external_id}-other`, '');
    for (const value of [...values, person.email.toUpperCase(), person.external_id])
      expect(after).not.toContain(value);
    const left = await world.database.query(
      `SELECT event_id, state, error, payload FROM webhook_deliveries WHERE organization_id = $1 ORDER BY state, event_id`,
      [id],
    );
    expect(left.slice(0, 2)).toEqual(
      [own, shared].sort().map((event_id) => ({ event_id, state: 'failed', error: 'erased', payload: null })),
    );
    expect(left[2]).toMatchObject({ event_id: anothers, state: 'pending' });
    expect(await settled(api, early, 'sent')).toMatchObject({ address: null, correlation_id: null });
    expect(await settled(api, waiting, 'canceled')).toMatchObject({ reason: 'erased' });
    expect(await settled(api, lost, 'unknown')).toMatchObject({ reason: 'outcome_unknown' });
    expect((await settled(api, others, 'sent')).address).not.toBeNull();
  });

  it('waits for the hand-offs of 60 sends that are under way; none begins after it, and nothing is written back', async () => {
    const { id, api } = world.organization();
    const person = await aKnownPerson(id, { phone: null });
    const recipients = [
      { contact_id: person.id },
      { external_id: person.external_id },
      { address: person.email },
    ];
    world.mail.delay = (stage) => (stage === 'content' ? 300 : 0);
    const begun = () => world.mail.begun.filter(({ to }) => to === person.email).length;
    try {
      for (let n = 0; n < 60; n += 1)
        await send(api, aSend({ recipient: recipients[n % 3], metadata: { of: person.first_name } }));
      await eventually(() => expect(begun()).toBeGreaterThan(0), { within: 20_000, every: 2 });
      await erase(id, person.id);
      const atReceipt = begun();
      const open = await world.database.query(
        `SELECT state FROM sends WHERE organization_id = $1 AND (due_at IS NOT NULL OR state = 'dispatching')`,
        [id],
      );
      expect(open).toEqual([]);
      expect(await world.database.query('SELECT 1 FROM in_flight WHERE organization_id = $1', [id])).toEqual(
        [],
      );
      // A later send of somebody else goes its way: the dispatcher has been round again.
      await settled(api, await send(api, aSend()), 'sent');
      expect(begun()).toBe(atReceipt);
      const after = await everything(id);
      for (const value of [person.id, person.email, person.external_id, person.first_name])
        expect(after).not.toContain(value);
      const told = world.probe
        .events('messaging.send.sent.v1', id)
        .filter(({ data }) => data.contact_id !== null);
      expect(told.length).toBe(atReceipt);
    } finally {
      world.mail.delay = () => 0;
    }
  });
});
