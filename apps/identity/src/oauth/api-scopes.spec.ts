import { Caller, eventually, expectProblem, expectStatus } from '@customer-platform/testing';
import { decodeJwt } from 'jose';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { PageVisitor } from '../sign-in/page-visitor.fixture.js';
import { aChallenge, Browser, ISSUER, signsIn, TestClient, type Answers } from './browser.fixture.js';
import { API_SCOPES, apiScopesIn, mistypedIn, withinScopes } from '../vocabulary/api-scopes.js';

const ROLES = '/v1/identity/roles';
const aRole = { name: 'Anything', kind: 'human' };

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

const callerWith = (token: string) => new Caller(bench.app.url, token, () => true);
const asking = (scope: string, browser?: Browser) =>
  client.tokens(signsIn(userId), {
    further: { scope: `openid organization offline_access ${scope}`.trim(), prompt: 'consent' },
    ...(browser ? { browser } : {}),
  });
const reads = async (token: string): Promise<number> => (await callerWith(token).get(ROLES)).status;
const writes = async (token: string): Promise<number> => (await callerWith(token).post(ROLES, aRole)).status;
const permissionsOf = async (token: string): Promise<string[]> => {
  const answer = await callerWith(token).get<{ permissions: string[] }>('/oauth/userinfo');
  expectStatus(answer, 200);
  return answer.body.permissions;
};

describe('scopes of the API', () => {
  it.each([
    ['', 200, 201],
    ['read', 200, 403],
    ['write', 403, 201],
    ['read write', 200, 201],
    ['identity.read', 200, 403],
    ['identity.write', 403, 201],
    ['core.read crm.write', 403, 403],
    ['identity.read core.write', 200, 403],
  ])('"%s" reads %s and writes %s', async (scope, reading, writing) => {
    const { access_token: token } = await asking(scope);
    await eventually(async () => expect(await reads(token)).toBe(reading));
    expect(await writes(token)).toBe(writing);
  });

  it('hold for what is refreshed, and tell at userinfo what is left of the user’s rights', async () => {
    const tokens = await asking('core.read');
    const { status, body } = await client.refresh(tokens.refresh_token);
    expect(status).toBe(200);
    for (const token of [tokens.access_token, body.access_token]) {
      await eventually(async () => expect(await reads(token)).toBe(403));
      const permissions = await permissionsOf(token);
      expect(permissions).toContain('core.contacts.read');
      expect(permissions.filter((each) => !/^core\..*\.read/.test(each))).toEqual([]);
    }
    expect(String(decodeJwt(body.access_token)['scope'])).toContain('core.read');
  });

  it('are told as they hold, also where fewer are asked for at the token endpoint', async () => {
    const tokens = await asking('core.read crm.read');
    const form = {
      grant_type: 'refresh_token',
      refresh_token: tokens.refresh_token,
      scope: 'openid core.read',
    };
    const { status, body } = await client.post('/oauth/token', form);
    const told = 'openid core.read crm.read';
    expect([status, body.scope, decodeJwt(body.access_token)['scope']]).toEqual([200, told, told]);
    expect(tokens.scope).toBe('openid organization offline_access core.read crm.read');
  });

  it('limit no token of a client’s own, and are not told of one', async () => {
    const role_id = await bench.role(organization.id, ['core.contacts.read']);
    const grant_types = ['client_credentials'];
    const machine = await TestClient.register(bench, organization, { grant_types, role_id });
    const { status, body } = await machine.post('/oauth/token', {
      grant_type: 'client_credentials',
      scope: 'crm.read',
    });
    expect([status, body.scope, decodeJwt(body.access_token)['scope']]).toEqual([200, undefined, undefined]);
  });

  it('of one request say nothing of another in the same browser: each has a session of its own', async () => {
    const browser = new Browser(bench);
    const narrow = await asking('read', browser);
    const wide = await asking('', browser);
    const again = await asking('read', browser);
    const sid = (token: string) => decodeJwt(token)['sid'];
    expect(sid(narrow.access_token)).not.toBe(sid(wide.access_token));
    await eventually(async () => expect(await writes(wide.access_token)).toBe(201));
    expect(await writes(narrow.access_token)).toBe(403);
    expect(await writes(again.access_token)).toBe(403);
  });

  it('give no key that may do more than they let', async () => {
    const { access_token: token } = await asking('identity.read identity.write');
    const role = await bench.role(organization.id, ['core.contacts.read']);
    const made = () => callerWith(token).post('/v1/identity/api-keys', { name: 'Key', role_id: role });
    await eventually(async () => expectProblem(await made(), 403, 'privilege_escalation'));
  });

  it('let nobody be invited to more than they let', async () => {
    const { access_token: token } = await asking('identity.read identity.write');
    const [owner] = await bench.within(organization.id, (tx) =>
      tx.query<{ id: string }>(
        `SELECT id FROM roles WHERE organization_id = $1 AND key = 'owner' AND kind = 'human'`,
        [organization.id],
      ),
    );
    const body = { email: `${userId}@stranger.example`, role_ids: [owner?.id] };
    const invited = () => callerWith(token).post('/v1/identity/invitations', body);
    await eventually(async () => expectProblem(await invited(), 403, 'privilege_escalation'));
  });

  it('leave the account alone where they are of another module', async () => {
    const { access_token: token } = await asking('core.read core.write');
    const caller = callerWith(token);
    await eventually(async () => expect(await reads(token)).toBe(403));
    const me = '/v1/identity/users/me';
    const password = { current_password: 'whatever it is', password: 'tres tristes tigres tragaban trigo' };
    for (const answer of [
      await caller.get(me),
      await caller.patch(me, { name: 'Somebody else' }),
      await caller.post(`${me}/password`, password),
      await caller.get('/v1/identity/mfa'),
    ])
      expectProblem(answer, 403, 'permission_denied');
  });

  it('that are mistyped are refused: passed over, they would limit nothing', async () => {
    for (const scope of ['core.contacts.read', 'read:contacts', 'openid read core', 'Read']) {
      const { back } = await client.code(signsIn(userId), { further: { scope } });
      expect([scope, back.searchParams.get('error')]).toEqual([scope, 'invalid_scope']);
    }
    const { back } = await client.code(signsIn(userId), { further: { scope: 'openid something_else' } });
    expect(back.searchParams.get('error')).toBeNull();
  });

  it('are named by the discovery document', async () => {
    const response = await fetch(`${bench.app.url}/.well-known/openid-configuration`);
    const { scopes_supported: supported } = (await response.json()) as { scopes_supported: string[] };
    expect(supported).toEqual(expect.arrayContaining([...API_SCOPES]));
    expect(API_SCOPES).toEqual(expect.arrayContaining(['read', 'write', 'core.read', 'messaging.write']));
  });

  it('bind what is agreed to, also where a release before has begun the session without them', async () => {
    const other = await TestClient.register(bench, organization, { organizations: 'tree' });
    const browser = new Browser(bench);
    const { challenge, verifier } = aChallenge();
    const asks = { scope: 'openid identity.read', organization: organization.id };
    const at = await interactionOf(browser, other.request(challenge, asks));
    const began = 'UPDATE sessions SET api_scopes = NULL WHERE client_id = $1 RETURNING id';
    expect(await bench.database.query(began, [other.id])).toHaveLength(1);
    const visitor = new PageVisitor(browser, ISSUER);
    const again = await visitor.send(await visitor.open(at), 'allow');
    expect(again.form('allow')).toBeDefined();
    const { url } = await visitor.send(again, 'allow');
    const { body } = await other.redeem(url.searchParams.get('code') ?? '', verifier);
    expect(body.scope).toBe('openid identity.read');
    await eventually(async () => expect(await reads(body.access_token)).toBe(200));
    expect(await writes(body.access_token)).toBe(403);
  });

  it('stand on the page that asks for consent, in place of all that the user may do', async () => {
    const other = await TestClient.register(bench, organization, { organizations: 'tree' });
    const browser = new Browser(bench);
    const { challenge } = aChallenge();
    const page = async (scope: string): Promise<string> => {
      const shown = await interactionOf(
        browser,
        other.request(challenge, { scope, organization: organization.id }),
      );
      return (await browser.get(shown)).text();
    };
    expect(await page('openid read core.write')).toMatch(
      /read everything[\s\S]*change contacts, events and segments/,
    );
    expect(await page('openid')).toContain('with everything you may do there');
  });
});

it('the page that asks for consent names an application by its scheme, whatever stands for a host', async () => {
  const redirect_uri = 'com.example.app://www.bank.example/callback';
  const uris = { redirect_uris: [redirect_uri], post_logout_redirect_uris: [] };
  const other = await TestClient.register(bench, organization, {
    type: 'public',
    organizations: 'tree',
    ...uris,
  });
  const browser = new Browser(bench);
  const { challenge } = aChallenge();
  const request = other.request(challenge, { redirect_uri, organization: organization.id });
  const page = await (await browser.get(await interactionOf(browser, request))).text();
  expect(page).toMatch(/You go on to[\s\S]{0,20}com\.example\.app:/);
  expect(page).not.toContain('bank');
});

/** Where an authorization request stops to ask for consent. */
async function interactionOf(browser: Browser, request: Record<string, string>): Promise<string> {
  const asked: string[] = [];
  const stop: Answers = (interaction) => {
    if (interaction.prompt !== 'consent') return signsIn(userId)(interaction);
    asked.push(`/oauth/interactions/${interaction.uid}?ui_locales=en`);
    throw new Error('asked');
  };
  await browser.authorize(request, stop).catch((error: unknown) => {
    if (!(error instanceof Error) || error.message !== 'asked') throw error;
  });
  const [path] = asked;
  if (path === undefined) throw new Error('Nobody was asked');
  return path;
}

it('a scope is of a module or of all; whatever reads is no write', () => {
  const permissions = [
    'core.contacts.read',
    'core.contacts.read_national_id',
    'core.contacts.update',
    'crm.notes.read',
  ];
  expect(withinScopes(permissions, null)).toEqual(permissions);
  expect(withinScopes(permissions, [])).toEqual([]);
  expect(withinScopes(permissions, ['core.read'])).toEqual(permissions.slice(0, 2));
  expect(withinScopes(permissions, ['write'])).toEqual(['core.contacts.update']);
  expect(apiScopesIn(['openid', 'write', 'core.read', 'unknown'])).toEqual(['write', 'core.read']);
  expect(apiScopesIn(['openid'])).toBeNull();
});

it.each([
  ['core.contacts.read', true],
  ['CORE.READ', true],
  ['core:read', true],
  ['messaging', true],
  ['read:contacts', true],
  ['readonly', true],
  ['contacts.write', true],
  ['read', false],
  ['crm.write', false],
  ['openid', false],
  ['offline_access', false],
  ['organization', false],
  ['corechat', false],
  ['spread', false],
])('"%s" is meant for a scope of the API and is none: %s', (scope, isMistyped) => {
  expect(mistypedIn(['openid', scope])).toBe(isMistyped ? scope : undefined);
});
