import { newId } from '@customer-platform/database';
import { domainEvent, expectTenantTablesListed, PlantedRows } from '@customer-platform/testing';
import { EventsConsumer } from './events.consumer.js';
import { SUBJECT_TABLES } from './subject-tables.js';
import { messagingWorld, type MessagingWorld } from './messaging.fixture.js';
import { ORGANIZATION_IN_MESSAGING } from './organization-references.js';
import { MESSAGING_TENANT_TABLES } from './tenant-tables.fixture.js';

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld({ consume: false });
});
afterAll(() => world.close());

describe('the tables of messaging', () => {
  it('are each on the lists, with every column', () =>
    expectTenantTablesListed(world.database, {
      tables: MESSAGING_TENANT_TABLES,
      sources: import.meta.dirname,
      counted: ORGANIZATION_IN_MESSAGING,
      archived: SUBJECT_TABLES,
    }));

  it('keep nothing of an erased person in any column that is listed as erased', async () => {
    const { id: organizationId } = world.organization();
    const [contactId, sendId, key] = [newId(), newId(), 'a-keyed-hash'];
    const planted = await PlantedRows.of(world.database, {
      organizationId,
      contactId,
      tables: MESSAGING_TENANT_TABLES,
      rows: {
        contacts: { id: contactId, state: 'active' },
        sends: {
          ...{ id: sendId, channel: 'email', state: 'sent', category: 'marketing', source: 'api' },
          ...{ address_key: key, recipient: { contact_id: contactId } },
        },
        send_payloads: { send_id: sendId },
        suppressions: { channel: 'email', scope: 'address', key },
        lifted_suppressions: { channel: 'email', scope: 'address', key },
        preferences: { subject: `contact:${contactId}`, channel: 'email' },
        consents: { status: 'granted' },
        cap_counters: { channel: 'email', period: 'day' },
        campaign_members: { state: 'accepted', send_id: sendId },
        webhook_deliveries: { state: 'delivered' },
        idempotency_keys: { body: JSON.stringify({ contact_id: contactId }) },
        parked_events: { key: contactId },
      },
    });
    const data = { subject_request_id: newId(), contact_id: contactId };
    await world.app.app
      .get(EventsConsumer)
      .erase([domainEvent('core.erasure.requested.v1', organizationId, data)]);
    expect(await planted.left()).toEqual([]);
  });
});
