import { newId } from '@customer-platform/database';
import { Caller, eventually, expectStatus } from '@customer-platform/testing';
import { decodeJwt } from 'jose';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { aChallenge, Browser, signsIn, TestClient } from './browser.fixture.js';

const ANYTHING = '/v1/identity/permissions?limit=1';

let bench: IdentityBench;
let above: TestOrganization;
let below: TestOrganization;
let userId: string;
beforeAll(async () => {
  bench = await IdentityBench.start();
});
afterAll(() => bench.end());

/** An organization, one below it, and somebody who is at home in that one. */
beforeEach(async () => {
  above = await bench.organization();
  const made = await above.admin.post<{ id: string; api_key: { id: string; key: string } }>(
    '/v1/identity/organizations',
    {
      name: 'Below',
      slug: `below-${newId()}`.slice(0, 40),
      issue_api_key: true,
    },
  );
  expectStatus(made, 201);
  const { id, api_key: key } = made.body;
  const admin = new Caller(bench.app.url, key.key, () => true);
  below = { id, admin, adminKey: key.key, adminKeyId: key.id };
  ({ userId } = await bench.signedIn(below));
});

const caller = (token: string) => new Caller(bench.app.url, token, () => true);
const becomes = (token: string, status: number) =>
  eventually(async () => expect((await caller(token).get(ANYTHING)).status).toBe(status));
const organizationPath = () => `/v1/identity/organizations/${above.id}`;

/** The client's organization goes, by somebody above it. */
const root = async (): Promise<Caller> => {
  const [row] = await bench.database.query<{ id: string }>(
    'SELECT organization_id AS id FROM organizations WHERE parent_id IS NULL',
  );
  const { id = '' } = row ?? {};
  const userId = await bench.person(id);
  await bench.within(id, async (tx) => {
    const membership = newId();
    await tx.query(
      `INSERT INTO memberships (organization_id, id, user_id, created_at, updated_at) VALUES ($1, $2, $3, now(), now())`,
      [id, membership, userId],
    );
    await tx.query(
      `INSERT INTO role_assignments (organization_id, id, membership_id, role_id, created_at, updated_at)
       SELECT $1, $2, $3, id, now(), now() FROM roles WHERE organization_id = $1 AND key = 'owner' AND kind = 'human'`,
      [id, newId(), membership],
    );
  });
  return (await bench.signIn(id, userId)).caller;
};
const suspend = async () =>
  expectStatus(await (await root()).patch(organizationPath(), { status: 'suspended' }), 200);
const reactivate = async () =>
  expectStatus(await (await root()).patch(organizationPath(), { status: 'active' }), 200);

describe('clients of an organization that is suspended', () => {
  it('get nothing: no sign-in, no code’s worth, no refresh, no credentials', async () => {
    const client = await TestClient.register(bench, above, { organizations: 'tree' });
    const role_id = await bench.role(above.id, ['identity.roles.read']);
    const machine = await TestClient.register(bench, above, {
      grant_types: ['client_credentials'],
      redirect_uris: [],
      post_logout_redirect_uris: [],
      role_id,
    });
    const tokens = await client.tokens(signsIn(userId));
    const { code, verifier } = await client.code(signsIn(userId), { browser: tokens.browser });
    await becomes(tokens.access_token, 200);
    await suspend();
    const query = new URLSearchParams(client.request(aChallenge().challenge));
    const begun = await new Browser(bench).get(`/oauth/authorize?${query.toString()}`);
    expect([begun.status, begun.headers.get('location')]).toEqual([400, null]);
    const answers = [
      await client.redeem(code, verifier),
      await client.refresh(tokens.refresh_token),
      await machine.post('/oauth/token', { grant_type: 'client_credentials' }),
    ];
    expect(answers.map(({ status, body }) => [status, body.error])).toEqual(
      answers.map(() => [401, 'invalid_client']),
    );
    // Those who signed in with it elsewhere are out too, until it may act again.
    await becomes(tokens.access_token, 401);
    await reactivate();
    await becomes(tokens.access_token, 200);
    expect((await client.refresh(tokens.refresh_token)).status).toBe(200);
  });

  it('nor if it is deleted', async () => {
    const client = await TestClient.register(bench, above, { organizations: 'tree' });
    const tokens = await client.tokens(signsIn(userId));
    await becomes(tokens.access_token, 200);
    await bench.database.query('UPDATE organizations SET deleted_at = now() WHERE organization_id = $1', [
      above.id,
    ]);
    await becomes(tokens.access_token, 401);
    expect((await client.refresh(tokens.refresh_token)).body.error).toBe('invalid_client');
  });

  it('are its own people’s no less: they are told that it is suspended', async () => {
    const client = await TestClient.register(bench, above);
    const { userId: own } = await bench.signedIn(above);
    const { access_token: token } = await client.tokens(signsIn(own));
    await becomes(token, 200);
    await suspend();
    await eventually(async () =>
      expect((await caller(token).get<{ code?: string }>(ANYTHING)).body.code).toBe('organization_suspended'),
    );
  });
});

describe('a client that serves its own organization alone from now on', () => {
  it('has no session with others any more, also once it serves them again', async () => {
    const client = await TestClient.register(bench, above, { organizations: 'tree' });
    const { userId: own } = await bench.signedIn(above);
    const [others, ours] = [await client.tokens(signsIn(userId)), await client.tokens(signsIn(own))];
    await becomes(others.access_token, 200);
    const path = `/v1/identity/oauth-clients/${client.id}`;
    expectStatus(await above.admin.patch(path, { organizations: 'own' }), 200);
    await becomes(others.access_token, 401);
    expect((await client.refresh(others.refresh_token)).body.error).toBe('invalid_grant');
    const { sid } = decodeJwt(others.access_token);
    await eventually(async () => {
      const rows = await bench.database.query('SELECT ended_reason FROM sessions WHERE id = $1', [sid]);
      expect(rows).toEqual([{ ended_reason: 'revoked' }]);
    });
    expectStatus(await above.admin.patch(path, { organizations: 'tree' }), 200);
    expect((await client.refresh(others.refresh_token)).body.error).toBe('invalid_grant');
    await becomes(ours.access_token, 200);
    expect((await client.refresh(ours.refresh_token)).status).toBe(200);
  });
});
