import { createHmac } from 'node:crypto';
import { eventually } from '@customer-platform/testing';
import { history, send, settled, shown } from '../../messaging.fixture.js';
import { postRaw } from '../../reports/webhooks/signed-calls.fixture.js';
import {
  aWhatsapp,
  providerWorld,
  type ProviderShop,
  type ProviderWorld,
} from '../provider-world.fixture.js';

const NUMBER = '106540352242922';
const APP_SECRET = 'the secret of the application';

let there: ProviderWorld;
beforeAll(async () => {
  there = await providerWorld();
});
afterAll(() => there.close());
let counter = 0;
beforeEach(() => {
  there.server.requests.length = 0;
  // https://developers.facebook.com/docs/whatsapp/cloud-api/reference/messages
  there.server.answer = () => {
    counter += 1;
    return {
      status: 200,
      body: {
        messaging_product: 'whatsapp',
        contacts: [{ input: '56987654321', wa_id: '56987654321' }],
        messages: [{ id: `wamid.${counter}`, message_status: 'accepted' }],
      },
    };
  };
});

const aShop = (overrides: Record<string, unknown> = {}): Promise<ProviderShop> =>
  there.shop({
    whatsapp: {
      provider: 'meta',
      phone_number_id: NUMBER,
      access_token: 'EAAG-token',
      app_secret: APP_SECRET,
      verify_token: 'a word between us',
      base_url: there.server.url,
      ...overrides,
    },
  });

const urlOf = ({ urls }: ProviderShop): string => urls['whatsapp'] ?? '';
const sign = (body: string, secret = APP_SECRET): Record<string, string> => ({
  'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
});

/** A call as Meta makes it. */
function call(value: object, number = NUMBER): string {
  return JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [
      {
        id: '102290129340398',
        changes: [
          {
            field: 'messages',
            value: {
              messaging_product: 'whatsapp',
              metadata: { display_phone_number: '15550783881', phone_number_id: number },
              ...value,
            },
          },
        ],
      },
    ],
  });
}
const status = (id: string | null, word: string, more: object = {}): object => ({
  statuses: [{ id, status: word, timestamp: '1764000000', recipient_id: '56987654321', ...more }],
});
const post = (shop: ProviderShop, body: string, headers = sign(body)): ReturnType<typeof postRaw> =>
  postRaw(there.world, urlOf(shop), body, headers);
const bodies = (): unknown[] =>
  there.server.requests.map(({ body }) => JSON.parse(body.toString()) as unknown);

describe('sending by Meta', () => {
  it('takes no token that cannot stand in a header', async () => {
    const { api } = there.world.organization();
    const channel = { provider: 'meta', phone_number_id: NUMBER, base_url: there.server.url };
    for (const token of ['EAAG-token\n', 'EAAG token', 'EAAG-\u00f1', '']) {
      const answer = await api.call('PUT', '/v1/messaging/channel-settings', {
        body: { channels: { whatsapp: { ...channel, access_token: token } } },
      });
      expect(answer).toMatchObject({
        status: 400,
        body: { errors: [{ pointer: '/channels/whatsapp/access_token' }] },
      });
    }
  });

  it('posts a text as the Cloud API takes it and keeps Meta’s id', async () => {
    const { api } = await aShop();
    const id = await send(api, aWhatsapp());
    expect((await settled(api, id, 'sent')).provider_message_id).toBe(`wamid.${counter}`);
    expect(there.server.requests[0]).toMatchObject({
      path: `/v23.0/${NUMBER}/messages`,
      headers: { authorization: 'Bearer EAAG-token', 'content-type': 'application/json' },
    });
    expect(bodies()).toEqual([
      {
        messaging_product: 'whatsapp',
        recipient_type: 'individual',
        to: '56987654321',
        type: 'text',
        text: { preview_url: false, body: 'Hello' },
        biz_opaque_callback_data: id,
      },
    ]);
  });

  it.each([
    ['by place', ['{{ data.name }}', 'order {{ data.order }}'], [{}, {}]],
    [
      'by name',
      { customer: '{{ data.name }}', which: 'order {{ data.order }}' },
      [{ parameter_name: 'customer' }, { parameter_name: 'which' }],
    ],
  ])('fills a template of Meta’s %s', async (_how, variables, names) => {
    const { api } = await aShop();
    const template = { name: 'order_ready', language: 'es_CL', variables };
    const id = await send(
      api,
      aWhatsapp({ content: { provider_template: template }, data: { name: 'Ana\nMaría', order: 7 } }),
    );
    await settled(api, id, 'sent');
    expect(bodies()).toMatchObject([
      {
        type: 'template',
        template: {
          name: 'order_ready',
          language: { code: 'es_CL' },
          components: [
            {
              type: 'body',
              parameters: [
                { type: 'text', ...names[0], text: 'Ana María' },
                { type: 'text', ...names[1], text: 'order 7' },
              ],
            },
          ],
        },
      },
    ]);
  });

  const error = (code: number, status = 400) => ({ status, body: { error: { message: 'no', code } } });
  it.each([
    [error(190, 401), 'gated', 'provider_misconfigured', { stage: 'access_token', code: 401 }],
    [error(10, 403), 'gated', 'provider_misconfigured', { stage: 'account', code: 403 }],
    [error(131042), 'gated', 'provider_misconfigured', { stage: 'account', code: 400 }],
    [{ status: 401 }, 'gated', 'provider_misconfigured', { stage: 'request', code: 401 }],
    [error(130429), 'gated', null, null],
    [error(80007), 'gated', null, null],
    [error(131056), 'gated', null, null],
    [error(131000, 500), 'gated', null, null],
    [{ status: 503, body: 'half an ans' }, 'gated', null, null],
    [error(132001, 404), 'bounced', 'provider_rejected', null],
    [error(131047), 'bounced', 'provider_rejected', null],
    [error(131021), 'bounced', 'provider_rejected', null],
    [{ status: 502 }, 'unknown', 'outcome_unknown', null],
    [null, 'unknown', 'outcome_unknown', null],
  ])('takes %j for %s, %s', async (answer, state, reason, fault) => {
    const shop = await aShop();
    there.server.answer = () => answer;
    const id = await send(shop.api, aWhatsapp());
    await eventually(async () =>
      expect(await shown(shop.api, id)).toMatchObject({ state, reason, attempts: 1 }),
    );
    const told = await there.fault(shop, 'whatsapp');
    if (fault === null) expect(told).toBeNull();
    else expect(told).toMatchObject(fault);
    expect(await there.suppressions(shop)).toEqual([]);
  });
});

describe('POST /v1/messaging/webhooks/meta', () => {
  it.each([
    ['delivered', {}, 'delivered'],
    ['read', {}, 'opened'],
    ['sent', {}, 'sent'],
    ['failed', { errors: [{ code: 131047, title: 'Re-engagement message' }] }, 'bounced'],
    ['failed', { errors: [{ code: 131026, title: 'Message undeliverable' }] }, 'bounced'],
  ])('reads %s %j as %s, once, and suppresses nobody', async (word, more, state) => {
    const shop = await aShop();
    const id = await send(shop.api, aWhatsapp());
    const { provider_message_id: message } = await settled(shop.api, id, 'sent');
    const body = call(status(message, word, more));
    const before = (await history(shop.api, id)).length;
    for (const answer of await Promise.all([post(shop, body), post(shop, body), post(shop, body)]))
      expect(answer.status).toBe(200);
    expect((await shown(shop.api, id)).state).toBe(state);
    expect(await history(shop.api, id)).toHaveLength(before + (state === 'sent' ? 0 : 1));
    expect(await there.suppressions(shop)).toEqual([]);
  });

  it('takes them in any order, with the time Meta says', async () => {
    const shop = await aShop();
    const id = await send(shop.api, aWhatsapp());
    const { provider_message_id: message } = await settled(shop.api, id, 'sent');
    for (const word of ['read', 'sent', 'delivered']) await post(shop, call(status(message, word)));
    expect((await shown(shop.api, id)).state).toBe('opened');
    const read = (await history(shop.api, id)).find(({ state }) => state === 'opened');
    expect(read).toMatchObject({ occurred_at: '2025-11-24T16:00:00.000Z' });
  });

  it('finds a send whose answer was lost by what it carries back', async () => {
    const shop = await aShop();
    there.server.answer = () => null;
    const id = await send(shop.api, aWhatsapp());
    await settled(shop.api, id, 'unknown');
    await post(shop, call(status('wamid.lost', 'delivered', { biz_opaque_callback_data: id })));
    expect((await shown(shop.api, id)).state).toBe('delivered');
  });

  it.each([
    [{ text: { body: 'BAJA' } }, true],
    [{ button: { text: 'Stop' } }, true],
    [{ text: { body: 'please stop by tomorrow' } }, false],
  ])('suppresses who writes %j: %s', async (words, stops) => {
    const shop = await aShop();
    const message = { from: '56987654321', id: `wamid.in.${shop.id}`, timestamp: '1764000000', ...words };
    expect((await post(shop, call({ messages: [message] }))).status).toBe(200);
    expect(await there.suppressions(shop)).toMatchObject(
      stops ? [{ address: '+56987654321', reason: 'stop_keyword' }] : [],
    );
  });

  it('suppresses whom Meta says to have stopped', async () => {
    const shop = await aShop();
    const id = await send(shop.api, aWhatsapp());
    const { provider_message_id: message } = await settled(shop.api, id, 'sent');
    await post(shop, call(status(message, 'failed', { errors: [{ code: 131050 }] })));
    expect(await there.suppressions(shop)).toMatchObject([{ reason: 'stop_keyword' }]);
  });

  it('passes over another number of the same application, and what it does not know', async () => {
    const shop = await aShop();
    const id = await send(shop.api, aWhatsapp());
    const { provider_message_id: message } = await settled(shop.api, id, 'sent');
    for (const body of [
      call(status(message, 'delivered'), '999'),
      call(status(message, 'sneezed')),
      call(status(message, 'constructor')),
      call(status('no id', 'delivered')),
      call({ statuses: 7 }),
      '{}',
      '[]',
      JSON.stringify({ entry: [{ changes: [{ field: 'account_alerts', value: {} }] }] }),
    ])
      expect(await post(shop, body)).toEqual({ status: 200, body: { received: 0 } });
    expect((await shown(shop.api, id)).state).toBe('sent');
    const many = { statuses: Array.from({ length: 1_001 }, (_, n) => ({ id: `w${n}`, status: 'read' })) };
    expect(await post(shop, call(many))).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
    expect(await post(shop, 'x')).toMatchObject({ status: 400, body: { code: 'malformed_json' } });
  });

  it('401 for what the application’s secret has not signed, byte by byte', async () => {
    const shop = await aShop();
    const other = await aShop({ app_secret: 'of somebody else' });
    const body = call(status('wamid.1', 'delivered'));
    const good = sign(body);
    const cases: [string, string, Record<string, string>, ProviderShop?][] = [
      ['no signature', body, {}],
      ['another secret', body, sign(body, 'x')],
      ['the other one of two secrets', body, sign(body, 'a word between us')],
      ['a byte more', `${body} `, good],
      ['SHA-1', body, { 'x-hub-signature': good['x-hub-signature-256'] ?? '' }],
      ['another organization', body, good, other],
      ['no secret', body, good, await aShop({ app_secret: null })],
    ];
    for (const [what, bytes, headers, to = shop] of cases) {
      const answer = await post(to, bytes, headers);
      expect([what, answer.status, answer.body.code]).toEqual([what, 401, 'invalid_signature']);
      expect(JSON.stringify(answer.body)).not.toContain(APP_SECRET);
    }
    const unnamed = await postRaw(there.world, urlOf(shop).split('?')[0] ?? '', body, good);
    expect([unnamed.status, unnamed.body.code]).toEqual([401, 'invalid_signature']);
    expect((await post(shop, body)).status).toBe(200);
  });
});

describe('GET /v1/messaging/webhooks/{provider}', () => {
  async function ask(url: string, query: Record<string, string>): Promise<[number, string, string | null]> {
    const { pathname, searchParams } = new URL(url);
    const all = new URLSearchParams({ ...Object.fromEntries(searchParams), ...query });
    const answer = await fetch(`${there.world.app.url}${pathname}?${all.toString()}`);
    return [answer.status, await answer.text(), answer.headers.get('content-type')];
  }
  const right = {
    'hub.mode': 'subscribe',
    'hub.challenge': '1158201444',
    'hub.verify_token': 'a word between us',
  };

  it('answers Meta’s challenge as plain text to who knows the word', async () => {
    const shop = await aShop();
    expect(await ask(urlOf(shop), right)).toEqual([200, '1158201444', 'text/plain; charset=utf-8']);
  });

  it.each<Record<string, string>>([
    { 'hub.verify_token': 'another word' },
    { 'hub.verify_token': '' },
    { 'hub.verify_token': APP_SECRET },
    { 'hub.mode': 'unsubscribe' },
    { 'hub.challenge': '<script>alert(1)</script>' },
    { 'hub.challenge': '' },
    { key: 'A'.repeat(44) },
  ])('401 for %j', async (wrong) => {
    const [answered, text] = await ask(urlOf(await aShop()), { ...right, ...wrong });
    expect([answered, (JSON.parse(text) as { code: string }).code]).toEqual([401, 'invalid_signature']);
    expect(text).not.toContain('script');
  });

  it('404 for a provider that asks nothing, or that there is not', async () => {
    const url = urlOf(await aShop());
    for (const name of ['twilio', 'nobody', 'constructor'])
      expect((await ask(url.replace('/meta', `/${name}`), right))[0]).toBe(404);
  });
});
