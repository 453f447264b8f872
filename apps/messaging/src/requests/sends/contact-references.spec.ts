import { randomUUID } from 'node:crypto';
import { newId, ReferenceHolds } from '@customer-platform/database';
import { eventually, type Caller } from '@customer-platform/testing';
import { aContact, aSend, messagingWorld, template, type MessagingWorld } from '../../messaging.fixture.js';

const SENDS = '/v1/messaging/sends';

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld();
});
afterAll(() => world.close());

const holds = (): ReferenceHolds => world.app.app.get(ReferenceHolds);
/** What core asks before it purges the contact. */
const asked = (organizationId: string, id: string, holdId = newId()) =>
  holds().countAndHold({ organizationId, resource: 'core.contacts', id }, holdId, 10_000);
const answer = (count: number) => [{ module: 'messaging', resource: 'sends', count }];

async function aKnownContact(organizationId: string) {
  const contact = aContact();
  await world.probe.publish({
    type: 'core.contact.created.v1',
    organizationId,
    data: { contact_id: contact.id, version: 1, changed_fields: [], contact },
  });
  await eventually(async () => {
    expect(await world.database.query('SELECT 1 FROM contacts WHERE id = $1', [contact.id])).toHaveLength(1);
  });
  return contact;
}

const post = (api: Caller, recipient: object) =>
  api.post<{ send_id: string; code?: string }>(SENDS, aSend({ recipient }), {
    'idempotency-key': randomUUID(),
  });
const contactOf = async (sendId: string) =>
  (await world.database.query('SELECT contact_id FROM sends WHERE id = $1', [sendId]))[0]?.['contact_id'];

describe('a contact that core is about to purge', () => {
  it('is told of with its sends', async () => {
    const { id, api } = world.organization();
    const contact = await aKnownContact(id);
    expect((await post(api, { contact_id: contact.id })).status).toBe(202);
    expect((await post(api, { address: contact.email })).status).toBe(202);
    expect(await asked(id, contact.id)).toEqual(answer(2));
    expect(await asked(newId(), contact.id)).toEqual(answer(0));
  });

  it('is sent nothing until core is done; what goes to its address alone does not point to it', async () => {
    const { id, api } = world.organization();
    const contact = await aKnownContact(id);
    const holdId = newId();
    expect(await asked(id, contact.id, holdId)).toEqual(answer(0));
    for (const recipient of [{ contact_id: contact.id }, { external_id: contact.external_id }]) {
      const { status, body } = await post(api, recipient);
      expect([status, body.code]).toEqual([422, 'recipient_unreachable']);
    }
    const { status, body } = await post(api, { address: contact.email });
    expect([status, await contactOf(body.send_id)]).toEqual([202, null]);
    await holds().release(id, holdId);
    const after = await post(api, { contact_id: contact.id });
    expect([after.status, await contactOf(after.body.send_id)]).toEqual([202, contact.id]);
  });

  it('is sent nothing by routing either', async () => {
    const { id, api } = world.organization();
    const [held, other] = [await aKnownContact(id), await aKnownContact(id)];
    const rule = {
      name: 'Receipts',
      event_type: 'core.event.recorded',
      event_name: 'invoice_paid',
      channel: 'email',
      template_id: await template(api),
    };
    expect((await api.post('/v1/messaging/event-routing', rule)).status).toBe(201);
    expect(await asked(id, held.id)).toEqual(answer(0));
    const paid = (contact: typeof held) => {
      const event_id = newId();
      return {
        type: 'core.event.recorded.v1' as const,
        organizationId: id,
        correlationId: event_id,
        data: {
          event_id,
          contact_id: contact.id,
          external_id: contact.external_id,
          event: 'invoice_paid',
          occurred_at: new Date().toISOString(),
          received_at: new Date().toISOString(),
          properties: {},
        },
      };
    };
    // In one chunk of one organization: where the other's send is, the held one's would be.
    await world.probe.publish(paid(held), paid(other));
    await eventually(
      async () => {
        const rows = await world.database.query('SELECT contact_id FROM sends WHERE organization_id = $1', [
          id,
        ]);
        expect(rows.map((row) => row['contact_id'])).toEqual([other.id]);
      },
      { within: 20_000 },
    );
    const inbox = await eventually(async () => {
      const rows = await world.database.query('SELECT 1 FROM inbox WHERE organization_id = $1', [id]);
      expect(rows).toHaveLength(2);
      return rows;
    });
    expect(inbox).toHaveLength(2);
    const sends = await world.database.query('SELECT contact_id FROM sends WHERE organization_id = $1', [id]);
    expect(sends.map((row) => row['contact_id'])).toEqual([other.id]);
  });
});
