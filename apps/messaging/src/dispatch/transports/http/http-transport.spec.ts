import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { resolveDestination } from '@customer-platform/outbound';
import { eventually } from '@customer-platform/testing';
import { Provider } from '../../../provider.fixture.js';
import { signedPost } from '../../../providers/http/signed-post.js';
import { twilioApi } from '../../../providers/twilio/twilio-api.js';
import type { HttpSpeaker, OutgoingMessage } from '../../../providers/transport-config.js';
import { verifyStandard, type StandardHeaders } from '../../../vocabulary/signatures/standard-webhooks.js';
import { Lease } from '../transport.js';
import { HttpExchange, type ResolveHost } from './http-exchange.js';
import { HttpTransport } from './http-transport.js';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const MESSAGE: OutgoingMessage = {
  organizationId: 'organization',
  sendId: '0197f6a0-0000-7000-8000-000000000001',
  channel: 'push',
  to: 'token',
  from: '',
  content: Buffer.from('{"channel":"push","to":"token","body":"ñ"}'),
};

describe('HttpTransport', () => {
  const provider = new Provider();
  const open: HttpTransport[] = [];
  const lease = (milliseconds = 5_000): Lease => Lease.from(performance.now(), milliseconds);
  beforeAll(() => provider.start());
  beforeEach(() => {
    provider.requests.length = 0;
    provider.answer = () => ({ status: 200, body: { provider_message_id: 'p-1' } });
  });
  afterEach(() => Promise.all(open.splice(0).map((one) => one.close())));
  afterAll(() => provider.stop());

  function opened(
    speaker: () => HttpSpeaker,
    maxConnections: number,
    resolve: ResolveHost = (host) => resolveDestination(host, true),
  ): HttpTransport {
    const exchange = new HttpExchange(resolve, maxConnections);
    const made = new HttpTransport({ provider: 'http', way: { speaker }, exchange, maxConnections });
    open.push(made);
    return made;
  }

  function transport(url = `${provider.url}/in`, maxConnections = 5): HttpTransport {
    return opened(() => signedPost({ url, secret: SECRET }), maxConnections);
  }

  it('posts the very bytes, signed, under the send’s id, and takes the provider’s own id', async () => {
    const one = transport();
    for (let attempt = 0; attempt < 2; attempt += 1) {
      expect(await one.handOff(MESSAGE, lease())).toEqual({
        outcome: 'sent',
        code: 200,
        providerMessageId: 'p-1',
      });
    }
    for (const { headers, body, path } of provider.requests) {
      expect([path, headers['webhook-id'], body.equals(MESSAGE.content)]).toEqual([
        '/in',
        MESSAGE.sendId,
        true,
      ]);
      expect(verifyStandard(SECRET, headers as unknown as StandardHeaders, body)).toBe(true);
      expect(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1_000)).toBeLessThan(60);
    }
  });

  it.each([
    ['TLS', (host: string) => resolveDestination(host, true)],
    // As TCP that is never answered: the address is what it waits for.
    ['TCP', () => new Promise<never>(() => undefined)],
  ])('counts as a failure of the connection where %s is never completed', async (_, resolve) => {
    const silent = createServer(() => undefined);
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const url = `https://localhost:${String((silent.address() as AddressInfo).port)}/`;
    const exchange = new HttpExchange(resolve, 5, 20);
    const way = { speaker: () => signedPost({ url, secret: SECRET }) };
    const one = new HttpTransport({ provider: 'http', way, exchange, maxConnections: 5 });
    open.push(one);
    expect(await one.handOff(MESSAGE, lease())).toEqual({
      outcome: 'deferred',
      stage: 'connection',
      throttled: true,
    });
    expect(one.capacity()).toBeLessThanOrEqual(1);
    silent.close();
  });

  it.each([
    [204, { outcome: 'sent' }],
    [400, { outcome: 'bounced', code: 400 }],
    [401, { outcome: 'misconfigured', stage: 'request', code: 401 }],
    [403, { outcome: 'misconfigured', code: 403 }],
    [404, { outcome: 'misconfigured', code: 404 }],
    [302, { outcome: 'misconfigured', code: 302 }],
    [422, { outcome: 'bounced', code: 422 }],
    [410, { outcome: 'bounced', recipientGone: true }],
    [429, { outcome: 'deferred' }],
    [500, { outcome: 'deferred' }],
    [503, { outcome: 'deferred' }],
    [502, { outcome: 'unknown' }],
    [504, { outcome: 'unknown' }],
  ])('reads %s as %j', async (status, expected) => {
    provider.answer = () => ({ status });
    expect(await transport().handOff(MESSAGE, lease())).toMatchObject(expected);
  });

  it.each([
    [
      'a header that is two lines',
      () => ({ url: new URL(provider.url), headers: { authorization: 'a\nb' } }),
    ],
    [
      'a key that signs nothing',
      () => {
        throw new Error('no key');
      },
    ],
  ])('blames the account, and sends nothing, for %s', async (_what, make) => {
    const speaker: HttpSpeaker = {
      request: () => ({ ...make(), body: Buffer.from('x') }),
      read: () => undefined,
    };
    expect(await opened(() => speaker, 5).handOff(MESSAGE, lease())).toEqual({
      outcome: 'misconfigured',
      stage: 'request',
    });
    expect(provider.requests).toEqual([]);
  });

  it('follows no redirect', async () => {
    provider.answer = () => ({ status: 307, headers: { location: `${provider.url}/elsewhere` } });
    expect(await transport().handOff(MESSAGE, lease())).toMatchObject({
      outcome: 'misconfigured',
      code: 307,
    });
    expect(provider.requests.map(({ path }) => path)).toEqual(['/in']);
  });

  it.each([
    ['no JSON', 'x'],
    ['no id', {}],
    ['an id with a line break', { provider_message_id: 'a\nb' }],
    ['an id that is too long', { provider_message_id: 'x'.repeat(256) }],
  ])('keeps its own id where a 2xx gives %s', async (_what, body) => {
    provider.answer = () => ({ status: 200, body });
    expect(await transport().handOff(MESSAGE, lease())).toEqual({ outcome: 'sent', code: 200 });
  });

  it('cannot tell where the connection breaks, or the lease ends, after the message has left', async () => {
    provider.answer = () => null;
    expect(await transport().handOff(MESSAGE, lease())).toEqual({ outcome: 'unknown' });
    const one = transport();
    provider.answer = () => ({ status: 200 });
    const begun = performance.now();
    await one.handOff(MESSAGE, lease());
    // As many times as long as this machine needs for a message to arrive.
    const enough = 100 + 20 * (performance.now() - begun);
    const answering = Promise.withResolvers<{ status: number }>();
    provider.answer = () => answering.promise;
    expect(await one.handOff(MESSAGE, lease(enough))).toEqual({ outcome: 'unknown' });
    answering.resolve({ status: 200 });
  });

  it('begins nothing once the lease is over, not even for want of a connection', async () => {
    expect(await transport().handOff(MESSAGE, lease(-1))).toEqual({ outcome: 'released' });
    const answering = Promise.withResolvers<{ status: number }>();
    provider.answer = () => answering.promise;
    const one = transport(undefined, 1);
    const first = one.handOff(MESSAGE, lease(60_000));
    await eventually(() => expect(provider.requests).toHaveLength(1));
    expect(await one.handOff(MESSAGE, lease(100))).toEqual({ outcome: 'released' });
    answering.resolve({ status: 200 });
    expect(await first).toMatchObject({ outcome: 'sent' });
    expect(provider.requests).toHaveLength(1);
  });

  it.each([
    [429, '7', 7_000],
    [503, '7200', 7_200_000],
    [403, '60', 60_000],
    [429, new Date(Date.now() + 1_000 * 86_400_000).toUTCString(), 86_400_000],
    [429, '999999999', 86_400_000],
  ])('of a %i notes Retry-After: %s and leaves the provider alone', async (status, after, wish) => {
    provider.answer = () => ({ status, headers: { 'retry-after': after } });
    const one = transport();
    const ends = await Promise.all(Array.from({ length: 4 }, () => one.handOff(MESSAGE, lease())));
    const [told, ...others] = ends.sort((a, b) => (b.retryAfterMs ?? 0) - (a.retryAfterMs ?? 0));
    expect(told).toMatchObject({ code: status, retryAfterMs: wish });
    expect(others).toEqual(Array(3).fill({ outcome: 'released' }));
    expect(one.capacity()).toBe(0);
  });

  it('goes on after a date that has passed, or a word that is none', async () => {
    for (const after of ['Sat, 21 Nov 2020 10:00:00 GMT', 'soon']) {
      provider.answer = () => ({ status: 429, headers: { 'retry-after': after } });
      const one = transport();
      expect(await one.handOff(MESSAGE, lease())).toEqual({ outcome: 'deferred', code: 429 });
      expect(one.capacity()).toBeGreaterThan(1);
    }
  });

  it('lets an outage cost one message an attempt, and others wait', async () => {
    const away = transport('http://127.0.0.1:9/in');
    expect(away.capacity()).toBeGreaterThan(1);
    const outcomes = await Promise.all(Array.from({ length: 4 }, () => away.handOff(MESSAGE, lease())));
    expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual([
      'deferred',
      'released',
      'released',
      'released',
    ]);
    expect(away.capacity()).toBe(0);
  });

  it.each(['http://10.0.0.1/in', 'http://169.254.169.254/in', 'http://[::ffff:10.0.0.1]/in'])(
    'reaches no address that is not public: %s',
    async (url) => {
      expect((await transport(url).handOff(MESSAGE, lease())).outcome).toBe('deferred');
    },
  );

  it('looks at the address of each connection, whatever the name said before', async () => {
    const answers = ['127.0.0.1', '10.0.0.1'];
    const url = `${provider.url.replace('127.0.0.1', 'localhost')}/in`;
    const made = opened(
      () => signedPost({ url, secret: SECRET }),
      1,
      () => resolveDestination(answers.shift() ?? '10.0.0.1', true),
    );
    // Without an idle connection the name is asked again.
    provider.answer = () => ({ status: 200, headers: { connection: 'close' } });
    expect((await made.handOff(MESSAGE, lease())).outcome).toBe('sent');
    expect((await made.handOff(MESSAGE, lease())).outcome).toBe('deferred');
    expect(provider.requests).toHaveLength(1);
  });

  describe('to Twilio', () => {
    const sid = `AC${'0'.repeat(32)}`;
    function twilio(): HttpTransport {
      return opened(() => twilioApi({ accountSid: sid, authToken: 'token', baseUrl: `${provider.url}/` }), 2);
    }

    it('posts a form to the account’s messages and takes the sid', async () => {
      provider.answer = () => ({ status: 201, body: { sid: 'SM1' } });
      const outcome = await twilio().handOff({ ...MESSAGE, content: Buffer.from('To=%2B1') }, lease());
      expect(outcome).toEqual({ outcome: 'sent', code: 201, providerMessageId: 'SM1' });
      expect(provider.requests[0]).toMatchObject({
        path: `/2010-04-01/Accounts/${sid}/Messages.json`,
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          authorization: `Basic ${Buffer.from(`${sid}:token`).toString('base64')}`,
        },
      });
    });

    it('takes its word about the recipient for more than its status', async () => {
      provider.answer = () => ({ status: 404, body: { code: 21211 } });
      expect(await twilio().handOff(MESSAGE, lease())).toMatchObject({
        outcome: 'bounced',
        recipientGone: true,
      });
      provider.answer = () => ({ status: 404, body: { code: 20404 } });
      expect(await twilio().handOff(MESSAGE, lease())).toMatchObject({ outcome: 'misconfigured' });
    });

    it.each([
      [21211, { outcome: 'bounced', recipientGone: true }],
      [21608, { outcome: 'bounced' }],
    ])('reads its code %s as %j', async (code, expected) => {
      provider.answer = () => ({ status: 400, body: { code } });
      const outcome = await twilio().handOff(MESSAGE, lease());
      expect(outcome).toEqual({ code: 400, ...expected });
    });
  });
});
