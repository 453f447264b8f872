import { randomUUID } from 'node:crypto';
import { newId } from '@customer-platform/database';
import { EVENTS, type DomainEvent } from '@customer-platform/events';
import { eventually, type Caller } from '@customer-platform/testing';
import {
  aContact,
  aSend,
  messagingWorld,
  settled,
  template,
  type MessagingWorld,
} from './messaging.fixture.js';
import { Provider } from './provider.fixture.js';
import { aReport, postRaw, standardHeaders } from './reports/webhooks/signed-calls.fixture.js';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const SETTINGS = '/v1/messaging/channel-settings';
const HOUR = 3_600_000;

type SendType = Extract<keyof typeof EVENTS, `messaging.send.${string}`>;

let world: MessagingWorld;
const provider = new Provider();
beforeAll(async () => {
  await provider.start();
  world = await messagingWorld();
  world.probe.collect('messaging');
});
afterAll(async () => {
  await world.close();
  await provider.stop();
});
beforeEach(() => {
  world.mail.treat = () => undefined;
  let counter = 0;
  provider.answer = () => ({ status: 201, body: { provider_message_id: `${randomUUID()}-${++counter}` } });
});

/** An organization with its own mail server and push provider, and what else its settings say. */
async function aShop(settings: object = {}) {
  const { id: organizationId, api } = world.organization();
  const port = Number(new URL(world.mail.url).port);
  const smtp = { provider: 'smtp', from: 'shop@example.com', host: '127.0.0.1', port, security: 'none' };
  const push = { enabled: true, provider: 'http', url: provider.url, secret: SECRET };
  const body = { channels: { email: { enabled: true, ...smtp }, push }, ...settings };
  const answer = await api.call<{ channels: { push: { webhook_url: string } } }>('PUT', SETTINGS, { body });
  expect(answer.status).toBe(200);
  const report = async (messageId: string, event: string): Promise<void> => {
    const report = JSON.stringify(aReport(messageId, event));
    const url = answer.body.channels.push.webhook_url;
    expect(await postRaw(world, url, report, standardHeaders(SECRET, report))).toMatchObject({ status: 200 });
  };
  return { organizationId, api, report };
}

/** Sends under a correlation id of its own. */
async function sent(api: Caller, body: object): Promise<{ id: string; correlationId: string }> {
  const correlationId = newId();
  const headers = { 'idempotency-key': randomUUID(), 'x-correlation-id': correlationId };
  const answer = await api.post<{ send_id: string }>('/v1/messaging/sends', body, headers);
  expect([202, 422]).toContain(answer.status);
  return { id: answer.body.send_id, correlationId };
}

const aPush = (): object => ({
  channel: 'push',
  recipient: { address: randomUUID() },
  content: { title: 'x', body: 'y' },
  metadata: { order: '7' },
});

/** The one event that tells of the state, as a consumer on the topic sees it. */
async function told(state: string, organizationId: string, id: string): Promise<DomainEvent<SendType>> {
  const type = `messaging.send.${state}.v1` as SendType;
  await world.probe.expectEvents(type, organizationId, 1, { within: 20_000 });
  const events = world.probe.events(type, organizationId).filter(({ data }) => data.send_id === id);
  expect(events).toHaveLength(1);
  const [event] = events as [DomainEvent<SendType>];
  // Nothing beyond the schema: no address, no content.
  expect(Object.keys(event.data).sort()).toEqual(Object.keys(EVENTS[type].schema.shape).sort());
  return event;
}

const ABOUT = { contact_id: null, topic: null, campaign_id: null, reason: null, metadata: null };

/** Makes a contact known through Kafka. */
async function known(organizationId: string): Promise<string> {
  const contact = aContact();
  const data = { contact_id: contact.id, version: 1, changed_fields: [], contact };
  await world.probe.publish({ type: 'core.contact.created.v1', organizationId, data });
  await eventually(async () => {
    const rows = await world.database.query('SELECT 1 FROM contacts WHERE id = $1', [contact.id]);
    expect(rows).toHaveLength(1);
  });
  return contact.id;
}

const aClock = (at: number): string => new Date(at).toISOString().slice(11, 16);

describe('messaging tells of a send, by its own correlation id and without address or content,', () => {
  it('that quiet hours hold', async () => {
    const quiet = { start: aClock(Date.now() - HOUR), end: aClock(Date.now() + HOUR), timezone: 'UTC' };
    const { organizationId, api } = await aShop({ quiet_hours: quiet });
    const { id, correlationId } = await sent(api, aSend({ category: 'marketing' }));
    const event = await told('held', organizationId, id);
    const data = { send_id: id, channel: 'email', category: 'marketing', reason: 'quiet_hours' };
    expect(event).toMatchObject({ correlationid: correlationId, data: { ...ABOUT, ...data } });
  });

  it('that was one too many', async () => {
    const caps = [{ channel: 'email', limit: 1, window: 'week' }];
    const { organizationId, api } = await aShop({ caps });
    const contactId = await known(organizationId);
    const body = aSend({ recipient: { contact_id: contactId }, category: 'marketing' });
    await settled(api, (await sent(api, body)).id, 'sent');
    const { id, correlationId } = await sent(api, body);
    const event = await told('capped', organizationId, id);
    const data = { send_id: id, contact_id: contactId, category: 'marketing', reason: 'cap' };
    expect(event).toMatchObject({ correlationid: correlationId, data: { ...ABOUT, ...data } });
  });

  it('whose contact has withdrawn its consent', async () => {
    const { organizationId, api } = await aShop();
    const contactId = await known(organizationId);
    await world.probe.publish({
      type: 'core.consent.recorded.v1',
      organizationId,
      data: {
        contact_id: contactId,
        purpose: 'marketing',
        channel: 'email',
        status: 'withdrawn',
        previous: null,
      },
    });
    await eventually(async () =>
      expect(
        await world.database.query('SELECT 1 FROM consents WHERE contact_id = $1', [contactId]),
      ).toHaveLength(1),
    );
    const { id, correlationId } = await sent(
      api,
      aSend({ recipient: { contact_id: contactId }, category: 'marketing' }),
    );
    const event = await told('opted_out', organizationId, id);
    const data = { send_id: id, contact_id: contactId, category: 'marketing', reason: 'no_consent' };
    expect(event).toMatchObject({ correlationid: correlationId, data: { ...ABOUT, ...data } });
  });

  it('that its rule no longer wants, as caused by the event that led to it', async () => {
    const { organizationId, api } = await aShop();
    const rule = await api.post<{ id: string }>('/v1/messaging/event-routing', {
      name: randomUUID(),
      event_type: 'loyalty.points.earned',
      channel: 'email',
      template_id: await template(api),
      delay_seconds: 600,
    });
    const contactId = await known(organizationId);
    const points = { points: 5, available: 5, rule_id: null, event_id: null };
    const [earned] = await world.probe.publish({
      type: 'loyalty.points.earned.v1',
      organizationId,
      data: { transaction_id: newId(), contact_id: contactId, ...points },
    });
    const accepted = await world.probe.expectEvents('messaging.send.accepted.v1', organizationId, 1);
    const id = accepted[0]?.data.send_id ?? '';
    await api.delete(`/v1/messaging/event-routing/${rule.body.id}`);
    const event = await told('canceled', organizationId, id);
    const data = { send_id: id, contact_id: contactId, category: 'transactional', reason: 'rule_disabled' };
    expect(event).toMatchObject({
      correlationid: earned?.correlationid,
      causationid: earned?.id,
      data: { ...ABOUT, ...data },
    });
  });

  it('whose provider hung up before it answered', async () => {
    const { organizationId, api } = await aShop();
    provider.answer = () => null;
    const { id, correlationId } = await sent(api, aPush());
    const event = await told('unconfirmed', organizationId, id);
    const data = { send_id: id, channel: 'push', category: 'transactional', reason: 'outcome_unknown' };
    expect(event).toMatchObject({
      correlationid: correlationId,
      data: { ...ABOUT, ...data, metadata: { order: '7' } },
    });
  });

  it.each([
    ['delivered', null],
    ['opened', null],
    ['clicked', null],
    ['complained', null],
    ['bounced', 'provider_rejected'],
  ])('of which its provider reports that it was %s', async (state, reason) => {
    const { organizationId, api, report } = await aShop();
    const { id, correlationId } = await sent(api, aPush());
    const { provider_message_id: messageId } = await settled(api, id, 'sent');
    await report(messageId ?? '', state);
    const event = await told(state, organizationId, id);
    expect(event).toMatchObject({
      correlationid: correlationId,
      data: { ...ABOUT, send_id: id, channel: 'push', reason, metadata: { order: '7' } },
    });
  });

  it.each([
    ['bounced', 'provider_rejected', { code: 550, text: '5.7.1 no' }, {}],
    ['failed', 'render_failed', undefined, { content: { subject: '{{ data.nothing }}', text: 'x' } }],
  ] as const)('that has %s, with its reason %s', async (state, reason, treatment, overrides) => {
    const { organizationId, api } = await aShop();
    world.mail.treat = () => treatment;
    const { id, correlationId } = await sent(api, aSend({ metadata: { order: '7' }, ...overrides }));
    const event = await told(state, organizationId, id);
    expect(event).toMatchObject({
      correlationid: correlationId,
      data: { ...ABOUT, send_id: id, channel: 'email', reason, metadata: { order: '7' } },
    });
  });

  it('that was suppressed after it was taken, or was not taken for that', async () => {
    const { organizationId, api } = await aShop();
    const address = `${randomUUID()}@example.com`;
    const body = aSend({
      recipient: { address },
      not_before: new Date(Date.now() + HOUR).toISOString(),
    });
    const later = await sent(api, body);
    await api.post('/v1/messaging/suppressions', { channel: 'email', address });
    await world.database.query('UPDATE sends SET due_at = now() WHERE id = $1', [later.id]);
    const refused = await sent(api, aSend({ recipient: { address } }));
    await world.probe.expectEvents('messaging.send.suppressed.v1', organizationId, 2);
    for (const { id, correlationId } of [later, refused]) {
      const event = await told('suppressed', organizationId, id);
      const data = { send_id: id, channel: 'email', reason: 'recipient_suppressed' };
      expect(event).toMatchObject({ correlationid: correlationId, data: { ...ABOUT, ...data } });
      expect(JSON.stringify(event)).not.toContain(address);
    }
  });
});
