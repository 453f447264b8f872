import { decodeJwt } from 'jose';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { aChallenge, Browser, signsIn, TestClient, type Answers } from './browser.fixture.js';

const LOOPBACK = 'http://127.0.0.1/callback';
const PRIVATE = 'com.example.app:/callback';

let bench: IdentityBench;
let organization: TestOrganization;
let userId: string;
beforeAll(async () => {
  bench = await IdentityBench.start();
});
afterAll(() => bench.end());
beforeEach(async () => {
  organization = await bench.organization();
  ({ userId } = await bench.signedIn(organization));
});

const registered = (...redirect_uris: string[]) =>
  TestClient.register(bench, organization, { type: 'public', redirect_uris, post_logout_redirect_uris: [] });
const parameters = (client: TestClient, redirect_uri: string) =>
  client.request(aChallenge().challenge, { redirect_uri });
/** Where somebody who signs in is sent. */
const sentTo = (client: TestClient, uri: string): Promise<URL> =>
  new Browser(bench).authorize(parameters(client, uri), signsIn(userId));
const refusal = async (client: TestClient, uri: string): Promise<number> => {
  const query = new URLSearchParams(parameters(client, uri)).toString();
  return (await new Browser(bench).get(`/oauth/authorize?${query}`)).status;
};

describe('an application on somebody’s machine', () => {
  it.each(['http://127.0.0.1/callback', 'http://127.0.0.1:51004/callback', 'http://127.0.0.1:1/callback'])(
    'listens at whatever port it has: %s',
    async (uri) => {
      const back = await sentTo(await registered(LOOPBACK), uri);
      expect(back.searchParams.get('code')).not.toBeNull();
      expect(back.href.startsWith(`${uri}?`)).toBe(true);
    },
  );

  it('redeems the code with the address that it named', async () => {
    const client = await registered(LOOPBACK);
    const redirect_uri = 'http://127.0.0.1:51004/callback';
    const { code, verifier } = await client.code(signsIn(userId), { further: { redirect_uri } });
    expect((await client.redeem(code, verifier, { redirect_uri })).status).toBe(200);
    const again = await client.code(signsIn(userId), { further: { redirect_uri } });
    const other = await client.redeem(again.code, again.verifier, { redirect_uri: LOOPBACK });
    expect(other.body.error).toBe('invalid_grant');
  });

  it.each([
    'http://127.0.0.1:51004/other',
    'http://127.0.0.1:51004/callback?more=1',
    'http://localhost:51004/callback',
    'https://127.0.0.1:51004/callback',
    'http://127.0.0.1.example:51004/callback',
    'http://[::1]:51004/callback',
    'http://127.0.0.1:51004@stranger.example/callback',
    'http://stranger.example@127.0.0.1:51004/callback',
    'http://stranger.example\\@127.0.0.1:51004/callback',
    'http://127.0.0.1:51004\\@stranger.example/callback',
    'http://127.0.0.1:51004/callback#token',
    'http://127.0.0.1:51004/Callback',
    'http://127.0.0.1:51004/callback/',
    'http://127.0.0.1:99999/callback',
    '//127.0.0.1:51004/callback',
  ])('is at no other address: %s', async (uri) => {
    expect(await refusal(await registered(LOOPBACK), uri)).toBe(400);
  });

  it('is reached by a scheme of its own', async () => {
    const client = await registered(PRIVATE);
    const back = await sentTo(client, PRIVATE);
    expect([back.protocol, back.pathname]).toEqual(['com.example.app:', '/callback']);
    expect(back.searchParams.get('code')).not.toBeNull();
    for (const other of [
      'com.example.other:/callback',
      `${PRIVATE}/more`,
      `${PRIVATE}?more=1`,
      'com.example.app://stranger/callback',
    ])
      expect([other, await refusal(client, other)]).toEqual([other, 400]);
  });

  it.each([
    [LOOPBACK, 'http://127.0.0.1:51004/callback'],
    [LOOPBACK, LOOPBACK],
    [PRIVATE, PRIVATE],
  ])('registered at %s is given no code at %s that nobody has agreed to there and then', async (at, uri) => {
    const client = await registered(at);
    const browser = new Browser(bench);
    const asked: string[] = [];
    const noting: Answers = (interaction) => {
      asked.push(interaction.prompt);
      return signsIn(userId)(interaction);
    };
    const go = (further: Record<string, string> = {}) =>
      browser.authorize({ ...parameters(client, uri), ...further }, noting);
    for (const prompt of ['login', 'consent', 'consent']) {
      expect((await go()).searchParams.has('code')).toBe(true);
      expect(asked.splice(0)).toEqual([prompt]);
    }
    expect((await go({ prompt: 'none' })).searchParams.get('error')).toBe('consent_required');
    expect(asked).toEqual([]);
  });

  it('that is developed at a port of its own goes on unasked there, and nowhere else', async () => {
    const own = 'http://127.0.0.1:5173/callback';
    const client = await registered(own);
    const browser = new Browser(bench);
    await browser.authorize(parameters(client, own), signsIn(userId));
    const quietly = async (uri: string) =>
      (await browser.authorize({ ...parameters(client, uri), prompt: 'none' }, signsIn(userId))).searchParams;
    expect((await quietly(own)).has('code')).toBe(true);
    expect((await quietly('http://127.0.0.1:5174/callback')).get('error')).toBe('consent_required');
  });

  it('is where signing out leads, by a page whose form may be answered with its scheme', async () => {
    const uris = { redirect_uris: [PRIVATE], post_logout_redirect_uris: [PRIVATE] };
    const client = await TestClient.register(bench, organization, { type: 'public', ...uris });
    const { browser } = await client.code(signsIn(userId), { further: { redirect_uri: PRIVATE } });
    const query = new URLSearchParams({ client_id: client.id, post_logout_redirect_uri: PRIVATE }).toString();
    const page = await browser.get(`/oauth/logout?${query}`);
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self' com.example.app:;");
    const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(await page.text()) ?? [];
    const left = await browser.submit('/oauth/logout/confirm', { xsrf, logout: 'yes' });
    expect([left.status, left.headers.get('location')]).toEqual([303, PRIVATE]);
  });

  it('opens no other origin to the pages of browsers', async () => {
    const client = await registered(PRIVATE);
    const { code, verifier } = await client.code(signsIn(userId), { further: { redirect_uri: PRIVATE } });
    const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: PRIVATE };
    const answer = await fetch(`${bench.app.url}/oauth/token`, {
      method: 'POST',
      headers: { origin: 'null' },
      body: new URLSearchParams({ ...form, client_id: client.id }),
    });
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });
});

it('a client on the web has its ports as they are registered, also on this machine', async () => {
  const client = await registered('https://app.example/callback', 'http://localhost:5173/callback');
  expect(await refusal(client, 'http://localhost:5174/callback')).toBe(400);
  expect((await sentTo(client, 'http://localhost:5173/callback')).searchParams.get('code')).not.toBeNull();
});

it('prompt=select_account shows where one signs in, whoever is signed in already', async () => {
  const client = await TestClient.register(bench, organization);
  const { browser } = await client.tokens(signsIn(userId));
  const asked: string[] = [];
  const noting: Answers = (interaction) => {
    asked.push(`${interaction.prompt} ${interaction.signedIn?.userId ?? 'nobody'}`);
    return signsIn(userId)(interaction);
  };
  for (const prompt of ['select_account', 'login select_account']) {
    const { access_token: token } = await client.tokens(noting, { browser, further: { prompt } });
    expect([decodeJwt(token).sub, asked.splice(0)]).toEqual([userId, ['login nobody']]);
  }
  await client.tokens(noting, { browser });
  expect(asked).toEqual([]);
  const silent = { prompt: 'none select_account' };
  const { back } = await client.code(noting, { browser, further: silent });
  expect(back.searchParams.get('error')).toBe('invalid_request');
});
