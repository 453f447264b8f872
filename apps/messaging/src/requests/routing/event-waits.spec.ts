import { randomUUID } from 'node:crypto';
import { Clock, newId } from '@customer-platform/database';
import { eventually, InternalPeer, type Caller } from '@customer-platform/testing';
import {
  aContact,
  aRecordedEvent,
  aSend,
  messagingWorld,
  oneSendOf,
  send,
  sendsOf,
  settled,
  template,
  type MessagingWorld,
  type ShownSend,
} from '../../messaging.fixture.js';
import { CONTACT_PATIENCE_MS } from '../../people/event-waits/event-waits.repository.js';

type Contact = ReturnType<typeof aContact>;

/** What core answers when it is asked, by contact. */
const inCore = new Map<string, Contact>();
/** Of these it answers into whom they were merged. */
const mergedInCore = new Map<string, string>();
/** Of these it answers what nobody here understands. */
const oddInCore = new Set<string>();
let core: InternalPeer;
let world: MessagingWorld;
let ahead = 0;
beforeAll(async () => {
  core = await InternalPeer.start({
    'POST /internal/contacts/lookup': (body) => ({
      data: (body as { ids: string[] }).ids.flatMap((id): object[] => {
        const survivor = mergedInCore.get(id);
        if (survivor !== undefined)
          return [{ id, state: 'merged', merged_into: survivor, version: 2, contact: null }];
        const contact = inCore.get(id);
        const state = oddInCore.has(id) ? 'of another release' : 'active';
        return contact ? [{ id, state, merged_into: null, version: 1, contact }] : [];
      }),
    }),
  });
  world = await messagingWorld({ env: { CORE_INTERNAL_URL: core.url } });
  world.app.app.get(Clock).now = () => new Date(Date.now() + ahead);
});
beforeEach(() => {
  ahead = 0;
});
afterAll(async () => {
  await world.close();
  await core.close();
});

async function rule(api: Caller, overrides: Record<string, unknown> = {}): Promise<void> {
  const answer = await api.post('/v1/messaging/event-routing', {
    name: `Rule ${randomUUID()}`,
    event_type: 'core.event.recorded',
    event_name: 'invoice_paid',
    channel: 'email',
    template_id: await template(api),
    ...overrides,
  });
  expect(answer.status).toBe(201);
}

function tell(organizationId: string, contact: Contact, state = 'active') {
  return world.probe.publish({
    type: state === 'active' ? 'core.contact.created.v1' : 'core.contact.deleted.v1',
    organizationId,
    data: {
      contact_id: contact.id,
      version: 1,
      changed_fields: [],
      contact: { ...contact, state: state as 'active' },
    },
  });
}

const waitsOf = (organizationId: string) =>
  world.database.query('SELECT event_id FROM event_waits WHERE organization_id = $1 ORDER BY created_at', [
    organizationId,
  ]);

async function waiting(organizationId: string, count: number): Promise<void> {
  await eventually(async () => expect(await waitsOf(organizationId)).toHaveLength(count), { within: 20_000 });
}

describe('an event that comes before its contact', () => {
  it('waits for it, and is judged by it', async () => {
    const { id: organizationId, api } = world.organization();
    const [pro, free] = [
      aContact({ attributes: { plan: 'pro' } }),
      aContact({ attributes: { plan: 'free' } }),
    ];
    await rule(api, { condition: { all: [{ path: 'contact.attributes.plan', op: 'eq', value: 'pro' }] } });
    const [event, other] = [aRecordedEvent(organizationId, pro), aRecordedEvent(organizationId, free)];
    await world.probe.publish(event, other, event);
    await waiting(organizationId, 2);
    expect(await sendsOf(api, event.correlationId)).toEqual([]);
    await tell(organizationId, pro);
    const { id } = await oneSendOf(api, event.correlationId);
    expect(await settled(api, id, 'sent')).toMatchObject({ contact_id: pro.id, address: pro.email });
    await tell(organizationId, free);
    await waiting(organizationId, 0);
    await world.probe.publish(event, aRecordedEvent(organizationId, pro));
    await eventually(async () =>
      expect((await api.get<{ data: unknown[] }>('/v1/messaging/sends')).body.data).toHaveLength(2),
    );
    expect(await sendsOf(api, event.correlationId)).toHaveLength(1);
    expect(await sendsOf(api, other.correlationId)).toEqual([]);
  });

  it('leads to its sends in the order in which the events came', async () => {
    const { id: organizationId, api } = world.organization();
    const contact = aContact();
    await rule(api);
    const events = Array.from({ length: 5 }, () => aRecordedEvent(organizationId, contact));
    for (const [index, event] of events.entries()) {
      await world.probe.publish(event);
      await waiting(organizationId, index + 1);
    }
    await tell(organizationId, contact);
    await waiting(organizationId, 0);
    const { body } = await api.get<{ data: ShownSend[] }>('/v1/messaging/sends?sort=created_at');
    const order = new Map(body.data.map(({ correlation_id: correlation }, index) => [correlation, index]));
    expect(events.map(({ correlationId }) => order.get(correlationId))).toEqual([0, 1, 2, 3, 4]);
  });

  it('ends where it can be seen when the contact has not come in 15 minutes', async () => {
    const { id: organizationId, api } = world.organization();
    const contact = aContact();
    const condition = (path: string) => ({ any: [{ path, op: 'eq', value: 'x' }] });
    await rule(api);
    await rule(api, { condition: condition('contact.attributes.plan') });
    await rule(api, { condition: condition('event.properties.plan') });
    await rule(api, { recipient: { from: 'address', value: 'sales@example.com' } });
    const event = aRecordedEvent(organizationId, contact, { plan: 'y' });
    await world.probe.publish(event);
    await waiting(organizationId, 1);
    ahead = CONTACT_PATIENCE_MS - 10_000;
    await world.probe.publish(aRecordedEvent(organizationId, aContact()));
    await waiting(organizationId, 2);
    expect(await sendsOf(api, event.correlationId)).toEqual([]);
    ahead = CONTACT_PATIENCE_MS + 1_000;
    await waiting(organizationId, 1);
    const seen = await sendsOf(api, event.correlationId);
    expect(seen.filter(({ state }) => state === 'failed')).toEqual([
      expect.objectContaining({ reason: 'recipient_unreachable', contact_id: contact.id }),
      expect.objectContaining({ reason: 'recipient_unreachable', contact_id: contact.id }),
    ]);
    expect(seen.filter(({ state }) => state !== 'failed')).toHaveLength(1);
    ahead = 0;
  });

  it('leads to nothing when the contact comes deleted', async () => {
    const { id: organizationId, api } = world.organization();
    const contact = aContact();
    await rule(api);
    const event = aRecordedEvent(organizationId, contact);
    await world.probe.publish(event);
    await waiting(organizationId, 1);
    await tell(organizationId, contact, 'deleted');
    await waiting(organizationId, 0);
    expect(await sendsOf(api, event.correlationId)).toEqual([]);
  });

  it('reaches the survivor of a merge that came in between', async () => {
    const { id: organizationId, api } = world.organization();
    const [survivor, merged] = [aContact(), aContact()];
    await rule(api);
    const event = aRecordedEvent(organizationId, merged);
    await world.probe.publish(event);
    await waiting(organizationId, 1);
    await world.probe.publish({
      type: 'core.contact.merged.v1',
      organizationId,
      data: {
        merge_id: newId(),
        survivor_id: survivor.id,
        merged_id: merged.id,
        survivor_version: 2,
        merged_version: 2,
      },
    });
    await eventually(async () =>
      expect(await world.database.query('SELECT 1 FROM contacts WHERE id = $1', [merged.id])).toHaveLength(1),
    );
    expect(await sendsOf(api, event.correlationId)).toEqual([]);
    await tell(organizationId, survivor);
    const { id } = await oneSendOf(api, event.correlationId);
    expect(await settled(api, id, 'sent')).toMatchObject({ address: survivor.email });
  });

  it('is told by core of a contact whose own event comes no more', async () => {
    const { id: organizationId, api } = world.organization();
    const contact = aContact();
    await rule(api);
    inCore.set(contact.id, contact);
    const event = aRecordedEvent(organizationId, contact);
    await world.probe.publish(event);
    const { id } = await oneSendOf(api, event.correlationId);
    await settled(api, id, 'sent');
    await waiting(organizationId, 0);
  });

  it('waits for a contact that core answers oddly, and keeps none of another waiting', async () => {
    const { id: organizationId, api } = world.organization();
    const [odd, plain] = [aContact(), aContact()];
    await rule(api);
    for (const contact of [odd, plain]) inCore.set(contact.id, contact);
    oddInCore.add(odd.id);
    const [ofOdd, ofPlain] = [aRecordedEvent(organizationId, odd), aRecordedEvent(organizationId, plain)];
    await world.probe.publish(ofOdd, ofPlain);
    const { id } = await oneSendOf(api, ofPlain.correlationId);
    await settled(api, id, 'sent');
    await waiting(organizationId, 1);
    expect(await sendsOf(api, ofOdd.correlationId)).toEqual([]);
    oddInCore.delete(odd.id);
    await settled(api, (await oneSendOf(api, ofOdd.correlationId)).id, 'sent');
  });
});

describe('a send to a contact that was merged', () => {
  it.each([
    ['neither is known here', 0],
    ['it is known here, and its survivor is not', 1],
    ['its survivor is known to be merged into another', 2],
  ])('goes to the end of the chain where %s', async (_, known) => {
    const { id, api } = world.organization();
    const [first, second, last] = [aContact(), aContact(), aContact()];
    mergedInCore.set(first.id, second.id).set(second.id, last.id);
    inCore.set(last.id, last);
    for (const [at, contact] of [first, second].slice(0, known).entries()) {
      await world.database.query(
        `INSERT INTO contacts (organization_id, id, version, state, merged_into) VALUES ($1, $2, 2, 'merged', $3)`,
        [id, contact.id, [second, last][at]?.id],
      );
    }
    const answer = await api.post<{ send_id: string }>(
      '/v1/messaging/sends',
      aSend({ recipient: { contact_id: first.id } }),
      { 'idempotency-key': randomUUID() },
    );
    expect(answer).toMatchObject({ status: 202 });
    expect(await settled(api, answer.body.send_id, 'sent')).toMatchObject({ contact_id: last.id });
  });

  it('after its acceptance goes to a survivor that is not known here', async () => {
    const { id, api } = world.organization();
    const [merged, survivor] = [aContact(), aContact()];
    await tell(id, merged);
    await eventually(async () => {
      expect(await world.database.query('SELECT 1 FROM contacts WHERE id = $1', [merged.id])).toHaveLength(1);
    });
    const notBefore = new Date(Date.now() + 3_600_000).toISOString();
    const waiting = await send(api, aSend({ recipient: { contact_id: merged.id }, not_before: notBefore }));
    inCore.set(survivor.id, survivor);
    await world.database.query(
      `UPDATE contacts SET state = 'merged', merged_into = $2, version = 2 WHERE id = $1`,
      [merged.id, survivor.id],
    );
    await world.database.query('UPDATE sends SET due_at = now() WHERE id = $1', [waiting]);
    expect(await settled(api, waiting, 'sent')).toMatchObject({ address: survivor.email });
  });
});
