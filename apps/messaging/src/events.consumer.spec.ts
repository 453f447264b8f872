import { randomUUID } from 'node:crypto';
import { newId } from '@customer-platform/database';
import { RecordProducer, type ProvenRecord } from '@customer-platform/event-bus';
import { topicOfModule, type EventData } from '@customer-platform/events';
import {
  anOrganization,
  domainEvent,
  eventually,
  proofBy,
  type Caller,
  type ProbeEvent,
} from '@customer-platform/testing';
import {
  aContact,
  ALL_PERMISSIONS,
  aRecordedEvent,
  messagingWorld,
  oneSendOf,
  sendsOf,
  settled,
  template,
  type MessagingWorld,
  type ShownSend,
} from './messaging.fixture.js';
import type { RoutedType } from './vocabulary/events/routed-event.js';
import type { RoutableEvent } from './vocabulary/events/routed-event.js';

const ROUTING = '/v1/messaging/event-routing';
const SETTLED = { within: 20_000 };

type Contact = ReturnType<typeof aContact>;

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld();
});
afterAll(() => world.close());

interface Shop {
  readonly organizationId: string;
  readonly api: Caller;
}

const aShop = (): Shop => {
  const { id: organizationId } = anOrganization();
  return { organizationId, api: world.app.as(organizationId, ALL_PERMISSIONS) };
};

async function aRule({ api }: Shop, type: RoutableEvent, overrides: object = {}): Promise<void> {
  const body = {
    name: `Rule ${randomUUID()}`,
    event_type: type,
    ...(type === 'core.event.recorded' ? { event_name: 'invoice_paid' } : {}),
    channel: 'email',
    template_id: await template(api),
    ...overrides,
  };
  expect(await api.post(ROUTING, body)).toMatchObject({ status: 201 });
}

/** What one of core's events tells of a contact at a version. */
function change(
  { organizationId }: Shop,
  verb: 'created' | 'updated' | 'deleted' | 'restored',
  contact: Contact,
  version: number,
) {
  const data = { contact_id: contact.id, version, changed_fields: [], contact };
  return { type: `core.contact.${verb}.v1` as const, organizationId, data };
}

/** What a purchase leads to now. All of a contact's events keep their order: what was told before is known by then. */
async function sendFor(shop: Shop, contact: Contact): Promise<ShownSend> {
  const event = aRecordedEvent(shop.organizationId, contact);
  await world.probe.publish(event);
  const { id } = await oneSendOf(shop.api, event.correlationId);
  return settled(shop.api, id, 'sent', 'opted_out', 'failed');
}

const membership = (contact: Contact): EventData<'core.segment.entered.v1'> => ({
  segment_id: newId(),
  contact_id: contact.id,
  cause: 'event',
  at: new Date().toISOString(),
});
const points = (contact: Contact): EventData<'loyalty.points.earned.v1'> => ({
  transaction_id: newId(),
  contact_id: contact.id,
  points: 5,
  available: 5,
  rule_id: null,
  event_id: null,
});

describe('an event of another module that rules may answer to', () => {
  it.each([
    ['core.segment.entered', membership],
    ['core.segment.left', membership],
    ['loyalty.points.earned', points],
    ['loyalty.points.spent', points],
    ['loyalty.points.expired', points],
  ] as const)('%s leads to one mail to its contact, under its correlation id', async (name, dataOf) => {
    const shop = aShop();
    const contact = aContact();
    await aRule(shop, name);
    const event = {
      type: `${name}.v1`,
      organizationId: shop.organizationId,
      id: newId(),
      correlationId: newId(),
      data: dataOf(contact),
    } as ProbeEvent<RoutedType>;
    await world.probe.publish(change(shop, 'created', contact, 1));
    // Another module's topic has its own order: the contact is known first.
    await eventually(async () => {
      const known = await world.database.query('SELECT 1 FROM contacts WHERE id = $1', [contact.id]);
      expect(known).toHaveLength(1);
    }, SETTLED);
    await world.probe.publish(event, event);
    const [send] = await eventually(async () => {
      const found = await sendsOf(shop.api, event.correlationId ?? '');
      expect(found).toHaveLength(1);
      return found;
    }, SETTLED);
    expect(await settled(shop.api, send?.id ?? '', 'sent')).toMatchObject({
      contact_id: contact.id,
      address: contact.email,
    });
    expect(world.mail.to(contact.email)).toHaveLength(1);
  });
});

describe('what core tells of a contact', () => {
  it('is what is sent by: an update, and nothing older that comes after it', async () => {
    const shop = aShop();
    const contact = aContact();
    const moved = { ...contact, email: `${randomUUID()}@example.com` };
    await aRule(shop, 'core.event.recorded');
    await world.probe.publish(change(shop, 'created', contact, 1), change(shop, 'updated', moved, 3));
    await world.probe.publish(change(shop, 'updated', contact, 2));
    expect(await sendFor(shop, contact)).toMatchObject({ state: 'sent', address: moved.email });
  });

  it.each(['purged', 'erased'] as const)('ends with it: once %s, nothing is sent', async (verb) => {
    const shop = aShop();
    const { organizationId } = shop;
    const contact = aContact();
    await aRule(shop, 'core.event.recorded');
    const end = { contact_id: contact.id, version: 2, changed_fields: [], contact: null };
    const after = aRecordedEvent(shop.organizationId, contact);
    await world.probe.publish(change(shop, 'created', contact, 1));
    await world.probe.publish({ type: `core.contact.${verb}.v1` as const, organizationId, data: end });
    await world.probe.publish(after);
    // Rules have been asked about the purchase once it is in the inbox, in the transaction of what it led to.
    await eventually(async () => {
      const taken = await world.database.query('SELECT 1 FROM inbox WHERE event_id = $1', [after.id]);
      expect(taken).toHaveLength(1);
    }, SETTLED);
    const rows = await world.database.query('SELECT state, email FROM contacts WHERE id = $1', [contact.id]);
    expect(rows).toEqual([{ state: 'erased', email: null }]);
    expect(await sendsOf(shop.api, after.correlationId)).toEqual([]);
  });

  it('can be taken apart again: after an unmerge each is sent its own', async () => {
    const shop = aShop();
    const { organizationId } = shop;
    const [survivor, merged] = [aContact(), aContact()];
    await aRule(shop, 'core.event.recorded');
    const pair = { merge_id: newId(), survivor_id: survivor.id, merged_id: merged.id };
    await world.probe.publish(change(shop, 'created', survivor, 1), change(shop, 'created', merged, 1));
    // Each contact's events may be of another partition than the pair's, whose key is the survivor's.
    await eventually(async () => {
      const ids = [survivor.id, merged.id];
      const known = await world.database.query(
        'SELECT 1 FROM contacts WHERE id = ANY($1::uuid[]) AND email IS NOT NULL',
        [ids],
      );
      expect(known).toHaveLength(2);
    }, SETTLED);
    for (const [verb, version] of [
      ['merged', 2],
      ['unmerged', 3],
    ] as const) {
      await world.probe.publish({
        type: `core.contact.${verb}.v1` as const,
        organizationId,
        data: { ...pair, survivor_version: version, merged_version: version },
      });
      await eventually(async () => {
        const rows = await world.database.query('SELECT 1 FROM contacts WHERE id = $1 AND version = $2', [
          merged.id,
          version,
        ]);
        expect(rows).toHaveLength(1);
      }, SETTLED);
      const receiver = verb === 'merged' ? survivor : merged;
      expect(await sendFor(shop, merged)).toMatchObject({ contact_id: receiver.id, address: receiver.email });
    }
  });

  it('may come after its merge: neither the profile nor the merge is lost', async () => {
    const shop = aShop();
    const { organizationId } = shop;
    const [survivor, merged] = [aContact(), aContact()];
    const moved = { ...merged, email: `${randomUUID()}@example.com` };
    await aRule(shop, 'core.event.recorded');
    const pair = { merge_id: newId(), survivor_id: survivor.id, merged_id: merged.id };
    const row = (expected: object): Promise<void> =>
      eventually(async () => {
        const rows = await world.database.query(
          'SELECT version::int, state, email, merged_into FROM contacts WHERE id = $1',
          [merged.id],
        );
        expect(rows).toEqual([expected]);
      }, SETTLED);
    const told = (verb: 'merged' | 'unmerged', version: number) => ({
      type: `core.contact.${verb}.v1` as const,
      organizationId,
      data: { ...pair, survivor_version: version, merged_version: version },
    });
    const asMerged = { version: 3, state: 'merged', merged_into: survivor.id };
    await world.probe.publish(change(shop, 'created', survivor, 1));
    await world.probe.publish(told('merged', 3));
    await row({ ...asMerged, email: null });
    await world.probe.publish(change(shop, 'created', merged, 1));
    await row({ ...asMerged, email: merged.email });
    await world.probe.publish(change(shop, 'updated', moved, 2));
    await row({ ...asMerged, email: moved.email });
    expect(await sendFor(shop, merged)).toMatchObject({ contact_id: survivor.id, address: survivor.email });
    await world.probe.publish(told('unmerged', 4));
    await row({ version: 4, state: 'active', merged_into: null, email: moved.email });
    expect(await sendFor(shop, merged)).toMatchObject({ contact_id: merged.id, address: moved.email });
  });

  it.each([
    ['recorded', 'granted', 'sent', null],
    ['recorded', 'denied', 'opted_out', 'no_consent'],
    ['expired', 'expired', 'opted_out', 'no_consent'],
  ] as const)(
    'decides on marketing that needs a consent: %s as %s → %s',
    async (verb, status, state, reason) => {
      const shop = aShop();
      const { organizationId, api } = shop;
      const contact = aContact();
      const port = Number(new URL(world.mail.url).port);
      const smtp = { provider: 'smtp', from: 'shop@example.com', host: '127.0.0.1', port, security: 'none' };
      const email = { enabled: true, ...smtp, consent_mode: 'opt_in' };
      await api.call('PUT', '/v1/messaging/channel-settings', { body: { channels: { email } } });
      await aRule(shop, 'core.event.recorded', { category: 'marketing' });
      const consent = {
        contact_id: contact.id,
        purpose: 'marketing',
        channel: 'email',
        status,
        previous: null,
      };
      await world.probe.publish(change(shop, 'created', contact, 1));
      await world.probe.publish({ type: `core.consent.${verb}.v1` as const, organizationId, data: consent });
      expect(await sendFor(shop, contact)).toMatchObject({ state, reason });
    },
  );
});

describe('an erasure', () => {
  it('is not asked for by another module, on its topic or by its source', async () => {
    const shop = aShop();
    const { organizationId: id } = shop;
    const contact = aContact();
    const known = () => world.database.query('SELECT 1 FROM contacts WHERE id = $1', [contact.id]);
    await world.probe.publish(change(shop, 'created', contact, 1));
    await eventually(async () => expect(await known()).toHaveLength(1), SETTLED);
    const type = 'core.erasure.requested.v1';
    const forged = () => domainEvent(type, id, { subject_request_id: newId(), contact_id: contact.id });
    const records = [
      { topic: topicOfModule('core'), event: { ...forged(), source: 'urn:customer-platform:loyalty' } },
      { topic: topicOfModule('loyalty'), event: forged() },
    ];
    const producer = world.app.app.get(RecordProducer);
    for (const { topic, event } of records)
      await eventually(() => producer.send(topic, { key: contact.id, value: JSON.stringify(event) }));
    await eventually(async () => {
      const parked = await world.database.query<{ error: string }>(
        'SELECT DISTINCT topic, error FROM parked_events WHERE organization_id = $1 ORDER BY topic',
        [id],
      );
      expect(parked.map(({ error }) => error)).toEqual([
        `ForeignEvent: ${type} says that its source is another module`,
        `ForeignEvent: ${type} is no event of loyalty.domain-events`,
      ]);
    }, SETTLED);
    expect(await known()).toHaveLength(1);
  });

  it('is not asked for by who writes to core’s topic in core’s words, without its key', async () => {
    const shop = aShop();
    const { organizationId: id } = shop;
    const contact = aContact();
    const known = () => world.database.query('SELECT 1 FROM contacts WHERE id = $1', [contact.id]);
    await world.probe.publish(change(shop, 'created', contact, 1));
    await eventually(async () => expect(await known()).toHaveLength(1), SETTLED);
    const topic = topicOfModule('core');
    const producer = world.app.app.get(RecordProducer);
    const forge = async (headersOf: (record: ProvenRecord) => Record<string, Buffer>): Promise<void> => {
      const event = domainEvent('core.erasure.requested.v1', id, {
        subject_request_id: newId(),
        contact_id: contact.id,
      });
      const record = { topic, key: contact.id, value: JSON.stringify(event) };
      await eventually(() => producer.send(topic, { ...record, headers: headersOf(record) }));
    };
    await forge(() => ({}));
    await forge((record) => proofBy('loyalty', record));
    await forge((record) => proofBy('core', { ...record, value: '{}' }));
    await eventually(async () => {
      const parked = await world.database.query<{ error: string }>(
        'SELECT DISTINCT error FROM parked_events WHERE organization_id = $1 ORDER BY error',
        [id],
      );
      expect(parked.map(({ error }) => error)).toEqual([
        `UnprovenEvent: a record of ${topic} carries no proof of who wrote it`,
        `UnprovenEvent: a record of ${topic} is not what core signed`,
        `UnprovenEvent: a record of ${topic} is signed by loyalty, who does not write there`,
      ]);
    }, SETTLED);
    expect(await known()).toHaveLength(1);
  });
});
