import { Caller, eventually } from '@customer-platform/testing';
import { createRemoteJWKSet, customFetch, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import {
  aChallenge,
  type Answers,
  Browser,
  CALLBACK,
  ISSUER,
  signsIn,
  TestClient,
} from './browser.fixture.js';

const ANYTHING = '/v1/identity/permissions?limit=1';

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

const atHome = (input: string, init?: RequestInit) => fetch(input.replace(ISSUER, bench.app.url), init);
const callerWith = (token: string) => new Caller(bench.app.url, token, () => true);
const becomes = (token: string, status: number) =>
  eventually(async () => expect((await callerWith(token).get(ANYTHING)).status).toBe(status));
const endingsOf = async (sessionId: unknown) => {
  const rows = await bench.database.query<{ ended_reason: string | null }>(
    'SELECT ended_reason FROM sessions WHERE id = $1',
    [sessionId],
  );
  return rows[0]?.ended_reason;
};

describe('an authorization by code', () => {
  it('gives an access token that every module takes, and that names no role', async () => {
    const tokens = await client.tokens(signsIn(userId));
    expect(decodeProtectedHeader(tokens.access_token)).toMatchObject({ alg: 'ES256', typ: 'at+jwt' });
    const { iat = 0, exp = 0, jti, ...claims } = decodeJwt(tokens.access_token);
    expect([exp - iat, tokens.expires_in, tokens.token_type]).toEqual([300, 300, 'Bearer']);
    expect(jti).toBeDefined();
    expect(claims).toEqual({
      iss: ISSUER,
      aud: 'management-api',
      sub: userId,
      client_id: client.id,
      org_id: organization.id,
      sid: expect.any(String) as string,
      auth_time: expect.any(Number) as number,
      amr: ['pwd'],
      scope: 'openid email offline_access',
    });
    expect(Buffer.byteLength(tokens.access_token)).toBeLessThan(1_000);
    await becomes(tokens.access_token, 200);
    const [session] = await bench.database.query<{ client_id: string }>(
      'SELECT client_id FROM sessions WHERE id = $1',
      [claims['sid']],
    );
    expect(session?.client_id).toBe(client.id);
  });

  it('gives an RS256 ID token of an hour, which the published keys verify', async () => {
    const tokens = await client.tokens(signsIn(userId), { further: { nonce: 'a-nonce' } });
    const jwks = createRemoteJWKSet(new URL(`${ISSUER}/.well-known/jwks.json`), { [customFetch]: atHome });
    const { payload, protectedHeader } = await jwtVerify(tokens.id_token, jwks, {
      issuer: ISSUER,
      audience: client.id,
    });
    expect(protectedHeader.alg).toBe('RS256');
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(3_600);
    expect(payload).toMatchObject({
      sub: userId,
      nonce: 'a-nonce',
      email: `${userId}@example.com`,
      sid: decodeJwt(tokens.access_token)['sid'],
      org_id: organization.id,
      amr: ['pwd'],
    });
    expect(payload).not.toHaveProperty('name');
    await jwtVerify(tokens.access_token, jwks, { issuer: ISSUER, audience: 'management-api' });
  });

  it('answers with the issuer and the state, and errors alike', async () => {
    const { back } = await client.code(signsIn(userId));
    expect([
      back.origin + back.pathname,
      back.searchParams.get('iss'),
      back.searchParams.get('state'),
    ]).toEqual([CALLBACK, ISSUER, 'a-state']);
    const { back: refused } = await client.code(() => ({ error: 'access_denied', description: 'No' }));
    expect(Object.fromEntries(refused.searchParams)).toEqual({
      error: 'access_denied',
      error_description: 'No',
      state: 'a-state',
      iss: ISSUER,
    });
  });

  it('is where the platform is, whatever the headers say', async () => {
    const response = await fetch(`${bench.app.url}/.well-known/openid-configuration`, {
      headers: {
        'x-forwarded-host': 'evil.example',
        'x-forwarded-proto': 'https',
        forwarded: 'host=evil.example',
      },
    });
    const metadata = (await response.json()) as Record<string, unknown>;
    expect(JSON.stringify(metadata)).not.toContain('evil.example');
    expect(metadata).toMatchObject({
      issuer: ISSUER,
      authorization_endpoint: `${ISSUER}/oauth/authorize`,
      token_endpoint: `${ISSUER}/oauth/token`,
      jwks_uri: `${ISSUER}/.well-known/jwks.json`,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      code_challenge_methods_supported: ['S256'],
      id_token_signing_alg_values_supported: ['RS256'],
      authorization_response_iss_parameter_supported: true,
    });
  });

  it('goes on without a question while the browser has a session, and asks when it was ended from outside', async () => {
    const first = await client.tokens(signsIn(userId));
    const quiet = { browser: first.browser, further: { prompt: 'none' } };
    const { back } = await client.code(signsIn(userId), quiet);
    expect(back.searchParams.get('code')).not.toBeNull();
    const sid = String(decodeJwt(first.access_token)['sid']);
    expect((await organization.admin.delete(`/v1/identity/sessions/${sid}`)).status).toBe(204);
    const { back: asked } = await client.code(signsIn(userId), quiet);
    expect(asked.searchParams.get('error')).toBe('login_required');
  });

  it.each<[string, Record<string, string>]>([
    ['no challenge', { code_challenge: '', code_challenge_method: '' }],
    ['a plain challenge', { code_challenge_method: 'plain' }],
    ['a challenge without a method', { code_challenge_method: '' }],
    ['an implicit response', { response_type: 'token' }],
    ['a hybrid response', { response_type: 'code id_token' }],
    ['a request object', { request: 'eyJhbGciOiJub25lIn0.e30.' }],
    ['a response in the fragment', { response_mode: 'fragment' }],
    ['a response by a form', { response_mode: 'form_post' }],
  ])('refuses %s', async (_, wrong) => {
    const parameters = { ...client.request(aChallenge().challenge), ...wrong };
    const given = Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== ''));
    const response = await new Browser(bench).get(
      `/oauth/authorize?${new URLSearchParams(given).toString()}`,
    );
    const location = response.headers.get('location');
    const said = location === null ? await response.text() : location;
    expect(said).toMatch(
      /invalid_request|unsupported_response_type|request_not_supported|unsupported_response_mode/,
    );
    expect(said).not.toContain('/oauth/interactions/');
  });
});

describe('an authentication', () => {
  /** Signs in with what was shown at a moment; whoever is asked again gives up. */
  const signsInOnce = (authenticatedAt: Date): Answers => {
    let isAgain = false;
    return () => {
      if (isAgain) return { error: 'access_denied', description: 'asked again' };
      isAgain = true;
      return { signedIn: { userId, amr: ['pwd'], authenticatedAt } };
    };
  };
  const changePasswordAt = (moment: Date) =>
    bench.database.query('UPDATE users SET password_changed_at = $2 WHERE id = $1', [userId, moment]);

  it('of before a new password is asked for again, of after it counts, within one second too', async () => {
    const moment = Math.floor(Date.now() / 1_000) * 1_000 + 500;
    await changePasswordAt(new Date(moment));
    const before = await client.code(signsInOnce(new Date(moment - 1)));
    expect(before.back.searchParams.get('error_description')).toBe('asked again');
    const { browser, code } = await client.code(signsInOnce(new Date(moment)));
    expect(code).not.toBe('');
    // The browser's next session begins by the same sign-in, of which the protocol keeps the second alone.
    const other = await TestClient.register(bench, organization);
    const next = await other.code(signsInOnce(new Date()), { browser, further: { prompt: 'none' } });
    expect(next.back.searchParams.get('error')).toBeNull();
    expect(next.code).not.toBe('');
  });

  it('is asked for again where a session would be over as it begins', async () => {
    const authenticatedAt = new Date(Date.now() - 2 * 3_600_000);
    const { browser } = await client.code(signsInOnce(authenticatedAt));
    const strict = await bench.organization();
    const patch = { settings: { session: { absolute_hours: 1 } } };
    const path = `/v1/identity/organizations/${strict.id}`;
    expect((await strict.admin.patch(path, patch)).status).toBe(200);
    await bench.join(strict.id, userId);
    const other = await TestClient.register(bench, strict);
    const { back } = await other.code(signsInOnce(authenticatedAt), { browser, further: { prompt: 'none' } });
    expect(back.searchParams.get('error')).toBe('login_required');
    expect((await other.code(signsInOnce(new Date()), { browser })).code).not.toBe('');
  });

  it('of whoever is suspended meanwhile is asked for again', async () => {
    const answers: Answers = signsInOnce(new Date());
    await bench.database.query(`UPDATE users SET status = 'suspended' WHERE id = $1`, [userId]);
    const { back } = await client.code(answers);
    expect(back.searchParams.get('error')).toBe('access_denied');
  });

  it('that comes to nothing at the very moment a session begins begins none', async () => {
    const [held, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const suspending = bench.within(organization.id, async (tx) => {
      await tx.query(`UPDATE users SET status = 'suspended' WHERE id = $1`, [userId]);
      held.resolve();
      await done.promise;
    });
    await held.promise;
    const asked = client.code(signsInOnce(new Date()));
    await eventually(async () => {
      const waiting = await bench.database.query(
        `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      expect(waiting).not.toHaveLength(0);
    });
    done.resolve();
    await suspending;
    expect((await asked).back.searchParams.get('error')).toBe('login_required');
    const begun = await bench.database.query('SELECT FROM sessions WHERE user_id = $1 AND client_id = $2', [
      userId,
      client.id,
    ]);
    expect(begun).toEqual([]);
  });
});

describe('a code', () => {
  it('is worth tokens once; a copy ends the session', async () => {
    const { code, verifier } = await client.code(signsIn(userId));
    const { status, body } = await client.redeem(code, verifier);
    expect(status).toBe(200);
    await becomes(body.access_token, 200);
    expect(await client.redeem(code, verifier)).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });
    await becomes(body.access_token, 401);
    expect(await endingsOf(decodeJwt(body.access_token)['sid'])).toBe('token_reuse');
    expect((await client.refresh(body.refresh_token)).body.error).toBe('invalid_grant');
  });

  it('used fifty times at once is worth tokens once, and they are dead', async () => {
    const { code, verifier } = await client.code(signsIn(userId));
    const answers = await Promise.all(Array.from({ length: 50 }, () => client.redeem(code, verifier)));
    const good = answers.filter(({ status }) => status === 200);
    expect(good).toHaveLength(1);
    expect(answers.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(49);
    await becomes(good[0]?.body.access_token ?? '', 401);
  });

  it('is worth nothing with another verifier, redirect URI, secret or client', async () => {
    const other = await TestClient.register(bench, organization);
    const attempts: ((code: string, verifier: string) => ReturnType<TestClient['redeem']>)[] = [
      (code) => client.redeem(code, aChallenge().verifier),
      (code) => client.redeem(code, ''),
      (code, verifier) => client.redeem(code, verifier, { redirect_uri: `${CALLBACK}/` }),
      (code, verifier) => client.redeem(code, verifier, { client_secret: 'cps_wrong' }),
      (code, verifier) => client.redeem(code, verifier, { client_secret: '' }),
      (code, verifier) => other.redeem(code, verifier),
    ];
    for (const attempt of attempts) {
      const { code, verifier } = await client.code(signsIn(userId));
      const { status, body } = await attempt(code, verifier);
      expect([400, 401]).toContain(status);
      expect(['invalid_grant', 'invalid_client', 'invalid_request']).toContain(body.error);
      // It was not used up by whoever could not use it.
      expect((await client.redeem(code, verifier)).status).toBe(200);
    }
  });
});

describe('redirect URIs', () => {
  const VARIATIONS = [
    'https://app.example/callback/',
    'https://app.example/callback?x=1',
    'https://app.example/callback#x',
    'https://app.example/Callback',
    'https://app.example/callback/../callback',
    'https://app.example/./callback',
    'https://app.example//callback',
    'https://app.example:443/callback',
    'https://app.example:8443/callback',
    'https://APP.example/callback',
    'https://app.example./callback',
    'https://app.example/%63allback',
    'https://app.example\\callback',
    'https://app.example/callback%00',
    'https://app.example/callback ',
    ' https://app.example/callback',
    'https://user@app.example/callback',
    'https://app.example@evil.example/callback',
    'https://evil.example/callback',
    'https://sub.app.example/callback',
    'https://app.example.evil.example/callback',
    'https://evil.example/?https://app.example/callback',
    'https://evil.example/#https://app.example/callback',
    'http://app.example/callback',
    '//app.example/callback',
    '/callback',
    'javascript:alert(1)',
    'data:text/html,x',
    'https:app.example/callback',
    'https:///app.example/callback',
    'https://app.example/callback\thttps://evil.example',
    'https://app.example/callback;x',
    'https://app.example/callback;/../evil',
    'https://app.example/callback/..%2f..%2fevil',
    'https://app.example/callback%2F',
    'https://app.example/callback%3Fx=1',
    'https://app.example/callback%23x',
    'https://app.example/callback%0d%0aLocation:%20https://evil.example',
    'https://app.example/callback\r\nLocation: https://evil.example',
    'https://app.example/callback?',
    'https://app.example/callback#',
    'https://app.example/callback&redirect_uri=https://evil.example',
    'https://app.example/callback.evil.example',
    'https://app.example/callback@evil.example',
    'https://app.example:@evil.example/callback',
    'https://app.example%2eevil.example/callback',
    'https://app.example%00.evil.example/callback',
    'https://evil.example\\@app.example/callback',
    'https://evil.example%ff@app.example/callback',
    'https://evil.example/https://app.example/callback',
    'https://evil.example#@app.example/callback',
    'https://evil.example?@app.example/callback',
    'https://xn--app-7ka.example/callback',
    'https://аpp.example/callback',
    'https://app。example/callback',
    'https://[::ffff:127.0.0.1]/callback',
    'HTTPS://app.example/callback',
    'https ://app.example/callback',
    'https:/app.example/callback',
    'https:\\\\app.example/callback',
    '\\\\app.example\\callback',
    'http://127.0.0.1/callback',
    'http://localhost:8080/callback',
    'app.example:/callback',
    'urn:ietf:wg:oauth:2.0:oob',
    'https://*.example/callback',
    'https://app.example/*',
    'https://app.example',
    'https://app.example/',
    'null',
    '',
  ];

  it('are tried in sixty ways and more', () => {
    expect(new Set(VARIATIONS).size).toBeGreaterThanOrEqual(60);
    expect(VARIATIONS).not.toContain(CALLBACK);
  });

  it.each(VARIATIONS)('%j is not the one that is registered: nobody is sent there', async (uri) => {
    const parameters = client.request(aChallenge().challenge, { redirect_uri: uri });
    const response = await new Browser(bench).get(
      `/oauth/authorize?${new URLSearchParams(parameters).toString()}`,
    );
    expect([response.status, response.headers.get('location')]).toEqual([400, null]);
  });

  it('two of them are none', async () => {
    const query = new URLSearchParams(client.request(aChallenge().challenge));
    query.append('redirect_uri', 'https://evil.example/');
    const response = await new Browser(bench).get(`/oauth/authorize?${query.toString()}`);
    expect([response.status, response.headers.get('location')]).toEqual([400, null]);
  });
});
