import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { jwtVerify } from 'jose';
import { eventually } from '@customer-platform/testing';
import { MailSink } from '../../mail-sink.fixture.js';
import { aSend, send, settled, shown } from '../../messaging.fixture.js';
import type { ProviderAnswer } from '../../provider.fixture.js';
import { providerWorld, type ProviderShop, type ProviderWorld } from '../provider-world.fixture.js';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const MAILBOX = 'hello@shop.example';
const CLIENT = { client_id: 'client-1', client_secret: 'secret-1', scope: 'https://mail.example/.default' };

/** Tokens that the mail server takes, and what it was shown. */
let good: Set<string>;
let authenticated: unknown[];
const server = new MailSink({
  authMethods: ['XOAUTH2'],
  disabledCommands: ['STARTTLS'],
  allowInsecureAuth: true,
  onAuth: ({ method, username, accessToken = '' }, _session, done) => {
    authenticated.push([method, username, accessToken]);
    // The refusal in two steps: 334 with the reasons, and 535 for the empty answer.
    done(null, good.has(accessToken) ? { user: username } : { data: { status: '400', schemes: 'Bearer' } });
  },
});
let there: ProviderWorld;
let port: number;
beforeAll(async () => {
  port = await server.start();
  there = await providerWorld();
});
afterAll(async () => {
  await there.close();
  await server.stop();
});
beforeEach(() => {
  good = new Set();
  authenticated = [];
  there.server.requests.length = 0;
  issue();
});

/** As authorization servers answer, each token another. */
function issue(lasts: object = { expires_in: 3_599 }): void {
  there.server.answer = () => {
    const token = `token-${String(there.server.requests.length)}`;
    good.add(token);
    return { status: 200, body: { access_token: token, token_type: 'Bearer', ...lasts } };
  };
}

const aShop = (change: object): Promise<ProviderShop> =>
  there.shop({
    email: {
      provider: 'smtp',
      host: '127.0.0.1',
      port,
      security: 'none',
      from: MAILBOX,
      username: MAILBOX,
      auth: 'oauth2',
      token_url: `${there.server.url}/token`,
      ...change,
    },
  });
const forms = (): Record<string, string>[] =>
  there.server.requests.map(({ body }) => Object.fromEntries(new URLSearchParams(body.toString())));
const keyFile = JSON.stringify({
  type: 'service_account',
  project_id: 'shop-of-tests',
  client_email: 'mail@shop-of-tests.iam.gserviceaccount.com',
  private_key: rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }),
});

describe('a mail server that takes access tokens', () => {
  it('gets one by the client’s own credentials, once for all that are sent', async () => {
    const shop = await aShop(CLIENT);
    const ids = await Promise.all([1, 2, 3].map(() => send(shop.api, aSend())));
    for (const id of ids) await settled(shop.api, id, 'sent');
    expect(forms()).toEqual([{ grant_type: 'client_credentials', ...CLIENT }]);
    expect(new Set(authenticated.map(String))).toEqual(new Set([`XOAUTH2,${MAILBOX},token-1`]));
  });

  it('gets one by a refresh token', async () => {
    const shop = await aShop({ ...CLIENT, client_secret: null, scope: null, refresh_token: 'refresh-1' });
    await settled(shop.api, await send(shop.api, aSend()), 'sent');
    expect(forms()).toEqual([
      { grant_type: 'refresh_token', refresh_token: 'refresh-1', client_id: 'client-1' },
    ]);
  });

  it('gets one by an assertion that a service account signs for the mailbox', async () => {
    const shop = await aShop({ service_account: keyFile });
    await settled(shop.api, await send(shop.api, aSend()), 'sent');
    const { payload } = await jwtVerify(forms()[0]?.['assertion'] ?? '', rsa.publicKey, {
      audience: `${there.server.url}/token`,
      subject: MAILBOX,
    });
    expect(payload['scope']).toBe('https://mail.google.com/');
  });

  it('gets a new one where the old is over, at its time or before', async () => {
    issue({ expires_in: 0 });
    const shop = await aShop(CLIENT);
    await settled(shop.api, await send(shop.api, aSend()), 'sent');
    issue();
    await forgetConnections();
    await settled(shop.api, await send(shop.api, aSend()), 'sent');
    expect(forms()).toHaveLength(2);
    good.clear();
    await forgetConnections();
    const id = await send(shop.api, aSend());
    expect(await settled(shop.api, id, 'sent')).toMatchObject({ attempts: 1 });
    expect(authenticated.map(String).slice(-2)).toEqual([
      `XOAUTH2,${MAILBOX},token-2`,
      `XOAUTH2,${MAILBOX},token-3`,
    ]);
  });

  it.each<[string, ProviderAnswer, string | null]>([
    ['a secret that is over', { status: 401, body: { error: 'invalid_client' } }, 'token'],
    ['a mailbox that is not the client’s', { status: 200, body: { access_token: 'of-another' } }, 'AUTH'],
    ['a token that cannot be sent along', { status: 200, body: { access_token: 'a\u0001b' } }, 'token'],
    ['an authorization server that fails', { status: 503 }, null],
    ['one that hangs up', null, null],
  ])('says what is wrong with %s, and suppresses nobody', async (_what, answer, stage) => {
    const shop = await aShop(CLIENT);
    there.server.answer = () => answer;
    const id = await send(shop.api, aSend());
    await eventually(async () =>
      expect(await shown(shop.api, id)).toMatchObject({ state: 'gated', attempts: 1 }),
    );
    expect(await there.fault(shop, 'email')).toEqual(
      stage === null ? null : expect.objectContaining({ stage }),
    );
    expect(await there.suppressions(shop)).toEqual([]);
  });

  it.each([
    ['a client', { ...CLIENT, client_id: null }],
    ['a secret', { ...CLIENT, client_secret: null }],
    ['an address to ask', { ...CLIENT, token_url: null }],
    ['a mailbox', { ...CLIENT, username: null }],
  ])('takes nothing without %s', async (_what, change) => {
    const shop = await aShop(change);
    const answer = await shop.api.post('/v1/messaging/sends', aSend(), { 'idempotency-key': randomUUID() });
    expect(answer).toMatchObject({ status: 422, body: { code: 'channel_not_configured' } });
  });
});

it('shows no secret, and none to another authorization server', async () => {
  const shop = await aShop({ ...CLIENT, refresh_token: 'refresh-1', service_account: keyFile });
  const read = () =>
    shop.api.get<{ channels: { email: Record<string, unknown> } }>('/v1/messaging/channel-settings');
  const { body } = await read();
  const secrets = ['client_secret', 'refresh_token', 'service_account'];
  for (const secret of secrets) expect(body.channels.email[secret]).toMatchObject({ set: true });
  expect(JSON.stringify(body)).not.toMatch(/secret-1|refresh-1|PRIVATE KEY/);
  const put = (email: object) =>
    shop.api.call('PUT', '/v1/messaging/channel-settings', { body: { channels: { email } } });
  expect((await put(body.channels.email)).status).toBe(200);
  for (const secret of secrets)
    expect((await read()).body.channels.email[secret]).toMatchObject({ set: true });
  await put({ ...body.channels.email, token_url: 'https://tokens.other.example/token' });
  for (const secret of secrets)
    expect((await read()).body.channels.email[secret]).toMatchObject({ set: false });
});

/** The server closes what lies idle, so that the next mail authenticates anew. */
async function forgetConnections(): Promise<void> {
  await server.stop();
  await server.start();
}
