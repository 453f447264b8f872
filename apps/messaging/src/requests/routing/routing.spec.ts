import { randomUUID } from 'node:crypto';
import { newId } from '@customer-platform/database';
import { eventually, itBehavesLikeASoftDeletableResource, type Caller } from '@customer-platform/testing';
import {
  aContact,
  aRecordedEvent,
  messagingWorld,
  oneSendOf,
  sendsOf,
  settled,
  template,
  type MessagingWorld,
  type ShownSend,
} from '../../messaging.fixture.js';

const ROUTING = '/v1/messaging/event-routing';

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld();
});
afterAll(() => world.close());

function aRule(templateId: string, overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    name: `Rule ${randomUUID()}`,
    event_type: 'core.event.recorded',
    event_name: 'invoice_paid',
    channel: 'email',
    template_id: templateId,
    ...overrides,
  };
}

async function rule(
  api: Caller,
  overrides: Record<string, unknown> = {},
  content: Record<string, unknown> = {},
): Promise<string> {
  const answer = await api.post<{ id: string }>(ROUTING, aRule(await template(api, content), overrides));
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return answer.body.id;
}

type Contact = ReturnType<typeof aContact>;

async function tellOf(organizationId: string, contact: Contact): Promise<void> {
  await world.probe.publish({
    type: 'core.contact.created.v1',
    organizationId,
    data: { contact_id: contact.id, version: 1, changed_fields: [], contact },
  });
}

const PAYMENT = { amount: 12990, currency: 'CLP', email: 'payer@example.com' };

function recorded(organizationId: string, contact: Contact, overrides: Record<string, unknown> = {}) {
  const event = aRecordedEvent(organizationId, contact, PAYMENT);
  return { ...event, data: { ...event.data, ...overrides } };
}

/** Publishes and waits until the send it led to is there. */
async function sendFor(api: Caller, event: ReturnType<typeof recorded>): Promise<ShownSend> {
  await world.probe.publish(event);
  return oneSendOf(api, event.correlationId);
}

describe('event routing', () => {
  const templates = new Map<string, Promise<string>>();
  itBehavesLikeASoftDeletableResource({
    app: () => world.app,
    path: ROUTING,
    permissions: {
      read: 'messaging.routing.read',
      create: 'messaging.routing.update',
      update: 'messaging.routing.update',
      delete: 'messaging.routing.delete',
      purge: 'messaging.routing.purge',
    },
    needsBeside: ['core.contacts.read', 'core.events.read'],
    body: async (number, organizationId) => {
      const author = world.app.as(organizationId, ['messaging.templates.create']);
      if (!templates.has(organizationId)) templates.set(organizationId, template(author));
      return aRule((await templates.get(organizationId)) ?? '', { name: `Rule ${number}` });
    },
    patch: (number) => ({ delay_seconds: number }),
    unique: 'name',
  });

  it('is found by the beginning of its name, ignoring case', async () => {
    const { api } = world.organization();
    const id = await rule(api, { name: 'Receipt' });
    await rule(api, { name: 'Welcome' });
    const found = async (query: string): Promise<string[]> =>
      (await api.get<{ data: { id: string }[] }>(`${ROUTING}?${query}`)).body.data.map((each) => each.id);
    expect(await found('name[prefix]=rEC')).toEqual([id]);
    expect(await found('name=receipt')).toEqual([id]);
    expect(await found('name[prefix]=eceipt')).toEqual([]);
  });

  it.each([
    [{ event_name: undefined }, '/event_name', 'required'],
    [{ event_type: 'loyalty.points.earned' }, '/event_name', 'not_allowed'],
    [{ event_type: 'messaging.send.sent' }, '/event_type', 'invalid_enum'],
    [{ recipient: { from: 'event' } }, '/recipient/path', 'required'],
    [
      { recipient: { from: 'address', value: 'Ana <ana@example.com>' } },
      '/recipient/value',
      'invalid_address',
    ],
    [
      { channel: 'sms', recipient: { from: 'address', value: '+560987650052' } },
      '/recipient/value',
      'invalid_address',
    ],
    [{ condition: { all: [{ path: 'x', op: 'eq', value: 1 }] } }, '/condition/all/0/path', 'invalid_format'],
    [{ delay_seconds: 30 * 86_400 + 1 }, '/delay_seconds', 'out_of_range'],
    [{ channel: 'sms' }, '/template_id', 'not_allowed'],
    [{ topic: 'news' }, '/topic', 'invalid_enum'],
    [{ template_id: randomUUID() }, '/template_id', 'reference_not_found'],
  ])('refuses %j', async (overrides, pointer, code) => {
    const { api } = world.organization();
    const answer = await api.post<{ errors: object[] }>(ROUTING, {
      ...aRule(await template(api)),
      ...overrides,
    });
    expect(answer.body.errors).toEqual([expect.objectContaining({ pointer, code })]);
  });

  it('422 reference_deleted for a soft-deleted template, which a rule then keeps from its purge', async () => {
    const { api } = world.organization();
    const id = await template(api);
    expect((await api.post(ROUTING, aRule(id))).status).toBe(201);
    await api.delete(`/v1/messaging/templates/${id}`);
    expect(await api.post(ROUTING, aRule(id))).toMatchObject({
      status: 422,
      body: { code: 'reference_deleted' },
    });
    expect(await api.delete(`/v1/messaging/templates/${id}/purge`)).toMatchObject({
      status: 409,
      body: { references: [{ module: 'messaging', resource: 'event-routing', count: 1 }] },
    });
  });

  it('finds another organization’s template nowhere', async () => {
    const [mine, other] = [world.organization(), world.organization()];
    const answer = await mine.api.post(ROUTING, aRule(await template(other.api)));
    expect(answer).toMatchObject({ status: 422, body: { code: 'reference_not_found' } });
  });
});

describe('an event that a rule answers to', () => {
  it('leads to one mail under the event’s correlation id', async () => {
    const { id: organizationId, api } = world.organization();
    const contact = aContact();
    const ruleId = await rule(
      api,
      {},
      {
        locales: {
          es: { subject: '{{ contact.first_name }}: {{ event.properties.amount }}', html: '<p>Gracias</p>' },
        },
      },
    );
    await tellOf(organizationId, contact);
    const event = recorded(organizationId, contact);
    const { id } = await sendFor(api, event);
    const sent = await settled(api, id, 'sent');
    expect(sent).toMatchObject({
      contact_id: contact.id,
      correlation_id: event.correlationId,
      subject: 'Ana: 12990',
      source: 'routing',
      source_id: ruleId,
    });
    const [mail] = await world.mail.parsed(String(contact.email));
    expect(mail?.headers.find(({ key }) => key === 'x-correlation-id')?.value).toBe(event.correlationId);
    const timeline = await api.get<{ data: ShownSend[] }>(`/v1/messaging/sends?contact_id=${contact.id}`);
    expect(timeline.body.data.map((one) => one.id)).toEqual([id]);
  });

  it('leads to one send however often it is delivered', async () => {
    const { id: organizationId, api } = world.organization();
    const contact = aContact();
    await rule(api);
    await tellOf(organizationId, contact);
    const event = { ...recorded(organizationId, contact), id: newId() };
    await world.probe.publish(event, event, event);
    await sendFor(api, event);
    await sendFor(api, recorded(organizationId, contact));
    expect(await sendsOf(api, event.correlationId)).toHaveLength(1);
  });

  it('is judged by its conditions on event and contact', async () => {
    const { id: organizationId, api } = world.organization();
    const [pro, free] = [
      aContact({ attributes: { plan: 'pro' } }),
      aContact({ attributes: { plan: 'free' } }),
    ];
    const condition = {
      all: [
        { path: 'event.properties.amount', op: 'gte', value: 10_000 },
        { path: 'contact.attributes.plan', op: 'eq', value: 'pro' },
      ],
    };
    await rule(api, { condition });
    for (const contact of [pro, free]) await tellOf(organizationId, contact);
    const small = recorded(organizationId, pro, { properties: { amount: 1 } });
    const poor = recorded(organizationId, free);
    const other = recorded(organizationId, pro, { event: 'invoice_created' });
    await world.probe.publish(small, poor, other);
    await sendFor(api, recorded(organizationId, pro));
    // The free contact's key may be of another partition: a later event of it has come through when this one leads to a send.
    await api.patch(`${ROUTING}/${(await api.get<{ data: { id: string }[] }>(ROUTING)).body.data[0]?.id}`, {
      condition: null,
    });
    await sendFor(api, recorded(organizationId, free));
    for (const event of [small, poor, other]) expect(await sendsOf(api, event.correlationId)).toEqual([]);
  });

  it('goes to the address in the event, or to a fixed one', async () => {
    const { id: organizationId, api } = world.organization();
    const contact = aContact();
    await rule(api, { recipient: { from: 'event', path: 'properties.email' } });
    await rule(api, { recipient: { from: 'address', value: 'sales@example.com' } });
    await rule(api, { recipient: { from: 'event', path: 'properties.nothing' } });
    const event = recorded(organizationId, contact);
    await tellOf(organizationId, contact);
    await world.probe.publish(event);
    await eventually(
      async () => {
        const found = (await sendsOf(api, event.correlationId)).map(({ address, state, reason }) => [
          address,
          state,
          reason,
        ]);
        expect(found.sort()).toEqual(
          [
            [null, 'failed', 'recipient_unreachable'],
            ['payer@example.com', 'sent', null],
            ['sales@example.com', 'sent', null],
          ].sort(),
        );
      },
      { within: 20_000 },
    );
  });

  it('of a soft-deleted contact leads to nothing at all', async () => {
    const { id: organizationId, api } = world.organization();
    const contact = aContact();
    await rule(api);
    await tellOf(organizationId, contact);
    await world.probe.publish({
      type: 'core.contact.deleted.v1',
      organizationId,
      data: {
        contact_id: contact.id,
        version: 2,
        changed_fields: [],
        contact: { ...contact, state: 'deleted' as const },
      },
    });
    const event = recorded(organizationId, contact);
    await world.probe.publish(event);
    await world.probe.publish({
      type: 'core.contact.restored.v1',
      organizationId,
      data: { contact_id: contact.id, version: 3, changed_fields: [], contact },
    });
    await sendFor(api, recorded(organizationId, contact));
    expect(await sendsOf(api, event.correlationId)).toEqual([]);
  });

  it('of a segment sends only for causes that may', async () => {
    const { id: organizationId, api } = world.organization();
    const contact = aContact();
    await rule(api, { event_type: 'core.segment.entered', event_name: undefined });
    await tellOf(organizationId, contact);
    const entered = (cause: 'event' | 'import') => ({
      type: 'core.segment.entered.v1' as const,
      organizationId,
      correlationId: newId(),
      data: { segment_id: newId(), contact_id: contact.id, cause, at: new Date().toISOString() },
    });
    const [imported, live] = [entered('import'), entered('event')];
    await world.probe.publish(imported, live);
    await eventually(async () => expect(await sendsOf(api, live.correlationId)).toHaveLength(1), {
      within: 20_000,
    });
    expect(await sendsOf(api, imported.correlationId)).toEqual([]);
  });

  it('waits for the rule’s delay; disabling the rule calls it off', async () => {
    const { id: organizationId, api } = world.organization();
    const contact = aContact();
    const ruleId = await rule(api, { delay_seconds: 3_600 });
    await tellOf(organizationId, contact);
    const { id } = await sendFor(api, recorded(organizationId, contact));
    expect((await settled(api, id, 'accepted')).release_at).not.toBeNull();
    expect((await api.patch(`${ROUTING}/${ruleId}`, { enabled: false })).status).toBe(200);
    expect(await settled(api, id, 'canceled')).toMatchObject({ reason: 'rule_disabled', release_at: null });
  });

  it('reaches the survivor of a merge, in whose timeline both contacts’ sends stand', async () => {
    const { id: organizationId, api } = world.organization();
    const [survivor, merged] = [aContact(), aContact()];
    await rule(api);
    for (const contact of [survivor, merged]) await tellOf(organizationId, contact);
    const before = await sendFor(api, recorded(organizationId, merged));
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
    await eventually(
      async () => {
        const { body } = await api.get<{ data: ShownSend[] }>(
          `/v1/messaging/sends?contact_id=${survivor.id}`,
        );
        expect(body.data.map(({ id }) => id)).toEqual([before.id]);
      },
      { within: 20_000 },
    );
    const after = await sendFor(api, recorded(organizationId, merged));
    expect(await settled(api, after.id, 'sent')).toMatchObject({
      contact_id: survivor.id,
      address: survivor.email,
    });
    const both = await api.get<{ data: ShownSend[] }>(`/v1/messaging/sends?contact_id=${merged.id}`);
    expect(both.body.data.map(({ id }) => id)).toEqual([after.id, before.id]);
  });

  it('respects a withdrawn consent in marketing only', async () => {
    const { id: organizationId, api } = world.organization();
    const contact = aContact();
    await rule(api, { category: 'marketing' });
    await rule(api, { category: 'transactional' });
    await tellOf(organizationId, contact);
    await world.probe.publish({
      type: 'core.consent.recorded.v1',
      organizationId,
      data: {
        contact_id: contact.id,
        purpose: 'marketing',
        channel: null,
        status: 'withdrawn',
        previous: null,
      },
    });
    const event = recorded(organizationId, contact);
    await world.probe.publish(event);
    await eventually(
      async () => {
        const found = (await sendsOf(api, event.correlationId)).map(
          ({ state, reason }) => `${state} ${reason}`,
        );
        expect(found.sort()).toEqual(['opted_out no_consent', 'sent null']);
      },
      { within: 20_000 },
    );
  });

  it('is held while the organization is suspended, and goes on when it is not', async () => {
    const { id: organizationId, api } = world.organization();
    const contact = aContact();
    await rule(api);
    await tellOf(organizationId, contact);
    const told = (verb: 'suspended' | 'reactivated') => ({
      type: `identity.organization.${verb}.v1` as 'identity.organization.suspended.v1',
      organizationId,
      data: { organization_id: organizationId, id: organizationId, slug: 'shop', changed: ['status'] },
    });
    await world.probe.publish(told('suspended'));
    await eventually(
      async () => {
        const rows = await world.database.query(
          `SELECT 1 FROM organizations WHERE organization_id = $1 AND status = 'suspended'`,
          [organizationId],
        );
        expect(rows).toHaveLength(1);
      },
      { within: 20_000 },
    );
    const { id } = await sendFor(api, recorded(organizationId, contact));
    expect(await settled(api, id, 'held')).toMatchObject({ reason: 'organization_suspended' });
    await world.probe.publish(told('reactivated'));
    await settled(api, id, 'sent');
  });
});
