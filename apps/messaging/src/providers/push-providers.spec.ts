import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { decodeProtectedHeader, jwtVerify } from 'jose';
import { send, settled } from '../messaging.fixture.js';
import type { ProviderAnswer, ProviderRequest } from '../provider.fixture.js';
import { ApnsServer } from './apns/apns-server.fixture.js';
import {
  aPush,
  endedPush,
  providerWorld,
  type ProviderShop,
  type ProviderWorld,
} from './provider-world.fixture.js';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const apple = new ApnsServer();
let appleUrl: string;
let there: ProviderWorld;
beforeAll(async () => {
  appleUrl = await apple.start();
  there = await providerWorld();
});
afterAll(async () => {
  await there.close();
  await apple.stop();
});
beforeEach(() => {
  there.server.requests.length = 0;
  apple.requests.length = 0;
  apple.answer = () => ({ status: 200 });
});

describe('FCM', () => {
  const PROJECT = 'shop-of-tests';
  const keyFile = (pair = rsa): string =>
    JSON.stringify({
      type: 'service_account',
      project_id: PROJECT,
      private_key_id: 'key-1',
      client_email: `push@${PROJECT}.iam.gserviceaccount.com`,
      private_key: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }),
      token_uri: 'http://169.254.169.254/never-asked',
    });
  const aShop = (): Promise<ProviderShop> =>
    there.shop({
      push: {
        provider: 'fcm',
        service_account: keyFile(),
        base_url: there.server.url,
        token_url: `${there.server.url}/token`,
      },
    });
  let issued: number;
  let good: string;
  /** As Google answers, with tokens good until a test says otherwise. */
  function google(
    message: (request: ProviderRequest) => ProviderAnswer,
    token: () => ProviderAnswer | Promise<ProviderAnswer> = () => {
      issued += 1;
      good = `ya29.${String(issued)}`;
      return { status: 200, body: { access_token: good, expires_in: 3_599, token_type: 'Bearer' } };
    },
  ): void {
    there.server.answer = (request) => {
      if (request.path === '/token') return token();
      return request.headers.authorization === `Bearer ${good}`
        ? message(request)
        : { status: 401, body: { error: { code: 401, status: 'UNAUTHENTICATED' } } };
    };
  }
  const taken = (): ProviderAnswer => ({
    status: 200,
    body: { name: `projects/${PROJECT}/messages/0:${randomUUID()}` },
  });
  const refused = (status: number, errorCode: string, more: object = {}): ProviderAnswer => ({
    status,
    body: {
      error: {
        code: status,
        status: 'X',
        details: [{ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode, ...more }],
      },
    },
  });
  const asked = (): number => there.server.requests.filter(({ path }) => path === '/token').length;
  beforeEach(() => {
    issued = 0;
    good = '';
    google(taken);
  });

  it('asks for one token for all that are sent at once, by an assertion that the account signs', async () => {
    const shop = await aShop();
    const ids = await Promise.all(Array.from({ length: 8 }, (_, n) => send(shop.api, aPush(`token-${n}`))));
    for (const id of ids) expect((await settled(shop.api, id, 'sent')).provider_message_id).toMatch(/^0:/);
    expect(asked()).toBe(1);
    const wish = there.server.requests.find(({ path }) => path === '/token')?.body.toString();
    const form = new URLSearchParams(wish);
    expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    const { payload, protectedHeader } = await jwtVerify(form.get('assertion') ?? '', rsa.publicKey, {
      audience: `${there.server.url}/token`,
      issuer: `push@${PROJECT}.iam.gserviceaccount.com`,
    });
    expect(payload['scope']).toBe('https://www.googleapis.com/auth/firebase.messaging');
    expect(protectedHeader).toMatchObject({ alg: 'RS256', kid: 'key-1' });
    const post = there.server.requests.find(({ path }) => path !== '/token');
    expect(post?.path).toBe(`/v1/projects/${PROJECT}/messages:send`);
    expect(JSON.parse(post?.body.toString() ?? '')).toMatchObject({
      message: {
        token: expect.stringMatching(/^token-\d$/),
        notification: { title: 'Order', body: 'Ready: ñ' },
        data: { url: 'https://shop.example/7' },
      },
    });
  });

  it('takes a new token where the old one is over before its time', async () => {
    const shop = await aShop();
    await settled(shop.api, await send(shop.api, aPush('t')), 'sent');
    good = 'revoked';
    const id = await send(shop.api, aPush('t'));
    expect((await settled(shop.api, id, 'sent')) as object).toMatchObject({ attempts: 1 });
    expect(asked()).toBe(2);
  });

  it.each([
    ['whose clock is ahead and whose tokens end at once', { expires_in: 0 }],
    ['that does not say how long', {}],
  ])('goes on with a provider %s', async (_what, lasts) => {
    google(taken, () => {
      good = randomUUID();
      return { status: 200, body: { access_token: good, ...lasts } };
    });
    const shop = await aShop();
    for (let n = 0; n < 2; n += 1) await settled(shop.api, await send(shop.api, aPush(`t${n}`)), 'sent');
    expect(asked()).toBe(2);
  });

  it.each<[string, ProviderAnswer, string | null]>([
    ['a key that was revoked', { status: 400, body: { error: 'invalid_grant' } }, 'token'],
    ['a token of nobody', { status: 401, body: {} }, 'token'],
    [
      'a token that is two lines',
      { status: 200, body: { access_token: 'ya29\nx-other: 1', expires_in: 3_599 } },
      'token',
    ],
    ['too many', { status: 429, headers: { 'retry-after': '90' } }, null],
    ['its own failure', { status: 503 }, null],
    ['half an answer', { status: 200, body: 'half' }, null],
    ['no answer', null, null],
  ])('keeps messages waiting where asking for a token brings %s', async (_what, answer, stage) => {
    google(taken, () => answer);
    const shop = await aShop();
    const id = await send(shop.api, aPush('t'));
    await endedPush(there, shop, id, { state: 'gated' }, 0);
    const fault = await there.fault(shop, 'push');
    if (stage === null) expect(fault).toBeNull();
    else expect(fault).toMatchObject({ stage });
    expect(there.server.requests.some(({ path }) => path !== '/token')).toBe(false);
  });

  it.each<[ProviderAnswer, object, number, string | null]>([
    [refused(404, 'UNREGISTERED'), { state: 'bounced' }, 1, null],
    [
      refused(400, 'INVALID_ARGUMENT', { fieldViolations: [{ field: 'message.token' }] }),
      { state: 'bounced' },
      1,
      null,
    ],
    [refused(400, 'INVALID_ARGUMENT'), { state: 'bounced' }, 0, null],
    [refused(403, 'SENDER_ID_MISMATCH'), { state: 'bounced' }, 0, null],
    [refused(429, 'QUOTA_EXCEEDED'), { state: 'gated' }, 0, null],
    [refused(503, 'UNAVAILABLE'), { state: 'gated' }, 0, null],
    [refused(401, 'THIRD_PARTY_AUTH_ERROR'), { state: 'gated' }, 0, 'certificate'],
    [{ status: 403, body: {} }, { state: 'gated' }, 0, 'request'],
    [{ status: 401, body: {} }, { state: 'gated' }, 0, 'request'],
    [{ status: 404, body: {} }, { state: 'gated' }, 0, 'request'],
    [{ status: 502 }, { state: 'unknown' }, 0, null],
  ])('takes %j for %j', async (answer, expected, suppressed, stage) => {
    google(() => answer);
    const shop = await aShop();
    const id = await send(shop.api, aPush('t'));
    await endedPush(there, shop, id, expected, suppressed);
    const fault = await there.fault(shop, 'push');
    if (stage === null) expect(fault).toBeNull();
    else expect(fault).toMatchObject({ stage });
  });

  it.each([
    '{}',
    'x',
    keyFile().replace('service_account', 'user'),
    keyFile().replace(/BEGIN/g, 'END'),
    // No RS256 is made with so short a key: each message would fail.
    keyFile(generateKeyPairSync('rsa', { modulusLength: 1_024 })),
  ])('takes no file that is no key: %#', async (file) => {
    const { api } = there.world.organization();
    const answer = await api.call<{ errors: object[] }>('PUT', '/v1/messaging/channel-settings', {
      body: { channels: { push: { provider: 'fcm', service_account: file } } },
    });
    expect(answer).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/channels/push/service_account' }] },
    });
    expect(JSON.stringify(answer.body)).not.toContain('PRIVATE');
  });
});

describe('APNs', () => {
  const TOKEN = 'ab'.repeat(32);
  const aShop = (): Promise<ProviderShop> =>
    there.shop({
      push: {
        provider: 'apns',
        team_id: 'DEF123GHIJ',
        key_id: 'ABC123DEFG',
        topic: 'cl.shop.app',
        private_key: p256.privateKey.export({ type: 'pkcs8', format: 'pem' }),
        base_url: appleUrl,
      },
    });

  it('posts over one connection, with one token that the team’s key signs', async () => {
    const shop = await aShop();
    const before = apple.connections;
    const ids = await Promise.all(Array.from({ length: 6 }, () => send(shop.api, aPush(TOKEN))));
    for (const id of ids) await settled(shop.api, id, 'sent');
    expect(apple.connections - before).toBe(1);
    const [first] = apple.requests;
    const headers: Readonly<Record<string, unknown>> = first?.headers ?? {};
    expect(headers).toMatchObject({
      ':method': 'POST',
      ':path': `/3/device/${TOKEN}`,
      'apns-topic': 'cl.shop.app',
      'apns-push-type': 'alert',
    });
    expect(ids).toContain(headers['apns-id']);
    expect(JSON.parse(first?.body ?? '')).toMatchObject({
      aps: { alert: { title: 'Order', body: 'Ready: ñ' } },
    });
    const tokens = new Set(apple.requests.map((one) => one.headers['authorization']));
    expect(tokens.size).toBe(1);
    const jwt = String(headers['authorization']).replace(/^bearer /, '');
    const { payload } = await jwtVerify(jwt, p256.publicKey, { issuer: 'DEF123GHIJ' });
    expect(Math.abs((payload.iat ?? 0) - Date.now() / 1_000)).toBeLessThan(600);
    expect(decodeProtectedHeader(jwt)).toEqual({ alg: 'ES256', kid: 'ABC123DEFG' });
  });

  it('opens another connection where the server said goodbye, and takes a token anew that is over', async () => {
    const shop = await aShop();
    await settled(shop.api, await send(shop.api, aPush(TOKEN)), 'sent');
    const before = apple.connections;
    apple.goAway();
    await settled(shop.api, await send(shop.api, aPush(TOKEN)), 'sent');
    expect(apple.connections).toBe(before + 1);
    let over = 1;
    apple.answer = () => (over-- > 0 ? { status: 403, reason: 'ExpiredProviderToken' } : { status: 200 });
    const id = await send(shop.api, aPush(TOKEN));
    expect((await settled(shop.api, id, 'sent')) as object).toMatchObject({ attempts: 1 });
  });

  it.each<[ReturnType<ApnsServer['answer']>, string, number, string | null]>([
    [{ status: 410, reason: 'Unregistered' }, 'bounced', 1, null],
    [{ status: 410, reason: 'ExpiredToken' }, 'bounced', 1, null],
    [{ status: 400, reason: 'BadDeviceToken' }, 'bounced', 0, null],
    [{ status: 400, reason: 'DeviceTokenNotForTopic' }, 'bounced', 0, null],
    [{ status: 413, reason: 'PayloadTooLarge' }, 'bounced', 0, null],
    [{ status: 403, reason: 'InvalidProviderToken' }, 'gated', 0, 'token'],
    [{ status: 400, reason: 'TopicDisallowed' }, 'gated', 0, 'topic'],
    [{ status: 429, reason: 'TooManyProviderTokenUpdates' }, 'gated', 0, null],
    [{ status: 429, reason: 'TooManyRequests' }, 'gated', 0, null],
    [{ status: 503, reason: 'Shutdown' }, 'gated', 0, null],
    ['refuse', 'gated', 0, null],
    ['cut', 'unknown', 0, null],
  ])('takes %j for %s', async (answer, state, suppressed, stage) => {
    apple.answer = () => answer;
    const shop = await aShop();
    const id = await send(shop.api, aPush(TOKEN));
    await endedPush(there, shop, id, { state }, suppressed);
    const fault = await there.fault(shop, 'push');
    if (stage === null) expect(fault).toBeNull();
    else expect(fault).toMatchObject({ stage });
  });

  it('is not asked about what can be no token of its own', async () => {
    const shop = await aShop();
    await endedPush(there, shop, await send(shop.api, aPush('../../3/device/x')), { state: 'bounced' }, 0);
    expect(apple.requests).toEqual([]);
  });
});
