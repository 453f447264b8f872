import { SigningKeys } from '@customer-platform/database';
import { Caller, eventually } from '@customer-platform/testing';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { aChallenge, Browser, signsIn, TestClient } from './browser.fixture.js';
import { ID_TOKEN_ALGORITHM, ID_TOKENS } from './id-tokens.js';

const ROLES = '/v1/identity/roles';

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

const becomes = (token: string, path: string, status: number, code?: string) =>
  eventually(async () => {
    const { status: answered, body } = await new Caller(bench.app.url, token, () => true).get<{
      code?: string;
    }>(path);
    expect([answered, body.code]).toEqual([status, code]);
  });

describe('a client by its own credentials', () => {
  let machine: TestClient;
  beforeEach(async () => {
    const role_id = await bench.role(organization.id, ['identity.roles.read']);
    const body = {
      grant_types: ['client_credentials'],
      redirect_uris: [],
      post_logout_redirect_uris: [],
      role_id,
    };
    machine = await TestClient.register(bench, organization, body);
  });
  const token = async () => {
    const { status, body } = await machine.post('/oauth/token', { grant_type: 'client_credentials' });
    expect([status, body]).toEqual([200, expect.anything()]);
    expect([body.refresh_token, body.id_token, body.expires_in]).toEqual([undefined, undefined, 300]);
    return body.access_token;
  };

  it('is the principal, with the permissions of its role', async () => {
    const text = await token();
    expect(decodeJwt(text)).toMatchObject({
      sub: machine.id,
      client_id: machine.id,
      org_id: organization.id,
    });
    await becomes(text, ROLES, 200);
    await becomes(text, '/v1/identity/users', 403, 'permission_denied');
    await becomes(text, '/v1/identity/mfa', 403, 'user_required');
  });

  it.each<[string, () => Promise<unknown>]>([
    ['is deleted', () => organization.admin.delete(`/v1/identity/oauth-clients/${machine.id}`)],
    [
      'has a new secret',
      () => organization.admin.patch(`/v1/identity/oauth-clients/${machine.id}`, { rotate_secret: true }),
    ],
  ])('is refused once it %s', async (_, end) => {
    const text = await token();
    await becomes(text, ROLES, 200);
    await end();
    await becomes(text, ROLES, 401, 'invalid_token');
    const again = await machine.post('/oauth/token', { grant_type: 'client_credentials' });
    expect([again.status, again.body.error]).toEqual([401, 'invalid_client']);
  });

  it('is named in the audit', async () => {
    const role_id = await bench.role(organization.id, ['identity.roles.create']);
    await organization.admin.patch(`/v1/identity/oauth-clients/${machine.id}`, { role_id });
    const caller = new Caller(bench.app.url, await token(), () => true);
    const { body } = await caller.post<{ id: string }>(ROLES, { name: 'Made', kind: 'human' });
    const rows = await bench.database.query(
      'SELECT actor_type, actor_id FROM audit_entries WHERE organization_id = $1 AND resource_id = $2',
      [organization.id, body.id],
    );
    expect(rows).toMatchObject([{ actor_type: 'oauth_client', actor_id: machine.id }]);
  });

  it('is not for a client without the grant, nor a wrong secret', async () => {
    const unfit = await client.post('/oauth/token', { grant_type: 'client_credentials' });
    expect([unfit.status, unfit.body.error]).toEqual([400, 'unauthorized_client']);
    const other = await machine.post('/oauth/token', { grant_type: 'refresh_token', refresh_token: 'x' });
    expect([other.status, other.body.error]).toEqual([400, 'unauthorized_client']);
    const none = await machine.post('/oauth/token', {});
    expect([none.status, none.body.error]).toEqual([400, 'invalid_request']);
    const wrong = await machine.post('/oauth/token', { grant_type: 'client_credentials' }, 'cps_wrong');
    expect([wrong.status, wrong.body.error]).toEqual([401, 'invalid_client']);
    const [kept] = await bench.database.query<{ secret_hash: string }>(
      'SELECT secret_hash FROM oauth_clients WHERE id = $1',
      [machine.id],
    );
    const byHash = await machine.post(
      '/oauth/token',
      { grant_type: 'client_credentials' },
      kept?.secret_hash,
    );
    expect(byHash.status).toBe(401);
  });
});

describe('introspection and revocation', () => {
  it('tell of both kinds of token to the client alone, and end the session of what is revoked', async () => {
    const { access_token: access, refresh_token: refresh } = await client.tokens(signsIn(userId));
    const stranger = await TestClient.register(bench, await bench.organization());
    for (const token of [access, refresh]) {
      const { body } = await client.post('/oauth/introspect', { token });
      expect(body).toMatchObject({ active: true, sub: userId, client_id: client.id });
      expect((await stranger.post('/oauth/introspect', { token })).body).toEqual({ active: false });
      await stranger.post('/oauth/revoke', { token });
      expect((await client.post('/oauth/introspect', { token })).body.active).toBe(true);
    }
    expect((await client.post('/oauth/revoke', { token: refresh })).status).toBe(200);
    for (const token of [access, refresh])
      expect((await client.post('/oauth/introspect', { token })).body).toEqual({ active: false });
    await becomes(access, ROLES, 401, 'invalid_token');
    expect(await bench.endings(userId)).toContain('revoked');
  });

  it('take an access token as well, and nothing that was altered', async () => {
    const { access_token: access } = await client.tokens(signsIn(userId));
    const [header = '', payload = '', signature = ''] = access.split('.');
    const none = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url');
    const other = Buffer.from(JSON.stringify({ ...decodeJwt(access), sub: client.id })).toString('base64url');
    for (const token of [`${none}.${payload}.`, `${header}.${other}.${signature}`, 'nonsense', `${header}..`])
      expect((await client.post('/oauth/introspect', { token })).body).toEqual({ active: false });
    expect((await client.post('/oauth/revoke', { token: access })).status).toBe(200);
    await becomes(access, ROLES, 401, 'invalid_token');
  });
});

describe('userinfo', () => {
  it('tells what the scopes say, while the session goes on', async () => {
    const tokens = await client.tokens(signsIn(userId), { further: { scope: 'openid profile email' } });
    const ask = () => new Caller(bench.app.url, tokens.access_token).get('/oauth/userinfo');
    expect((await ask()).body).toMatchObject({
      sub: userId,
      name: 'Somebody',
      email: `${userId}@example.com`,
    });
    const { sid } = decodeJwt(tokens.access_token);
    await organization.admin.delete(`/v1/identity/sessions/${String(sid)}`);
    expect((await ask()).status).toBe(401);
  });
});

describe('the organization', () => {
  const inBoth = async () => {
    const other = await bench.organization();
    await bench.join(other.id, userId);
    const root = await bench.database.query<{ id: string }>(
      'SELECT id FROM organizations WHERE parent_id IS NULL',
    );
    await bench.database.query(
      `UPDATE oauth_clients SET organizations = 'tree', organization_id = $2 WHERE id = $1`,
      [client.id, root[0]?.id],
    );
    return other;
  };
  const organizationOf = ({ access_token: token }: { access_token: string }) => decodeJwt(token)['org_id'];

  it('is the one that the request names, by id or slug, else the one that is chosen', async () => {
    const other = await inBoth();
    const [row] = await bench.database.query<{ slug: string }>(
      'SELECT slug FROM organizations WHERE id = $1',
      [other.id],
    );
    const named = (value: string) => client.tokens(signsIn(userId), { further: { organization: value } });
    expect(organizationOf(await named(other.id))).toBe(other.id);
    expect(organizationOf(await named(row?.slug ?? ''))).toBe(other.id);
    expect(organizationOf(await client.tokens(signsIn(userId, organization.id)))).toBe(organization.id);
  });

  it('is asked for among several, and without asking there is no answer', async () => {
    const other = await inBoth();
    const prompts: string[] = [];
    const { code, verifier, browser } = await client.code((interaction) => {
      prompts.push(interaction.prompt);
      const signedIn = { userId, amr: ['pwd'], authenticatedAt: new Date() };
      return interaction.prompt === 'login' ? { signedIn } : { signedIn, organizationId: other.id };
    });
    expect(prompts).toEqual(['login', 'organization']);
    expect(organizationOf((await client.redeem(code, verifier)).body)).toBe(other.id);
    const second = await TestClient.register(bench, organization, { organizations: 'tree' });
    await bench.database.query(
      `UPDATE oauth_clients SET organization_id = (SELECT id FROM organizations WHERE parent_id IS NULL) WHERE id = $1`,
      [second.id],
    );
    const { back } = await second.code(signsIn(userId), { browser, further: { prompt: 'none' } });
    expect(back.searchParams.get('error')).toBe('interaction_required');
  });

  it('stays the same for the session; switching is a new request', async () => {
    const other = await inBoth();
    const first = await client.tokens(signsIn(userId, organization.id));
    const switched = await client.tokens(signsIn(userId), {
      browser: first.browser,
      further: { organization: other.id },
    });
    expect(organizationOf(switched)).toBe(other.id);
    expect(organizationOf((await client.refresh(first.refresh_token)).body)).toBe(organization.id);
  });

  it('is none for whoever is no member, and for people of others unless the client serves the tree', async () => {
    const stranger = await bench.person(organization.id);
    const { back } = await client.code(signsIn(stranger));
    expect(back.searchParams.get('error')).toBe('access_denied');
    const other = await bench.organization();
    const { userId: foreigner } = await bench.signedIn(other);
    expect((await client.code(signsIn(foreigner))).back.searchParams.get('error')).toBe('access_denied');
    const chosen = await client.code(signsIn(userId, other.id));
    expect(chosen.back.searchParams.get('error')).toBe('access_denied');
  });
});

describe('consent', () => {
  it('is not asked for a client of one’s own organization, and is for others', async () => {
    const prompts: string[] = [];
    const { browser } = await client.code((interaction) => {
      prompts.push(interaction.prompt);
      return signsIn(userId)(interaction);
    });
    expect(prompts).toEqual(['login']);
    const foreign = await TestClient.register(bench, organization, { organizations: 'tree' });
    const refused = await foreign.code(
      ({ prompt, scopes }) => {
        prompts.push(`${prompt} ${scopes.join(' ')}`);
        return { error: 'access_denied' };
      },
      { browser },
    );
    expect(prompts[1]).toBe('consent openid email offline_access');
    expect(refused.back.searchParams.get('error')).toBe('access_denied');
    const { code, verifier } = await foreign.code(() => ({ consent: ['openid'] }), { browser });
    expect((await foreign.redeem(code, verifier)).body.scope).toBe('openid');
  });
});

describe('signing out', () => {
  it('asks, ends all that has begun in the browser, and goes where the client may send', async () => {
    const tokens = await client.tokens(signsIn(userId));
    const { browser } = tokens;
    const second = await TestClient.register(bench, organization);
    const others = await second.tokens(signsIn(userId), { browser });
    const bye = 'https://app.example/bye';
    const query = new URLSearchParams({
      id_token_hint: tokens.id_token,
      post_logout_redirect_uri: bye,
      state: 's',
    });
    const page = await browser.get(`/oauth/logout?${query.toString()}`);
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(await page.text()) ?? [];
    const forged = await browser.submit('/oauth/logout/confirm', { xsrf: 'forged', logout: 'yes' });
    expect(forged.status).toBe(400);
    const done = await browser.submit('/oauth/logout/confirm', { xsrf, logout: 'yes' });
    expect([done.status, done.headers.get('location')]).toEqual([303, `${bye}?state=s`]);
    await becomes(tokens.access_token, ROLES, 401, 'invalid_token');
    await becomes(others.access_token, ROLES, 401, 'invalid_token');
    expect((await bench.endings(userId)).filter((reason) => reason === 'logout')).toHaveLength(2);
    const { back } = await client.code(signsIn(userId), { browser, further: { prompt: 'none' } });
    expect(back.searchParams.get('error')).toBe('login_required');
  });

  it('takes an ID token whose key was replaced hours ago, as long as the session may go on', async () => {
    const former = await client.tokens(signsIn(userId));
    const { kid: replaced } = decodeProtectedHeader(former.id_token);
    await bench.database.query(
      `UPDATE signing_keys SET usable_from = now() - interval '2 days' WHERE kid = $1`,
      [replaced],
    );
    const keys = bench.app.app.get(SigningKeys, { strict: false });
    const kid = await keys.rotate(ID_TOKENS, -2 * 3_600_000, ID_TOKEN_ALGORITHM);
    await eventually(async () => {
      const { id_token: text } = await client.tokens(signsIn(userId));
      expect(decodeProtectedHeader(text).kid).toBe(kid);
    });
    const search = new URLSearchParams({
      id_token_hint: former.id_token,
      post_logout_redirect_uri: 'https://app.example/bye',
    });
    const page = await former.browser.get(`/oauth/logout?${search.toString()}`);
    expect([page.status, (await page.text()).includes('xsrf')]).toEqual([200, true]);
  });

  it('goes nowhere that is not registered', async () => {
    const { browser, id_token: hint } = await client.tokens(signsIn(userId));
    const query = new URLSearchParams({
      id_token_hint: hint,
      post_logout_redirect_uri: 'https://evil.example/',
    });
    const refused = await browser.get(`/oauth/logout?${query.toString()}`);
    expect([refused.status, refused.headers.get('location')]).toEqual([400, null]);
  });
});

describe('a form', () => {
  it('is answered by a redirect to the same request', async () => {
    const parameters = client.request(aChallenge().challenge);
    const response = await new Browser(bench).submit('/oauth/authorize', parameters);
    expect(response.status).toBe(303);
    const location = new URL(response.headers.get('location') ?? '', 'http://x');
    expect(Object.fromEntries(location.searchParams)).toEqual(parameters);
    expect(location.pathname).toBe('/oauth/authorize');
  });
});
