import { Caller } from '@customer-platform/testing';
import { decodeJwt } from 'jose';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { aChallenge, Browser, CALLBACK, ISSUER, signsIn, TestClient } from './browser.fixture.js';

let bench: IdentityBench;
let organization: TestOrganization;
let client: TestClient;
let userId: string;
beforeAll(async () => {
  bench = await IdentityBench.start();
});
afterAll(() => bench.end());
beforeEach(async () => {
  organization = await bench.organization();
  client = await TestClient.register(bench, organization);
  ({ userId } = await bench.signedIn(organization));
});

const authorizePath = (parameters: Record<string, string>) =>
  `/oauth/authorize?${new URLSearchParams(parameters).toString()}`;
const withoutPkce = (one: TestClient) => {
  const { code_challenge: _, code_challenge_method: __, ...rest } = one.request('');
  return rest;
};
const sessionCookie = (browser: Browser) => /(?:^|; )sign-in=([^;]+)/.exec(browser.sends('/'))?.[1];

describe('PKCE', () => {
  it('is not taken away: a verifier for a code without a challenge is refused', async () => {
    const lax = await TestClient.register(bench, organization, { require_pkce: false });
    const back = await new Browser(bench).authorize(withoutPkce(lax), signsIn(userId));
    const code = back.searchParams.get('code') ?? '';
    const { status, body } = await lax.redeem(code, aChallenge().verifier);
    expect([status, body.error]).toEqual([400, 'invalid_grant']);
  });

  it.each(['public', 'confidential'])(
    'is not left out by a %s client that has not been let',
    async (type) => {
      const one = await TestClient.register(bench, organization, { type });
      const { headers } = await new Browser(bench).get(authorizePath(withoutPkce(one)));
      expect(new URL(headers.get('location') ?? '').searchParams.get('error')).toBe('invalid_request');
    },
  );
});

describe('a code that somebody else was given', () => {
  it('is worth nothing in a sign-in that another challenge began', async () => {
    const stolen = await client.code(signsIn(userId));
    const own = await client.code(signsIn((await bench.signedIn(organization)).userId));
    expect((await client.redeem(stolen.code, own.verifier)).body.error).toBe('invalid_grant');
  });

  it('names its issuer, of an error too, by which a client knows whom to ask', async () => {
    const metadata = await fetch(`${bench.app.url}/.well-known/oauth-authorization-server`);
    expect(await metadata.json()).toMatchObject({
      issuer: ISSUER,
      authorization_response_iss_parameter_supported: true,
      code_challenge_methods_supported: ['S256'],
    });
    const { back } = await client.code(signsIn(userId), { further: { prompt: 'none' } });
    expect([back.searchParams.get('error'), back.searchParams.get('iss')]).toEqual([
      'login_required',
      ISSUER,
    ]);
  });
});

describe('a refresh token', () => {
  it('gives no more than it was given for', async () => {
    const { refresh_token: token } = await client.tokens(signsIn(userId), {
      further: { scope: 'openid offline_access' },
    });
    const wider = { grant_type: 'refresh_token', refresh_token: token, scope: 'openid email' };
    expect((await client.post('/oauth/token', wider)).body.error).toBe('invalid_scope');
    expect((await client.refresh(token)).body.scope).toBe('openid offline_access');
  });
});

describe('tokens', () => {
  it('come in the body alone, stored by nobody, and are taken from no address', async () => {
    const { code, verifier, back } = await client.code(signsIn(userId));
    expect(back.href).not.toContain('token');
    const answer = await client.redeem(code, verifier);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const token = answer.body.access_token;
    const inAddress = await fetch(`${bench.app.url}/oauth/userinfo?access_token=${token}`);
    expect(inAddress.status).toBeGreaterThanOrEqual(400);
    const call = await fetch(`${bench.app.url}/v1/identity/roles?access_token=${token}`);
    expect(call.status).toBe(401);
  });

  it.each(['password', 'implicit', 'urn:ietf:params:oauth:grant-type:device_code'])(
    'are not given by %s',
    async (grant) => {
      const { status, body } = await client.post('/oauth/token', {
        grant_type: grant,
        username: `${userId}@example.com`,
        password: 'any',
      });
      expect([status, body.error]).toEqual([400, 'unsupported_grant_type']);
    },
  );

  it('of a client are no user’s: its id is the platform’s choice, and says so', async () => {
    const named = await organization.admin.post<{ code: string }>('/v1/identity/oauth-clients', {
      id: userId,
      name: 'Like a user',
      type: 'public',
      redirect_uris: [CALLBACK],
    });
    expect(named.status).toBe(400);
    const role_id = await bench.role(organization.id, ['identity.roles.read']);
    const machine = await TestClient.register(bench, organization, {
      grant_types: ['client_credentials'],
      redirect_uris: [],
      post_logout_redirect_uris: [],
      role_id,
    });
    const { body } = await machine.post('/oauth/token', { grant_type: 'client_credentials' });
    const { sub, client_id: clientId } = decodeJwt(body.access_token);
    expect([sub, clientId]).toEqual([machine.id, machine.id]);
    const caller = new Caller(bench.app.url, body.access_token, () => true);
    expect((await caller.get('/oauth/userinfo')).status).toBe(401);
    expect((await caller.get<{ code: string }>('/v1/identity/mfa')).body.code).toBe('user_required');
  });

  it('for clients are no proof of who somebody is to the platform', async () => {
    const { id_token: token } = await client.tokens(signsIn(userId));
    const caller = new Caller(bench.app.url, token, () => true);
    expect((await caller.get('/v1/identity/roles')).status).toBe(401);
    expect((await caller.get('/oauth/userinfo')).status).toBe(401);
  });
});

describe('nobody is sent on', () => {
  it.each<[string, Record<string, string>]>([
    ['by a client that is none', { client_id: '0198f000-0000-7000-8000-000000000000' }],
    ['by a client that is no id', { client_id: 'https://evil.example/' }],
    ['to where no client is', { redirect_uri: 'https://evil.example/' }],
    ['by an error of another parameter', { redirect_uri: 'https://evil.example/', response_type: 'none' }],
    ['quietly', { redirect_uri: 'https://evil.example/', prompt: 'none' }],
    ['by a form of answers', { redirect_uri: 'https://evil.example/', response_mode: 'form_post' }],
  ])('%s', async (_, wrong) => {
    const parameters = { ...client.request(aChallenge().challenge), ...wrong };
    const response = await new Browser(bench).get(authorizePath(parameters));
    expect([response.status, response.headers.get('location')]).toEqual([400, null]);
    expect(await response.text()).not.toContain('href="https://evil.example');
  });
});

describe('every answer of the provider to a browser', () => {
  it('is framed by nobody, tells nobody where it was, and sends no form again', async () => {
    const browser = new Browser(bench);
    const tokens = await client.tokens(signsIn(userId), { browser });
    const hint = new URLSearchParams({ id_token_hint: tokens.id_token }).toString();
    const answers = [
      await browser.get(authorizePath(client.request(aChallenge().challenge))),
      await browser.get('/oauth/authorize'),
      await browser.get(`/oauth/logout?${hint}`),
      await browser.get('/oauth/logout?id_token_hint=bad'),
      await browser.get('/oauth/logout/success'),
      await browser.submit('/oauth/logout/confirm', { xsrf: 'forged' }),
    ];
    for (const { status, headers } of answers) {
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('access-control-allow-origin')).toBeNull();
      expect(status).not.toBe(307);
    }
    for (const path of ['/oauth/authorize', '/oauth/logout'])
      expect((await browser.submit(path, client.request('x'))).status).toBe(303);
  });
});

describe('the session of a browser', () => {
  it('has another name after each sign-in: what was known before opens nothing', async () => {
    const browser = new Browser(bench);
    await client.tokens(signsIn(userId), { browser });
    const before = sessionCookie(browser);
    await client.tokens(signsIn(userId), { browser, further: { prompt: 'login' } });
    expect(sessionCookie(browser)).not.toBe(before);
    const thief = new Browser(bench);
    thief.plant(`sign-in=${String(before)}; path=/`);
    const { back } = await client.code(signsIn(userId), { browser: thief, further: { prompt: 'none' } });
    expect(back.searchParams.get('error')).toBe('login_required');
  });

  it('is not the one that somebody else has put there', async () => {
    const attacker = new Browser(bench);
    await attacker.get(authorizePath(client.request(aChallenge().challenge)));
    const victim = new Browser(bench);
    victim.plant('sign-in=chosen-by-the-attacker; path=/');
    await client.tokens(signsIn(userId), { browser: victim });
    const after = sessionCookie(victim);
    expect([undefined, 'chosen-by-the-attacker']).not.toContain(after);
    attacker.plant('sign-in=chosen-by-the-attacker; path=/');
    const { back } = await client.code(signsIn(userId), { browser: attacker, further: { prompt: 'none' } });
    expect(back.searchParams.get('error')).toBe('login_required');
  });
});

describe('signing out', () => {
  const isSignedIn = async (browser: Browser) => {
    const { back } = await client.code(signsIn(userId), { browser, further: { prompt: 'none' } });
    return back.searchParams.has('code');
  };

  it('is what the user agrees to on a page of this browser, no link of another', async () => {
    const browser = new Browser(bench);
    const tokens = await client.tokens(signsIn(userId), { browser });
    const query = new URLSearchParams({ id_token_hint: tokens.id_token }).toString();
    expect((await browser.get(`/oauth/logout?${query}`)).status).toBe(200);
    expect(await isSignedIn(browser)).toBe(true);
    // A page of the attacker's own session has a secret of its own.
    const attacker = new Browser(bench);
    await client.tokens(signsIn((await bench.signedIn(organization)).userId), { browser: attacker });
    const [, xsrf = ''] =
      /name="xsrf" value="([^"]+)"/.exec(await (await attacker.get('/oauth/logout')).text()) ?? [];
    for (const secret of [undefined, xsrf, '']) {
      const forged: Record<string, string> = secret === undefined ? {} : { xsrf: secret };
      forged['logout'] = 'yes';
      expect((await browser.submit('/oauth/logout/confirm', forged)).status).toBe(400);
    }
    expect(await isSignedIn(browser)).toBe(true);
    // From another site the form comes without the cookie, which is `SameSite=Lax`.
    expect((await new Browser(bench).submit('/oauth/logout/confirm', { xsrf, logout: 'yes' })).status).toBe(
      400,
    );
    expect(await isSignedIn(attacker)).toBe(true);
  });
});
