import { createHmac, randomBytes } from 'node:crypto';
import PostalMime from 'postal-mime';
import { eventually } from '@customer-platform/testing';
import { aSend, history, send, settled, shown } from '../../messaging.fixture.js';
import { postRaw } from '../../reports/webhooks/signed-calls.fixture.js';
import { providerWorld, type ProviderShop, type ProviderWorld } from '../provider-world.fixture.js';

const SIGNING_KEY = 'key-of-signatures';

let there: ProviderWorld;
beforeAll(async () => {
  there = await providerWorld();
});
afterAll(() => there.close());
beforeEach(() => {
  there.server.requests.length = 0;
  // https://documentation.mailgun.com/docs/mailgun/api-reference: the id is the Message-ID of the mail.
  there.server.answer = ({ body }) => {
    const [, id = ''] = /^message-id: (<.*>)/im.exec(body.toString('latin1')) ?? [];
    return { status: 200, body: { id, message: 'Queued. Thank you.' } };
  };
});

const aShop = (overrides: Record<string, unknown> = {}): Promise<ProviderShop> =>
  there.shop({
    email: {
      provider: 'mailgun',
      from: 'Shop <hello@shop.example>',
      domain: 'mg.shop.example',
      api_key: 'key-of-the-api',
      signing_key: SIGNING_KEY,
      base_url: there.server.url,
      ...overrides,
    },
  });
const urlOf = ({ urls }: ProviderShop): string => urls['email'] ?? '';

interface Signed {
  timestamp: string;
  token: string;
  signature: string;
}
function signature(at = Date.now(), key = SIGNING_KEY, token = randomBytes(25).toString('hex')): Signed {
  const timestamp = String(Math.floor(at / 1_000));
  return {
    timestamp,
    token,
    signature: createHmac('sha256', key)
      .update(timestamp + token)
      .digest('hex'),
  };
}
const bare = (messageId: string | null): string => (messageId ?? '').replace(/^<|>$/g, '');
const event = (messageId: string | null, kind: string, more: object = {}): object => ({
  event: kind,
  timestamp: 1764000000.329574,
  id: `e-${randomBytes(6).toString('hex')}`,
  message: { headers: { to: 'a@example.com', 'message-id': bare(messageId) } },
  ...more,
});
const call = (data: object, signed: object = signature()): string =>
  JSON.stringify({ signature: signed, 'event-data': data });
const post = (shop: ProviderShop, body: string): ReturnType<typeof postRaw> =>
  postRaw(there.world, urlOf(shop), body, {});

async function sent(shop: ProviderShop): Promise<{ id: string; messageId: string | null }> {
  const id = await send(shop.api, aSend());
  const { provider_message_id: messageId } = await settled(shop.api, id, 'sent');
  return { id, messageId };
}

/** The parts of a form, by the name of each. */
function formOf({ headers, body }: { headers: Record<string, unknown>; body: Buffer }): Map<string, string> {
  const [, boundary = ''] = /boundary=(\S+)$/.exec(String(headers['content-type'])) ?? [];
  const parts = body.toString('latin1').split(`--${boundary}`).slice(1, -1);
  return new Map(
    parts.map((part) => {
      const [head = '', ...rest] = part.split('\r\n\r\n');
      return [/name="([^"]*)"/.exec(head)?.[1] ?? '', rest.join('\r\n\r\n').replace(/\r\n$/, '')];
    }),
  );
}

describe('sending by Mailgun', () => {
  it('posts the very mail, whom it is for and what names the send', async () => {
    const shop = await aShop();
    const id = await send(
      shop.api,
      aSend({
        recipient: { address: 'ana@example.com' },
        category: 'marketing',
        content: { subject: 'Ñandú', text: 'Hello' },
      }),
    );
    const { provider_message_id: messageId } = await settled(shop.api, id, 'sent');
    expect(messageId).toBe(`<${id}@shop.example>`);
    const [request] = there.server.requests;
    expect(request).toMatchObject({
      path: '/v3/mg.shop.example/messages.mime',
      headers: { authorization: `Basic ${Buffer.from('api:key-of-the-api').toString('base64')}` },
    });
    const form = request ? formOf(request) : new Map<string, string>();
    expect([form.get('to'), form.get('v:send')]).toEqual(['ana@example.com', id]);
    const mail = await PostalMime.parse(form.get('message') ?? '');
    expect([mail.subject, mail.messageId, mail.from?.address]).toEqual([
      'Ñandú',
      messageId,
      'hello@shop.example',
    ]);
    expect(mail.headers.map(({ key }) => key)).toEqual(
      expect.arrayContaining(['list-unsubscribe', 'list-unsubscribe-post']),
    );
  });

  it.each([
    [{ status: 401, body: 'Forbidden' }, 'gated', 'provider_misconfigured', 0],
    [{ status: 403, body: {} }, 'gated', 'provider_misconfigured', 0],
    [{ status: 404, body: { message: 'Domain not found' } }, 'gated', 'provider_misconfigured', 0],
    [
      { status: 400, body: { message: 'Domain mg.shop.example is not allowed to send: disabled' } },
      'gated',
      'provider_misconfigured',
      0,
    ],
    [{ status: 429, headers: { 'retry-after': '60' } }, 'gated', null, 0],
    [{ status: 500 }, 'gated', null, 0],
    [
      { status: 400, body: { message: "'to' parameter is not a valid address. please check documentation" } },
      'bounced',
      'provider_rejected',
      1,
    ],
    [{ status: 400, body: { message: 'message is too large' } }, 'bounced', 'provider_rejected', 0],
    [{ status: 413 }, 'bounced', 'provider_rejected', 0],
    [{ status: 504 }, 'unknown', 'outcome_unknown', 0],
    [null, 'unknown', 'outcome_unknown', 0],
  ])('takes %j for %s, %s', async (answer, state, reason, suppressions) => {
    const shop = await aShop();
    there.server.answer = () => answer;
    const id = await send(shop.api, aSend());
    await eventually(async () => {
      expect(await shown(shop.api, id)).toMatchObject({ state, reason, attempts: 1 });
      expect(await there.suppressions(shop)).toHaveLength(suppressions);
    });
    expect((await there.fault(shop, 'email')) === null).toBe(reason !== 'provider_misconfigured');
  });

  it.each([
    ['us', 'api.mailgun.net'],
    ['eu', 'api.eu.mailgun.net'],
  ])('keeps its secrets within a region: %s', async (region) => {
    const shop = await aShop({ region, base_url: null });
    const put = async (change: object): Promise<boolean | undefined> => {
      const channel = {
        provider: 'mailgun',
        from: 'hello@shop.example',
        domain: 'mg.shop.example',
        ...change,
      };
      const { body } = await shop.api.call<{ channels: { email: { api_key: { set: boolean } } } }>(
        'PUT',
        '/v1/messaging/channel-settings',
        { body: { channels: { email: channel } } },
      );
      return body.channels.email.api_key.set;
    };
    expect(await put({ region })).toBe(true);
    expect(await put({ region: region === 'us' ? 'eu' : 'us' })).toBe(false);
  });
});

/** A failure for good of which the recipient's server said something. */
function said(status: object): object {
  return { severity: 'permanent', reason: 'bounce', 'delivery-status': status };
}

describe('POST /v1/messaging/webhooks/mailgun', () => {
  it.each([
    ['delivered', {}, 'delivered', undefined],
    ['opened', {}, 'opened', undefined],
    ['clicked', {}, 'clicked', undefined],
    ['accepted', {}, 'sent', undefined],
    ['failed', { severity: 'temporary', reason: 'generic' }, 'sent', undefined],
    ['failed', { severity: 'permanent', reason: 'bounce' }, 'bounced', 'hard_bounce'],
    ['failed', { severity: 'permanent', reason: 'suppress-bounce' }, 'bounced', 'hard_bounce'],
    ['failed', { severity: 'permanent', reason: 'old' }, 'bounced', undefined],
    [
      'failed',
      { severity: 'permanent', reason: 'bounce', 'delivery-status': { 'bounce-type': 'soft' } },
      'bounced',
      undefined,
    ],
    [
      'failed',
      said({ code: 550, message: '5.1.1 No such user', 'bounce-type': 'soft' }),
      'bounced',
      'hard_bounce',
    ],
    ['failed', said({ code: 550, message: '5.7.1 Not from your network' }), 'bounced', undefined],
    [
      'failed',
      said({ code: 605, description: 'Not delivering to previously bounced address' }),
      'bounced',
      'hard_bounce',
    ],
    ['complained', {}, 'complained', 'complaint'],
    ['unsubscribed', {}, 'sent', 'stop_keyword'],
  ])('reads %s %j as %s', async (kind, more, state, reason) => {
    const shop = await aShop();
    const { id, messageId } = await sent(shop);
    expect((await post(shop, call(event(messageId, kind, more)))).status).toBe(200);
    expect((await shown(shop.api, id)).state).toBe(state);
    expect((await there.suppressions(shop)).map((one) => one.reason)).toEqual(reason ? [reason] : []);
  });

  it('takes a repeat of a call for one, and another body by its token for nobody’s', async () => {
    const shop = await aShop();
    const { id, messageId } = await sent(shop);
    const signed = signature();
    const body = call(event(messageId, 'delivered'), signed);
    const repeats = await Promise.all(Array.from({ length: 8 }, () => post(shop, body)));
    expect(repeats.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect((await history(shop.api, id)).filter(({ state }) => state === 'delivered')).toHaveLength(1);
    const forged = call(event(messageId, 'complained'), signed);
    const answers = await Promise.all(Array.from({ length: 4 }, () => post(shop, forged)));
    expect(answers.map(({ status, body: { code } }) => [status, code])).toEqual(
      Array(4).fill([401, 'invalid_signature']),
    );
    expect((await shown(shop.api, id)).state).toBe('delivered');
    expect(await there.suppressions(shop)).toEqual([]);
    expect((await post(shop, body)).status).toBe(200);
  });

  it('of two bodies at once by one token takes one', async () => {
    const shop = await aShop();
    const signed = signature();
    const bodies = Array.from({ length: 6 }, (_, n) => call(event(`m-${n}@x`, 'delivered'), signed));
    const answers = await Promise.all(bodies.map((body) => post(shop, body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401, 401]);
  });

  it('finds a send whose answer was lost by what it carries back', async () => {
    const shop = await aShop();
    there.server.answer = () => null;
    const id = await send(shop.api, aSend());
    await settled(shop.api, id, 'unknown');
    await post(shop, call(event('another@id', 'delivered', { 'user-variables': { send: id } })));
    expect((await shown(shop.api, id)).state).toBe('delivered');
  });

  it('401 for what its key has not signed, or has signed at another time', async () => {
    const shop = await aShop();
    const good = signature();
    const cases: [string, string, string?][] = [
      ['nothing', ''],
      ['no JSON', 'x'],
      ['no signature', JSON.stringify({ 'event-data': event('m', 'delivered') })],
      ['a signature that is a list', call(event('m', 'delivered'), [])],
      ['another key', call(event('m', 'delivered'), signature(Date.now(), 'x'))],
      ['the other of two secrets', call(event('m', 'delivered'), signature(Date.now(), 'key-of-the-api'))],
      ['another token', call(event('m', 'delivered'), { ...good, token: `${good.token}0` })],
      ['an empty token', call(event('m', 'delivered'), signature(Date.now(), SIGNING_KEY, ''))],
      [
        'a moved digit',
        call(event('m', 'delivered'), {
          ...good,
          timestamp: good.timestamp.slice(0, -1),
          token: good.timestamp.slice(-1) + good.token,
        }),
        'stale_signature',
      ],
      ['yesterday', call(event('m', 'delivered'), signature(Date.now() - 301_000)), 'stale_signature'],
      ['tomorrow', call(event('m', 'delivered'), signature(Date.now() + 302_000)), 'stale_signature'],
    ];
    for (const [what, body, code = 'invalid_signature'] of cases) {
      const answer = await post(shop, body);
      expect([what, answer.status, answer.body.code]).toEqual([what, 401, code]);
    }
    const without = await aShop({ signing_key: null });
    expect((await post(without, call(event('m', 'delivered')))).status).toBe(401);
  });

  it.each([
    {},
    { event: 7 },
    { event: 'constructor', message: { headers: { 'message-id': 'a@b' } } },
    { event: 'delivered', message: 'x' },
    { event: 'delivered', message: { headers: { 'message-id': 'a b' } } },
  ])('passes over %j', async (data) => {
    const shop = await aShop();
    expect(await post(shop, call(data))).toEqual({ status: 200, body: { received: 0 } });
  });
});
