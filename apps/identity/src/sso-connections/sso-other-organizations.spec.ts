import { newId } from '@customer-platform/database';
import { type Caller, expectProblem, expectStatus } from '@customer-platform/testing';
import { decodeJwt } from 'jose';
import type { TestOrganization } from '../identity-app.fixture.js';
import { TestClient, type Answers } from '../oauth/browser.fixture.js';
import { codeOf } from '../sign-in/page-visitor.fixture.js';
import type { SignedIn } from '../vocabulary/signed-in.js';
import { HostileProvider } from './hostile-provider.fixture.js';
import { aBrowser, SsoBench, type TestConnection } from './sso-bench.fixture.js';

/** Somebody at home in an organization with a connection, and a member of another: its provider says what it wants to. */
describe('a connection of one organization, and another of its people’s', () => {
  let bench: SsoBench;
  let provider: HostileProvider;
  let connection: TestConnection;
  let other: TestOrganization;
  let client: TestClient;
  let userId: string;

  beforeAll(async () => {
    provider = await HostileProvider.start();
    bench = await SsoBench.start();
  });
  afterAll(async () => {
    await bench.end();
    await provider.close();
  });
  beforeEach(async () => {
    provider.behave();
    await begin({});
  });

  /** With a client that serves everybody. */
  const begin = async (fields: object): Promise<void> => {
    connection = await bench.connection(provider.issuer, fields);
    other = await bench.identity.organization();
    const email = `${newId()}@${connection.domain}`;
    userId = await bench.person(connection.organization.id, email);
    await bench.identity.member(connection.organization, userId, 'analyst');
    await bench.identity.join(other.id, userId);
    provider.claims = { sub: userId, email, email_verified: true };
    client = await TestClient.register(bench.identity, connection.organization, { organizations: 'tree' });
    await bench.identity.database.query(
      `UPDATE oauth_clients SET organization_id = (SELECT id FROM organizations WHERE parent_id IS NULL)
        WHERE organization_id = $1`,
      [connection.organization.id],
    );
  };
  const bySso = async (): Promise<SignedIn> => {
    const binding = aBrowser();
    const url = await bench.begin(connection, binding);
    return (await bench.finish(provider.authorize(url), binding)).signedIn;
  };
  const byPassword = (): SignedIn => ({ userId, amr: ['pwd'], authenticatedAt: new Date() });
  const into =
    (signedIn: SignedIn, { id: organizationId }: TestOrganization): Answers =>
    ({ prompt, scopes }) =>
      prompt === 'consent' ? { consent: scopes } : { signedIn, organizationId };
  const errorOf = async (answers: Answers, options: object = {}): Promise<string | null> =>
    (await client.code(answers, options)).back.searchParams.get('error');
  const letIn = (organizations: string[], caller = other.admin) =>
    caller.patch(`/v1/identity/organizations/${other.id}`, {
      settings: { sso_organizations: organizations },
    });
  const confirmFactor = async (caller: Caller): Promise<void> => {
    const body = { type: 'totp', name: 'Phone' };
    const begun = await caller.post<{ factor_id: string; secret: string }>('/v1/identity/mfa/enroll', body);
    expectStatus(begun, 200);
    const { factor_id, secret } = begun.body;
    expectStatus(await caller.post('/v1/identity/mfa/verify', { factor_id, code: codeOf(secret) }), 200);
  };
  const organizationOf = (token: string): unknown => decodeJwt(token)['org_id'];

  it('lets nobody act there by it', async () => {
    const signedIn = await bySso();
    expect(await errorOf(into(signedIn, other))).toBe('access_denied');
    const begun = bench.identity.signIn(other.id, userId, {
      amr: ['fed'],
      connectionId: connection.id,
    });
    await expect(begun).rejects.toMatchObject({ code: 'sign_in_required' });
    // Its own is not asked for: it is the only one.
    const { access_token: token } = await client.tokens(() => ({ signedIn }));
    expect(organizationOf(token)).toBe(connection.organization.id);
  });

  it('does so where the other lets it in, and no longer than that', async () => {
    expectStatus(await letIn([connection.organization.id.toUpperCase()]), 200);
    const tokens = await client.tokens(into(await bySso(), other));
    expect(organizationOf(tokens.access_token)).toBe(other.id);
    const fresh = await client.refresh(tokens.refresh_token);
    expect(fresh.status).toBe(200);
    expectStatus(await letIn([]), 200);
    expect((await client.refresh(fresh.body.refresh_token)).body.error).toBe('invalid_grant');
  });

  it('acts in none that its own organization has founded, save those that let it in', async () => {
    const { organization } = connection;
    const founded = async (settings: object): Promise<TestOrganization> => {
      const body = { name: 'Below', slug: `below-${newId()}`, settings };
      const made = await organization.admin.post<{ id: string }>('/v1/identity/organizations', body);
      expectStatus(made, 201);
      await bench.identity.join(made.body.id, userId);
      return { ...organization, id: made.body.id };
    };
    const closed = await founded({});
    const open = await founded({ sso_organizations: [organization.id] });
    const signedIn = await bySso();
    expect(await errorOf(into(signedIn, closed))).toBe('access_denied');
    const { access_token: token } = await client.tokens(into(signedIn, open));
    expect(organizationOf(token)).toBe(open.id);
  });

  it('asks a browser that it has let in to sign in anew for the other', async () => {
    const { browser } = await client.tokens(into(await bySso(), connection.organization));
    const nobody: Answers = () => ({ error: 'asked' });
    const further = { prompt: 'none', organization: other.id };
    expect(await errorOf(nobody, { browser, further })).toBe('login_required');
    const { access_token: token } = await client.tokens(into(byPassword(), other), {
      browser,
      further: { organization: other.id },
    });
    expect(organizationOf(token)).toBe(other.id);
  });

  it('leaves the person’s password good for the others where it is enforced, and for those alone', async () => {
    await begin({ enforced: true });
    const [row] = await bench.identity.database.query<{ email: string }>(
      'SELECT email FROM users WHERE id = $1',
      [userId],
    );
    expect(await bench.sso.allowsPassword({ userId, email: row?.email ?? '' })).toBe(true);
    expect(await errorOf(into(byPassword(), connection.organization))).toBe('access_denied');
    await expect(bench.identity.signIn(connection.organization.id, userId)).rejects.toMatchObject({
      code: 'sign_in_required',
    });
    const { access_token: token, browser } = await client.tokens(into(byPassword(), other));
    expect(organizationOf(token)).toBe(other.id);
    // Nor by what the browser remembers.
    const further = { prompt: 'none', organization: connection.organization.id };
    expect(await errorOf(() => ({ error: 'asked' }), { browser, further })).toBe('login_required');
  });

  it('takes an owner’s password where it is enforced by a factor of before or of its own, and by no other', async () => {
    await begin({ enforced: true });
    const { organization } = connection;
    const owner = await bench.person(organization.id, `${newId()}@${connection.domain}`);
    await bench.identity.member(organization, owner);
    await bench.identity.join(other.id, owner);
    const [ids] = await bench.identity.database.query<{ membership_id: string; role_id: string }>(
      `SELECT m.id AS membership_id, r.id AS role_id FROM memberships m
         JOIN roles r ON r.organization_id = m.organization_id AND r.key = 'analyst' AND r.kind = 'human'
        WHERE m.organization_id = $1 AND m.user_id = $2`,
      [other.id, owner],
    );
    expectStatus(await other.admin.post('/v1/identity/role-assignments', { ...ids }), 201);
    const byPasswordHere = () => bench.identity.signIn(organization.id, owner);
    const closed = { code: 'sign_in_required' };
    // Whoever has the password alone comes into the other, and sets one up there.
    await confirmFactor((await bench.identity.signIn(other.id, owner)).caller);
    await expect(byPasswordHere()).rejects.toMatchObject(closed);
    // Nor does it become good by what else is changed of the connection.
    await bench.set(connection, { name: 'Renamed' });
    await expect(byPasswordHere()).rejects.toMatchObject(closed);
    // Nor by being switched off and on.
    for (const [off, on] of [
      [{ enforced: false }, { enforced: true }],
      [{ status: 'inactive' }, { status: 'active' }],
    ] as const) {
      await bench.set(connection, off);
      expect((await byPasswordHere()).sessionId).toBeDefined();
      await bench.set(connection, on);
      await expect(byPasswordHere()).rejects.toMatchObject(closed);
    }

    await bench.identity.database.query('DELETE FROM mfa_factors WHERE user_id = $1', [owner]);
    await expect(byPasswordHere()).rejects.toMatchObject(closed);
    // Who is in the other sets none up by the connection.
    expectStatus(await other.admin.delete(`/v1/identity/memberships?user_id=${owner}`), 204);
    const how = { amr: ['fed'], connectionId: connection.id, authTime: new Date() };
    await confirmFactor((await bench.identity.signIn(organization.id, owner, how)).caller);
    expect((await byPasswordHere()).sessionId).toBeDefined();
  });

  it('is let in by who holds all that an owner does, of the organization itself; anybody shuts it out again', async () => {
    const low = await bench.identity.caller(other, ['identity.organizations.update']);
    expectProblem(await letIn([connection.organization.id], low), 403, 'privilege_escalation');
    expectStatus(await letIn([connection.organization.id]), 200);
    expectStatus(await letIn([connection.organization.id], low), 200);
    expectStatus(await letIn([], low), 200);
    const above = await other.admin.post<{ id: string }>('/v1/identity/organizations', {
      name: 'Below',
      slug: `below-${newId()}`,
      settings: { sso_organizations: [other.id] },
    });
    expectStatus(above, 201);
    const path = `/v1/identity/organizations/${above.body.id}`;
    const patched = await other.admin.patch(path, { settings: { sso_organizations: [] } });
    expectProblem(patched, 403, 'privilege_escalation');
    for (const settings of [{ sso_organizations: ['x'] }, { sso_organizations: Array(21).fill(newId()) }])
      expectProblem(
        await other.admin.patch(`/v1/identity/organizations/${other.id}`, { settings }),
        400,
        'validation_failed',
      );
  });
});
