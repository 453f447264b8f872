import { randomUUID } from 'node:crypto';
import { eventually, InternalPeer, type Caller } from '@customer-platform/testing';
import {
  aContact,
  aSend,
  history,
  messagingWorld,
  send,
  settled,
  template,
  toldDevices,
  type MessagingWorld,
} from '../../messaging.fixture.js';
import { Provider } from '../../provider.fixture.js';
import { verifyStandard, type StandardHeaders } from '../../vocabulary/signatures/standard-webhooks.js';

const SETTINGS = '/v1/messaging/channel-settings';
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const PLATFORM_SECRET = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';

const provider = new Provider();
const platform = new Provider();
let core: InternalPeer;
let tokens: Record<string, string | null> = {};
let world: MessagingWorld;
beforeAll(async () => {
  await provider.start();
  await platform.start();
  core = await InternalPeer.start({
    'POST /internal/contacts/devices': (body) => toldDevices(body, (id) => tokens[id]),
  });
  world = await messagingWorld({
    env: {
      PROVIDER_URL: `${platform.url}/messages`,
      PROVIDER_SECRET: PLATFORM_SECRET,
      CORE_INTERNAL_URL: core.url,
    },
  });
});
beforeEach(() => {
  provider.requests.length = 0;
  platform.requests.length = 0;
  provider.answer = () => ({ status: 201, body: { provider_message_id: 'p-1', sid: 'SM1' } });
});
afterAll(async () => {
  await world.close();
  await core.close();
  await provider.stop();
  await platform.stop();
});

const json = (request: { body: Buffer } | undefined): Record<string, unknown> =>
  JSON.parse(request?.body.toString() ?? '{}') as Record<string, unknown>;

async function configured(
  api: Caller,
  channels: Record<string, object>,
): Promise<Record<string, { webhook_url: string }>> {
  const { status, body } = await api.call<{ channels: Record<string, { webhook_url: string }> }>(
    'PUT',
    SETTINGS,
    {
      body: { channels },
    },
  );
  expect([status, body]).toEqual([200, expect.anything()]);
  return body.channels;
}

const twilio = (): object => ({
  provider: 'twilio',
  from: '+56961234567',
  account_sid: `AC${'a'.repeat(32)}`,
  auth_token: 'token',
  base_url: provider.url,
});
const http = (from?: string): object => ({
  provider: 'http',
  url: `${provider.url}/in`,
  secret: SECRET,
  ...(from ? { from } : {}),
});

async function knownContact(organizationId: string): Promise<ReturnType<typeof aContact>> {
  const contact = aContact({ phone: null });
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

describe('a send by Twilio', () => {
  it.each([
    ['sms', '', { Body: 'Hola ñ' }],
    ['whatsapp', 'whatsapp:', { Body: 'Hola ñ' }],
  ])('of %s leaves as a form, with where to report', async (channel, prefix, body) => {
    const { api } = world.organization();
    const shown = await configured(api, { [channel]: twilio() });
    const id = await send(
      api,
      aSend({ channel, recipient: { address: '+56 9 8765 4321' }, content: { text: 'Hola ñ' } }),
    );
    expect(await settled(api, id, 'sent')).toMatchObject({
      provider_message_id: 'SM1',
      address: '+56987654321',
    });
    expect(Object.fromEntries(new URLSearchParams(provider.requests[0]?.body.toString()))).toEqual({
      To: `${prefix}+56987654321`,
      From: `${prefix}+56961234567`,
      StatusCallback: `${shown[channel]?.webhook_url}&send=${id}`,
      ...body,
    });
    expect((await history(api, id)).map(({ state }) => state)).toEqual([
      'accepted',
      'rendering',
      'gated',
      'dispatching',
      'sent',
    ]);
  });

  it('suppresses a number that it says nobody has', async () => {
    const { api } = world.organization();
    await configured(api, { sms: twilio() });
    provider.answer = () => ({ status: 400, body: { code: 21211, message: 'Invalid' } });
    const body = aSend({ channel: 'sms', recipient: { address: '+56987654321' }, content: { text: 'x' } });
    await settled(api, await send(api, body), 'bounced');
    await eventually(async () => {
      const again = await api.post('/v1/messaging/sends', body, { 'idempotency-key': randomUUID() });
      expect(again).toMatchObject({ status: 422, body: { code: 'recipient_suppressed' } });
    });
  });
});

describe('a send by an HTTP provider', () => {
  it.each([
    ['sms', '+56961234567', '+56987654321', { text: 'Hola' }],
    ['whatsapp', '+56961234567', '+56987654321', { text: 'Hola' }],
    ['push', undefined, 'token-1', { title: 'Hola', body: 'Qué tal', url: 'https://shop.example/' }],
    [
      'email',
      'Shop <hola@shop.example>',
      'ana@example.com',
      { subject: 'Hola', html: '<p>x</p>', text: 'x' },
    ],
  ])('of %s is posted signed, with its parts', async (channel, from, to, content) => {
    const { api } = world.organization();
    await configured(api, { [channel]: http(from) });
    const id = await send(api, aSend({ channel, recipient: { address: to }, content }));
    expect(await settled(api, id, 'sent')).toMatchObject({ provider_message_id: 'p-1' });
    const [request] = provider.requests;
    const { correlation_id: correlationId, ...message } = json(request);
    expect(message).toMatchObject({ send_id: id, channel, to, from: from ?? null, ...content });
    expect(correlationId).toMatch(/^[0-9a-f-]{36}$/);
    expect(request?.headers['webhook-id']).toBe(id);
    const headers = request?.headers as unknown as StandardHeaders;
    expect(verifyStandard(SECRET, headers, request?.body ?? Buffer.alloc(0))).toBe(true);
  });

  it('names the provider’s own WhatsApp template with its values', async () => {
    const { api } = world.organization();
    await configured(api, { whatsapp: http('+56961234567') });
    const templateId = await template(api, {
      channel: 'whatsapp',
      locales: { es: { provider_template: { name: 'order_ready', language: 'es' } } },
    });
    const id = await send(api, {
      channel: 'whatsapp',
      recipient: { address: '+56987654321' },
      template_id: templateId,
      data: { order: 7 },
    });
    await settled(api, id, 'sent');
    expect(json(provider.requests[0])).toMatchObject({
      provider_template: { name: 'order_ready', language: 'es' },
      data: { order: 7 },
    });
  });

  it('gets of a mail the lines and the headers that servers get', async () => {
    const { api } = world.organization();
    await configured(api, { email: http('Shop <hello@bücher.example>') });
    const value = 'one\r.\rMAIL FROM:<a@other.example>\rtwo\nthree\r\nfour';
    const id = await send(
      api,
      aSend({
        category: 'marketing',
        content: { subject: 's', text: '{{ data.value }}', html: '<p>{{ data.value }}</p>' },
        data: { value },
      }),
    );
    await settled(api, id, 'sent');
    const { text, html, headers } = json(provider.requests[0]) as {
      text: string;
      html: string;
      headers: Record<string, string>;
    };
    for (const part of [text, html]) expect(part.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    expect(headers).toMatchObject({ 'List-Id': '<marketing.xn--bcher-kva.example>' });
  });

  it('is in doubt where the answer is lost, and is not posted again', async () => {
    const { api } = world.organization();
    await configured(api, { sms: http('+56961234567') });
    provider.answer = () => null;
    const id = await send(
      api,
      aSend({ channel: 'sms', recipient: { address: '+56987654321' }, content: { text: 'x' } }),
    );
    expect(await settled(api, id, 'unknown')).toMatchObject({ reason: 'outcome_unknown' });
    const [row] = await world.database.query('SELECT due_at FROM sends WHERE id = $1', [id]);
    expect(row).toEqual({ due_at: null });
    expect(provider.requests).toHaveLength(1);
  });

  it('suppresses a token that the provider says is gone', async () => {
    const { api } = world.organization();
    await configured(api, { push: http() });
    provider.answer = () => ({ status: 410 });
    const body = aSend({
      channel: 'push',
      recipient: { address: 'dead' },
      content: { title: 'x', body: 'y' },
    });
    await settled(api, await send(api, body), 'bounced');
    const { body: list } = await eventually(async () => {
      const answer = await api.get<{ data: object[] }>('/v1/messaging/suppressions');
      expect(answer.body.data).toHaveLength(1);
      return answer;
    });
    expect(list.data[0]).toMatchObject({ channel: 'push', address: 'dead', reason: 'invalid_token' });
  });

  it('is not configured without its secret', async () => {
    const { api } = world.organization();
    await configured(api, { sms: { ...http('+56961234567'), secret: null } });
    const answer = await api.post(
      '/v1/messaging/sends',
      aSend({ channel: 'sms', recipient: { address: '+56987654321' }, content: { text: 'x' } }),
      { 'idempotency-key': randomUUID() },
    );
    expect(answer).toMatchObject({ status: 422, body: { code: 'channel_not_configured' } });
  });
});

describe('a push to a contact', () => {
  it('goes to the latest token that core knows; without one it is refused', async () => {
    const { id: organizationId, api } = world.organization();
    await configured(api, { push: http() });
    const contact = await knownContact(organizationId);
    const body = aSend({
      channel: 'push',
      recipient: { contact_id: contact.id },
      content: { title: 'x', body: 'y' },
    });
    tokens = { [contact.id]: null };
    expect(await api.post('/v1/messaging/sends', body, { 'idempotency-key': randomUUID() })).toMatchObject({
      status: 422,
      body: { code: 'recipient_unreachable' },
    });
    tokens = { [contact.id]: 'token-2' };
    await world.probe.publish({
      type: 'core.identity.added.v1',
      organizationId,
      data: {
        contact_id: contact.id,
        identity_id: randomUUID(),
        type: 'custom.push_token',
        push_token: { value: 'token-2', seen_at: new Date().toISOString() },
      },
    });
    await eventually(async () => {
      const rows = await world.database.query('SELECT 1 FROM push_tokens WHERE contact_id = $1', [
        contact.id,
      ]);
      expect(rows).toHaveLength(1);
    });
    const id = await send(api, body);
    expect(await settled(api, id, 'sent')).toMatchObject({ address: 'token-2', contact_id: contact.id });
    expect(json(provider.requests[0])).toMatchObject({ to: 'token-2' });
  });
});

describe('a send to the inbox', () => {
  it('is a row of the contact’s, and shown where local mode shows all', async () => {
    const { id: organizationId, api } = world.organization();
    const contact = await knownContact(organizationId);
    const content = {
      title: 'Hola {{ contact.first_name }}',
      body: 'Tus puntos',
      url: 'https://shop.example/',
    };
    const id = await send(api, aSend({ channel: 'in_app', recipient: { contact_id: contact.id }, content }));
    expect(await settled(api, id, 'sent')).toMatchObject({ address: contact.id, subject: 'Hola Ana' });
    const rows = await world.database.query('SELECT * FROM notifications WHERE organization_id = $1', [
      organizationId,
    ]);
    expect(rows).toEqual([
      expect.objectContaining({
        id,
        contact_id: contact.id,
        title: 'Hola Ana',
        body: 'Tus puntos',
        topic: null,
      }),
    ]);
    expect(json(platform.requests[0])).toMatchObject({
      channel: 'in_app',
      to: contact.id,
      title: 'Hola Ana',
    });
  });
});

describe('channels of local mode', () => {
  it('are all there, lead to the platform’s own provider, and stay so when put back as they were read', async () => {
    const { api } = world.organization();
    const phone = { recipient: { address: '+56987654321' }, content: { text: 'x' } };
    const before = (await api.get<{ channels: Record<string, object> }>(SETTINGS)).body;
    expect(Object.keys(before.channels)).toEqual(['email', 'sms', 'push', 'whatsapp', 'in_app']);
    await settled(api, await send(api, aSend({ channel: 'sms', ...phone })), 'sent');
    const put = await api.call('PUT', SETTINGS, { body: before });
    expect(put).toMatchObject({ status: 200, body: before });
    await settled(api, await send(api, aSend({ channel: 'whatsapp', ...phone })), 'sent');
    expect(platform.requests.map((request) => json(request)['channel'])).toEqual(['sms', 'whatsapp']);
    for (const { headers, body } of platform.requests)
      expect(verifyStandard(PLATFORM_SECRET, headers as unknown as StandardHeaders, body)).toBe(true);
  });
});
