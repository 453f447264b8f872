import {
  createDecipheriv,
  createECDH,
  createPublicKey,
  hkdfSync,
  randomBytes,
  randomUUID,
} from 'node:crypto';
import { jwtVerify } from 'jose';
import { expectProblem } from '@customer-platform/testing';
import { send, settled } from '../../messaging.fixture.js';
import type { ProviderAnswer } from '../../provider.fixture.js';
import {
  aPush,
  endedPush,
  providerWorld,
  type ProviderShop,
  type ProviderWorld,
} from '../provider-world.fixture.js';

let there: ProviderWorld;
beforeAll(async () => {
  there = await providerWorld();
});
afterAll(() => there.close());
beforeEach(() => {
  there.server.requests.length = 0;
});

describe('Web Push', () => {
  const server = createECDH('prime256v1');
  server.generateKeys();
  const browser = createECDH('prime256v1');
  browser.generateKeys();
  const auth = randomBytes(16);
  const publicKey = server.getPublicKey('base64url');
  const privateKey = Buffer.concat([Buffer.alloc(32), server.getPrivateKey()]).subarray(-32);
  const aShop = (change: object = {}): Promise<ProviderShop> =>
    there.shop({
      push: {
        provider: 'webpush',
        subject: 'mailto:push@shop.example',
        public_key: publicKey,
        private_key: privateKey.toString('base64url'),
        ...change,
      },
    });
  const subscription = (endpoint = `${there.server.url}/wp/1`): string =>
    JSON.stringify({
      endpoint,
      keys: { p256dh: browser.getPublicKey('base64url'), auth: auth.toString('base64url') },
    });
  beforeEach(() => {
    there.server.answer = () => ({ status: 201, headers: { location: `${there.server.url}/m/1` } });
  });

  /** What the browser reads (RFC 8291), written without the service's own code. */
  function decrypted(body: Buffer): unknown {
    const [salt, own, sealed] = [body.subarray(0, 16), body.subarray(21, 86), body.subarray(86)];
    const hkdf = (material: Buffer, from: Buffer, info: Buffer, length: number): Buffer =>
      Buffer.from(hkdfSync('sha256', material, from, info, length));
    const info = Buffer.concat([Buffer.from('WebPush: info\0'), browser.getPublicKey(), own]);
    const material = hkdf(browser.computeSecret(own), auth, info, 32);
    const key = hkdf(material, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16);
    const nonce = hkdf(material, salt, Buffer.from('Content-Encoding: nonce\0'), 12);
    const decipher = createDecipheriv('aes-128-gcm', key, nonce);
    decipher.setAuthTag(sealed.subarray(-16));
    const text = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
    expect(text.at(-1)).toBe(2);
    return JSON.parse(text.subarray(0, -1).toString());
  }

  it('is one device whatever its keys: once gone, nothing goes to its endpoint', async () => {
    const shop = await aShop();
    const endpoint = `${there.server.url}/wp/${randomUUID()}`;
    there.server.answer = () => ({ status: 410 });
    const id = await send(shop.api, aPush(subscription(endpoint)));
    await endedPush(there, shop, id, { state: 'bounced' }, 1);
    const renewed = JSON.stringify({
      endpoint,
      keys: { p256dh: browser.getPublicKey('base64url'), auth: randomBytes(16).toString('base64url') },
    });
    const answer = await shop.api.post('/v1/messaging/sends', aPush(renewed), {
      'idempotency-key': randomUUID(),
    });
    expectProblem(answer, 422, 'recipient_suppressed');
    const [row] = await there.suppressions(shop);
    expect(row?.address).toBe(endpoint);
  });

  it('posts to the browser’s own service what the browser alone can read, signed for that service', async () => {
    const shop = await aShop();
    const id = await send(shop.api, aPush(subscription()));
    await settled(shop.api, id, 'sent');
    const [request] = there.server.requests;
    expect(request).toMatchObject({
      path: '/wp/1',
      headers: { 'content-encoding': 'aes128gcm', ttl: '2419200', urgency: 'normal' },
    });
    expect(decrypted(request?.body ?? Buffer.alloc(0))).toEqual({
      title: 'Order',
      body: 'Ready: ñ',
      url: 'https://shop.example/7',
      send_id: id,
    });
    const [, token = '', key = ''] =
      /^vapid t=(\S+), k=(\S+)$/.exec(request?.headers.authorization ?? '') ?? [];
    expect(key).toBe(publicKey);
    const point = server.getPublicKey();
    const jwk = {
      kty: 'EC',
      crv: 'P-256',
      x: point.toString('base64url', 1, 33),
      y: point.toString('base64url', 33),
    };
    const { payload } = await jwtVerify(token, createPublicKey({ key: jwk, format: 'jwk' }), {
      audience: there.server.url,
      subject: 'mailto:push@shop.example',
    });
    expect((payload.exp ?? 0) - Date.now() / 1_000).toBeLessThan(24 * 3_600);
  });

  it.each<[ProviderAnswer, string, number]>([
    [{ status: 410 }, 'bounced', 1],
    [{ status: 404 }, 'bounced', 1],
    [{ status: 400 }, 'bounced', 0],
    [{ status: 401 }, 'bounced', 0],
    [{ status: 403 }, 'bounced', 0],
    [{ status: 413 }, 'bounced', 0],
    [{ status: 302, headers: { location: 'http://127.0.0.1:1/' } }, 'bounced', 0],
    [{ status: 429, headers: { 'retry-after': '60' } }, 'gated', 0],
    [{ status: 500 }, 'gated', 0],
    [null, 'unknown', 0],
  ])('takes %j for %s, of this browser alone', async (answer, state, suppressed) => {
    const shop = await aShop();
    there.server.answer = ({ path }) => (path === '/wp/odd' ? answer : { status: 201 });
    const odd = await send(shop.api, aPush(subscription(`${there.server.url}/wp/odd`)));
    await endedPush(there, shop, odd, { state }, suppressed);
    expect(await there.fault(shop, 'push')).toBeNull();
    await settled(shop.api, await send(shop.api, aPush(subscription())), 'sent');
  });

  it.each([
    ['http://10.0.0.1/', 'bounced', 0],
    ['https://169.254.169.254/latest', 'bounced', 1],
    ['https://[::ffff:10.0.0.1]/', 'bounced', 1],
    ['http://127.0.0.1:1/', 'gated', 0],
  ])('connects nowhere for a browser that names %s', async (endpoint, state, suppressed) => {
    const shop = await aShop();
    await endedPush(there, shop, await send(shop.api, aPush(subscription(endpoint))), { state }, suppressed);
    await settled(shop.api, await send(shop.api, aPush(subscription())), 'sent');
  });

  it('has no channel while its two keys do not belong together', async () => {
    const shop = await aShop({ private_key: randomBytes(32).toString('base64url') });
    const asked = await shop.api.post('/v1/messaging/sends', aPush(subscription()), {
      'idempotency-key': randomUUID(),
    });
    expectProblem(asked, 422, 'channel_not_configured');
    expect(there.server.requests).toEqual([]);
  });
});
