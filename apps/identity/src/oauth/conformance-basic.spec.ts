import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { aChallenge, Browser, CALLBACK, ISSUER, signsIn, type Answers } from './browser.fixture.js';
import { RelyingParty } from './conformance.fixture.js';

let bench: IdentityBench;
let organization: TestOrganization;
let party: RelyingParty;
let userId: string;
let answers: Answers;
beforeAll(async () => {
  bench = await IdentityBench.start();
});
afterAll(() => bench.end());
beforeEach(async () => {
  organization = await bench.organization();
  party = await RelyingParty.register(bench, organization);
  ({ userId } = await bench.signedIn(organization));
  answers = signsIn(userId);
});

/** Somebody who has authenticated so many seconds ago. */
const earlier =
  (seconds: number): Answers =>
  () => ({ signedIn: { userId, amr: ['pwd'], authenticatedAt: new Date(Date.now() - seconds * 1_000) } });
const bearer = (token = '') => ({ headers: { authorization: `Bearer ${token}` } });
const authorizePath = (further: Record<string, string>) =>
  `/oauth/authorize?${new URLSearchParams(party.request(further)).toString()}`;

describe('oidcc-basic-certification-test-plan', () => {
  it('oidcc-server', async () => {
    const { back, claims, tokens } = await party.flow(answers);
    expect(Object.fromEntries(back.searchParams)).toMatchObject({ state: 'a-state', iss: ISSUER });
    expect(claims).toMatchObject({ iss: ISSUER, sub: userId, aud: party.client.id, nonce: 'a-nonce' });
    expect(tokens['token_type']?.toLowerCase()).toBe('bearer');
    const { status, body } = await party.userinfo(bearer(tokens['access_token']));
    expect([status, body['sub']]).toEqual([200, userId]);
  });

  it('oidcc-response-type-missing', async () => {
    const { back } = await party.authorize(answers, { response_type: '' });
    expect(back.href.startsWith(CALLBACK)).toBe(true);
    expect(back.searchParams.get('error')).toBe('invalid_request');
    expect(back.searchParams.get('state')).toBe('a-state');
  });

  it('oidcc-idtoken-signature', async () => {
    const { header } = await party.flow(answers);
    expect(header).toMatchObject({ alg: 'RS256', kid: expect.any(String) as string });
  });

  it('oidcc-idtoken-unsigned', async () => {
    const metadata = await party.metadata();
    expect(metadata['id_token_signing_alg_values_supported']).toEqual(['RS256']);
  });

  it('oidcc-userinfo-get, oidcc-userinfo-post-header, oidcc-userinfo-post-body', async () => {
    const token = (await party.flow(answers)).tokens['access_token'] ?? '';
    const ways: RequestInit[] = [
      bearer(token),
      { method: 'POST', ...bearer(token) },
      { method: 'POST', body: new URLSearchParams({ access_token: token }) },
    ];
    for (const way of ways) {
      const { status, body } = await party.userinfo(way);
      expect([status, body['sub']]).toEqual([200, userId]);
    }
    for (const none of [{}, bearer('nonsense')]) expect((await party.userinfo(none)).status).toBe(401);
  });

  it('oidcc-ensure-request-without-nonce-succeeds-for-code-flow', async () => {
    expect((await party.flow(answers, { nonce: '' })).claims['nonce']).toBeUndefined();
  });

  it.each<[string, string, string[], string[]]>([
    ['oidcc-scope-profile', 'openid profile', ['name', 'updated_at'], ['email']],
    ['oidcc-scope-email', 'openid email', ['email', 'email_verified'], ['name']],
    ['oidcc-scope-address', 'openid address', [], ['address']],
    ['oidcc-scope-phone', 'openid phone', [], ['phone_number']],
    ['oidcc-scope-all', 'openid profile email address phone', ['name', 'email'], ['address', 'phone_number']],
    ['oidcc-ensure-other-scope-order-succeeds', 'email openid', ['email'], ['name']],
  ])('%s', async (_, scope, told, untold) => {
    const { tokens } = await party.flow(answers, { scope });
    const { body } = await party.userinfo(bearer(tokens['access_token']));
    for (const claim of told) expect(body).toHaveProperty(claim);
    for (const claim of untold) expect(body).not.toHaveProperty(claim);
  });

  it.each<[string, Record<string, string>]>([
    ['oidcc-display-page', { display: 'page' }],
    ['oidcc-display-popup', { display: 'popup' }],
    ['oidcc-ensure-request-with-unknown-parameter-succeeds', { extra: 'foobar' }],
    ['oidcc-ui-locales', { ui_locales: 'se' }],
    ['oidcc-claims-locales', { claims_locales: 'se' }],
    ['oidcc-ensure-request-with-acr-values-succeeds', { acr_values: '1 2' }],
    ['oidcc-login-hint', { login_hint: 'somebody@example.com' }],
  ])('%s', async (name, further) => {
    const { claims, params } = await party.flow(answers, further);
    expect(claims.sub).toBe(userId);
    if (name === 'oidcc-login-hint' || name === 'oidcc-ui-locales') expect(params).toMatchObject(further);
  });

  it('oidcc-prompt-login', async () => {
    const first = await party.flow(earlier(100));
    const second = await party.flow(answers, { prompt: 'login' }, first.browser);
    expect(second.prompts).toContain('login');
    expect(second.claims['auth_time']).toBeGreaterThan(Number(first.claims['auth_time']));
  });

  it('oidcc-prompt-none-not-logged-in', async () => {
    const { back } = await party.authorize(answers, { prompt: 'none' });
    expect(back.searchParams.get('error')).toBe('login_required');
  });

  it('oidcc-prompt-none-logged-in', async () => {
    const first = await party.flow(answers);
    const second = await party.flow(answers, { prompt: 'none' }, first.browser);
    expect([second.prompts, second.claims.sub]).toEqual([[], userId]);
    expect(second.claims['auth_time']).toBe(first.claims['auth_time']);
  });

  it('oidcc-max-age-1', async () => {
    const first = await party.flow(earlier(100));
    const second = await party.flow(answers, { max_age: '1' }, first.browser);
    expect(second.prompts).toContain('login');
    expect(second.claims['auth_time']).toBeGreaterThan(Number(first.claims['auth_time']));
  });

  it('oidcc-max-age-10000', async () => {
    const first = await party.flow(earlier(100), { max_age: '10000' });
    const second = await party.flow(answers, { max_age: '10000' }, first.browser);
    expect(second.prompts).toEqual([]);
    expect(second.claims['auth_time']).toBe(first.claims['auth_time']);
  });

  it('oidcc-id-token-hint', async () => {
    const first = await party.flow(answers);
    const hint = { id_token_hint: first.tokens['id_token'] ?? '', prompt: 'none' };
    expect((await party.flow(answers, hint, first.browser)).claims.sub).toBe(userId);
    // Of somebody else than who is signed in.
    const other = await RelyingParty.register(bench, organization);
    const { userId: stranger } = await bench.signedIn(organization);
    const theirs = await other.flow(signsIn(stranger));
    const { back } = await other.authorize(answers, hintOf(theirs.tokens), first.browser);
    expect(back.searchParams.get('error')).toBe('login_required');
  });

  it.each([
    ['oidcc-codereuse', 0],
    ['oidcc-codereuse-30seconds', 30],
  ])('%s', async (_, seconds) => {
    const { code, tokens } = await party.flow(answers);
    await bench.database.query(
      `UPDATE oauth_tokens SET consumed_at = consumed_at - make_interval(secs => $1) WHERE consumed_at IS NOT NULL`,
      [seconds],
    );
    const again = await party.redeem(code);
    expect([again.status, again.body['error']]).toEqual([400, 'invalid_grant']);
    expect((await party.userinfo(bearer(tokens['access_token']))).status).toBe(401);
  });

  it('oidcc-ensure-registered-redirect-uri', async () => {
    const browser = new Browser(bench);
    const { status, headers } = await browser.get(authorizePath({ redirect_uri: `${CALLBACK}/x` }));
    expect([status, headers.get('location'), headers.get('content-type')]).toEqual([
      400,
      null,
      expect.stringContaining('text/html'),
    ]);
  });

  it('oidcc-ensure-post-request-succeeds', async () => {
    const browser = new Browser(bench);
    const { status, headers } = await browser.submit('/oauth/authorize', party.request());
    expect(status).toBe(303);
    const { searchParams } = new URL(headers.get('location') ?? '', ISSUER);
    const back = await browser.authorize(Object.fromEntries(searchParams), answers);
    expect((await party.redeem(back.searchParams.get('code') ?? '')).status).toBe(200);
  });

  it('oidcc-server-client-secret-post', async () => {
    const { back } = await party.authorize(answers);
    const form = { grant_type: 'authorization_code', redirect_uri: CALLBACK };
    const code = back.searchParams.get('code') ?? '';
    expect((await party.client.post('/oauth/token', { ...form, code })).status).toBe(200);
  });

  it.each<[string, Record<string, string>, string]>([
    [
      'oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported',
      { request_uri: 'https://app.example/request.jwt' },
      'request_uri_not_supported',
    ],
    [
      'oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported',
      { request: 'eyJhbGciOiJub25lIn0.e30.' },
      'request_not_supported',
    ],
    [
      'oidcc-ensure-request-object-with-redirect-uri',
      { request: 'eyJhbGciOiJub25lIn0.eyJyZWRpcmVjdF91cmkiOiJodHRwczovL2V2aWwuZXhhbXBsZS8ifQ.' },
      'request_not_supported',
    ],
  ])('%s', async (_, further, error) => {
    const { back } = await party.authorize(answers, further);
    expect([back.origin + back.pathname, back.searchParams.get('error')]).toEqual([CALLBACK, error]);
  });

  it('oidcc-claims-essential', async () => {
    const claims = JSON.stringify({ userinfo: { name: { essential: true } } });
    const { tokens } = await party.flow(answers, { claims });
    expect((await party.metadata())['claims_parameter_supported']).toBe(false);
    expect((await party.userinfo(bearer(tokens['access_token']))).status).toBe(200);
  });

  it('oidcc-refresh-token', async () => {
    const { tokens, claims } = await party.flow(answers, {
      scope: 'openid offline_access',
      prompt: 'consent',
    });
    const stranger = await RelyingParty.register(bench, organization);
    const token = tokens['refresh_token'] ?? '';
    expect((await stranger.client.refresh(token)).body.error).toBe('invalid_grant');
    const { status, body } = await party.client.refresh(token);
    expect([status, body.token_type.toLowerCase()]).toEqual([200, 'bearer']);
    expect(body.access_token).not.toBe(tokens['access_token']);
    const refreshed = JSON.parse(Buffer.from(body.id_token.split('.')[1] ?? '', 'base64url').toString());
    expect(refreshed).toMatchObject({ iss: claims.iss, sub: claims.sub, auth_time: claims['auth_time'] });
  });

  it('oidcc-ensure-request-with-valid-pkce-succeeds', async () => {
    const { verifier, challenge } = aChallenge();
    const further = { code_challenge: challenge, code_challenge_method: 'S256' };
    const { back } = await party.authorize(answers, further);
    const code = back.searchParams.get('code') ?? '';
    expect((await party.client.redeem(code, verifier)).status).toBe(200);
  });
});

describe('oidcc-config-certification-test-plan', () => {
  it('oidcc-discovery-endpoint-verification', async () => {
    const metadata = await party.metadata();
    expect(metadata).toMatchObject({
      issuer: ISSUER,
      authorization_endpoint: `${ISSUER}/oauth/authorize`,
      token_endpoint: `${ISSUER}/oauth/token`,
      userinfo_endpoint: `${ISSUER}/oauth/userinfo`,
      jwks_uri: `${ISSUER}/.well-known/jwks.json`,
      scopes_supported: expect.arrayContaining(['openid', 'offline_access', 'profile', 'email']) as string[],
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      claims_supported: expect.arrayContaining(['sub', 'iss', 'name', 'email']) as string[],
      claims_parameter_supported: false,
      request_uri_parameter_supported: false,
    });
    // What is not said of request objects is that there are none (Discovery §3).
    for (const absent of ['registration_endpoint', 'request_parameter_supported'])
      expect(metadata).not.toHaveProperty(absent);
    const jwks = await fetch(`${bench.app.url}/.well-known/jwks.json`);
    const { keys } = (await jwks.json()) as { keys: Record<string, unknown>[] };
    const kids = keys.map(({ kid }) => kid);
    expect(new Set(kids).size).toBe(kids.length);
    for (const key of keys) {
      expect(key).toMatchObject({ kid: expect.any(String) as string, use: 'sig' });
      for (const secret of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']) expect(key).not.toHaveProperty(secret);
    }
    expect(keys.filter(({ alg }) => alg === 'RS256').length).toBeGreaterThan(0);
  });
});

function hintOf(tokens: Record<string, string>): Record<string, string> {
  return { id_token_hint: tokens['id_token'] ?? '', prompt: 'none' };
}
