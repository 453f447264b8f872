import { expectProblem, expectStatus, type Caller } from '@customer-platform/testing';
import type { TestOrganization } from '../identity-app.fixture.js';
import { Browser, ISSUER, TestClient } from '../oauth/browser.fixture.js';
import { codeOf, PageVisitor, PASSWORD, People, type Shown } from '../sign-in/page-visitor.fixture.js';
import { HostileProvider } from './hostile-provider.fixture.js';
import { SsoBench, type TestConnection } from './sso-bench.fixture.js';

interface Enrolled {
  factor_id: string;
  secret: string;
}

/** Whoever edits a connection comes in as a person of its domain, who is a member of another organization. */
describe('the factors of a person of two organizations, and the connection of one', () => {
  let bench: SsoBench;
  let provider: HostileProvider;
  let connection: TestConnection;
  let other: TestOrganization;
  let userId: string;
  let email: string;

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
    connection = await bench.connection(provider.issuer);
    other = await bench.identity.organization();
    ({ userId } = await new People(bench.identity).person(connection.organization, { isMember: false }));
    email = `${userId}@${connection.domain}`;
    await bench.identity.database.query('UPDATE users SET email = $2 WHERE id = $1', [userId, email]);
    await bench.identity.member(connection.organization, userId, 'analyst');
    provider.claims = { sub: userId, email, email_verified: true };
  });

  const joinOther = async (): Promise<void> => {
    // Who is at home elsewhere becomes a member by an invitation.
    await bench.identity.join(other.id, userId);
    const [ids] = await bench.identity.database.query<{ membership_id: string; role_id: string }>(
      `SELECT m.id AS membership_id, r.id AS role_id FROM memberships m
         JOIN roles r ON r.organization_id = m.organization_id AND r.key = 'analyst' AND r.kind = 'human'
        WHERE m.organization_id = $1 AND m.user_id = $2`,
      [other.id, userId],
    );
    expectStatus(await other.admin.post('/v1/identity/role-assignments', { ...ids }), 201);
  };
  const bySso = async (): Promise<Caller> => {
    const how = { amr: ['fed'], connectionId: connection.id, authTime: new Date() };
    return (await bench.identity.signIn(connection.organization.id, userId, how)).caller;
  };
  const byPassword = async ({ id }: TestOrganization): Promise<Caller> =>
    (await bench.identity.signIn(id, userId)).caller;
  const enroll = (caller: Caller) =>
    caller.post<Enrolled>('/v1/identity/mfa/enroll', { type: 'totp', name: 'Phone' });
  const verify = (caller: Caller, { factor_id, secret }: Enrolled, code = codeOf(secret)) =>
    caller.post('/v1/identity/mfa/verify', { factor_id, code });
  const letIn = (organizations: string[]) =>
    other.admin.patch(`/v1/identity/organizations/${other.id}`, {
      settings: { sso_organizations: organizations },
    });

  it('no factor is set up by it that would lock the person out of the other, and end its sessions', async () => {
    const attacker = await bySso();
    const begun = await enroll(attacker);
    expectStatus(begun, 200);
    await joinOther();
    const there = await byPassword(other);
    expectProblem(await enroll(attacker), 403, 'user_not_managed');
    expectProblem(await verify(attacker, begun.body), 403, 'user_not_managed');
    expectStatus(await there.get('/v1/identity/mfa'), 200);
    const { body } = await there.get<{ factors: { confirmed_at: string | null }[] }>('/v1/identity/mfa');
    expect(body.factors.filter(({ confirmed_at: at }) => at !== null)).toEqual([]);
    // By a password, or where the other has a say, it is.
    expectStatus(await enroll(await byPassword(connection.organization)), 200);
    expectStatus(await letIn([connection.organization.id]), 200);
    expectStatus(await verify(attacker, begun.body), 200);
  });

  it('nor while signing in, which leads to the password instead', async () => {
    await joinOther();
    const path = `/v1/identity/organizations/${connection.organization.id}`;
    const settings = { mfa_policy: 'required' };
    expectStatus(await connection.organization.admin.patch(path, { settings }), 200);
    const client = await TestClient.register(bench.identity, connection.organization);
    const visitor = new PageVisitor(new Browser(bench.identity), ISSUER);
    const arrive = async (shown: Shown) => {
      const way = await visitor.send(shown, 'email', { email });
      const url = new URL((await visitor.send(way, 'sso', {}, { stay: true })).refresh ?? '');
      const back = provider.authorize(url);
      return visitor.open(back.pathname + back.search);
    };
    const stale = await arrive((await visitor.authorize(client)).shown);
    const refused = await arrive(stale);
    expect([refused.status, refused.form('enrol')]).toEqual([403, undefined]);
    const asked = await visitor.send(refused, 'use-password');
    const enrolling = await visitor.send(asked, 'password', { email, password: PASSWORD });
    expect(enrolling.form('enrol')).toBeDefined();
  });

  it('wrong codes by it do not keep the person from giving a factor in the other', async () => {
    await joinOther();
    const there = await byPassword(other);
    const begun = await enroll(there);
    expectStatus(begun, 200);
    expectStatus(await verify(there, begun.body), 200);
    const forget = 'UPDATE mfa_factors SET last_step = NULL WHERE user_id = $1';
    await bench.identity.database.query(forget, [userId]);
    const attacker = await bySso();
    const wrong = codeOf(begun.body.secret) === '000000' ? '111111' : '000000';
    for (let time = 0; time < 5; time += 1)
      expectProblem(await verify(attacker, begun.body, wrong), 422, 'mfa_code_invalid');
    expectProblem(await verify(attacker, begun.body, wrong), 429, 'rate_limited');
    expectProblem(await verify(await bySso(), begun.body, wrong), 429, 'rate_limited');
    expectStatus(await verify(there, begun.body), 200);
  });
});
