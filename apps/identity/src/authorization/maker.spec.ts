import type { ResolvedCredential } from '@customer-platform/authorization';
import { expectStatus, peerModule, type Answer, type Caller } from '@customer-platform/testing';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';

const MEMBERSHIPS = '/v1/identity/memberships';

describe('what the maker of something may do, as other modules ask it', () => {
  let bench: IdentityBench;
  let organization: TestOrganization;
  let admin: Caller;
  beforeAll(async () => {
    bench = await IdentityBench.start();
  });
  afterAll(() => bench.end());
  beforeEach(async () => {
    organization = await bench.organization();
    admin = organization.admin;
  });

  async function resolve(type: 'api_key' | 'oauth_client' | 'user', id: string, where = organization) {
    const messaging = await peerModule('messaging', 'identity', bench.app.internalUrl);
    const body = { organization_id: where.id, maker_type: type, maker_id: id };
    return messaging.post<ResolvedCredential>('/internal/authz/resolve', body);
  }
  const permissionsOf = (answer: Answer<ResolvedCredential>): string[] => {
    expectStatus(answer, 200);
    return answer.body.permissions;
  };

  it('a key’s, by its id: also of the one that it was rotated to, until that ends', async () => {
    const role_id = await bench.role(organization.id, ['core.contacts.read']);
    const body = { name: 'Maker', role_id };
    const made = await admin.post<{ id: string }>('/v1/identity/api-keys', body);
    const { id } = made.body;
    const first = await resolve('api_key', id);
    expect(permissionsOf(first)).toEqual(['core.contacts.read']);
    expect(first.body.principal).toEqual({ type: 'api_key', id });
    expect((await resolve('api_key', id, await bench.organization())).status).toBe(404);
    expect((await resolve('user', id)).status).toBe(404);
    const path = `/v1/identity/api-keys/${id}/rotate`;
    const next = await admin.post<{ id: string }>(path, { expires_in: 0 });
    expectStatus(next, 200);
    expect(permissionsOf(await resolve('api_key', id))).toEqual(['core.contacts.read']);
    expectStatus(await admin.delete(`/v1/identity/api-keys/${next.body.id}`), 204);
    expect((await resolve('api_key', id)).status).toBe(404);
  });

  it('an OAuth client’s, whatever its secret is by now: none once it is deleted', async () => {
    const role_id = await bench.role(organization.id, ['core.contacts.read']);
    const client = { name: 'Maker', type: 'confidential', grant_types: ['client_credentials'], role_id };
    const made = await admin.post<{ id: string }>('/v1/identity/oauth-clients', client);
    const { id } = made.body;
    const first = await resolve('oauth_client', id);
    expect(permissionsOf(first)).toEqual(['core.contacts.read']);
    expect(first.body.principal).toEqual({ type: 'oauth_client', id });
    const path = `/v1/identity/oauth-clients/${id}`;
    expectStatus(await admin.patch(path, { rotate_secret: true }), 200);
    expect(permissionsOf(await resolve('oauth_client', id))).toEqual(['core.contacts.read']);
    expect((await resolve('oauth_client', id, await bench.organization())).status).toBe(404);
    expectStatus(await admin.delete(path), 204);
    expect((await resolve('oauth_client', id)).status).toBe(404);
  });

  it('a user’s, by all roles, signed in or not: none when suspended, deleted, or a member no more', async () => {
    const userId = await bench.person(organization.id);
    const { assignmentId } = await bench.member(organization, userId, 'analyst');
    const first = await resolve('user', userId);
    expect(permissionsOf(first)).toContain('core.contacts.read');
    expect(first.body.principal).toEqual({ type: 'user', id: userId });
    const user = `/v1/identity/users/${userId}`;
    expectStatus(await admin.patch(user, { status: 'suspended' }), 200);
    expect((await resolve('user', userId)).status).toBe(404);
    expectStatus(await admin.patch(user, { status: 'active' }), 200);
    const again = await resolve('user', userId);
    expect(permissionsOf(again)).toContain('core.contacts.read');
    expect(again.body.epoch).toBeGreaterThan(first.body.epoch);
    expectStatus(await admin.delete(`/v1/identity/role-assignments/${assignmentId}`), 204);
    expect(permissionsOf(await resolve('user', userId))).toEqual([]);
    expectStatus(await admin.delete(user), 204);
    expect((await resolve('user', userId)).status).toBe(404);
    expectStatus(await admin.post(`${user}/restore`), 200);
    expectStatus(await admin.delete(`${MEMBERSHIPS}?user_id=${userId}`), 204);
    expect((await resolve('user', userId)).status).toBe(404);
  });
});
