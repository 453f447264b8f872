import { newId } from '@customer-platform/database';
import { Caller, eventually, expectProblem, expectStatus } from '@customer-platform/testing';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import type { ExplainedPrincipal, PermissionExplanationDto } from './permission-explanations.dto.js';

const EXPLAIN = '/v1/identity/permissions/explain';
const PERMISSION = 'identity.permissions.read';
/** What needs it. */
const ASKED = '/v1/identity/permissions?limit=1';

let bench: IdentityBench;
let organization: TestOrganization;
beforeAll(async () => {
  bench = await IdentityBench.start();
});
afterAll(() => bench.end());
beforeEach(async () => {
  organization = await bench.organization();
});

const ask = (
  type: ExplainedPrincipal,
  id: string,
  permission: string = PERMISSION,
  caller = organization.admin,
) => caller.post<PermissionExplanationDto>(EXPLAIN, { principal: { type, id }, permission });

/** What is explained, once the registry says the same of a call. */
async function explained(type: ExplainedPrincipal, id: string, caller: Caller) {
  return eventually(async () => {
    const answer = await ask(type, id);
    expectStatus(answer, 200);
    const { status } = await caller.get(ASKED);
    expect([status, answer.body.allowed]).toEqual([status, status === 200]);
    return answer.body;
  });
}

async function aKey(permissions: Parameters<IdentityBench['role']>[1] = [PERMISSION]) {
  const roleId = await bench.role(organization.id, permissions);
  const { body } = await organization.admin.post<{ id: string; key: string }>('/v1/identity/api-keys', {
    name: 'Explained',
    role_id: roleId,
  });
  return { id: body.id, roleId, caller: new Caller(bench.app.url, body.key, () => true) };
}

async function assigned(membershipId: string, permissions: Parameters<IdentityBench['role']>[1]) {
  const role_id = await bench.role(organization.id, permissions, 'human');
  const body = { membership_id: membershipId, role_id };
  const answer = await organization.admin.post<{ id: string }>('/v1/identity/role-assignments', body);
  expectStatus(answer, 201);
  return { role_id, role: `Role ${role_id}`, assignment_id: answer.body.id };
}

describe('POST /v1/identity/permissions/explain of an OAuth client', () => {
  it('names its role while it is there, and says that it is deleted', async () => {
    const roleId = await bench.role(organization.id, [PERMISSION]);
    const client = {
      name: 'App',
      type: 'confidential',
      grant_types: ['client_credentials'],
      role_id: roleId,
    };
    const made = await organization.admin.post<{ id: string }>('/v1/identity/oauth-clients', client);
    expectStatus(made, 201);
    const { id } = made.body;
    const role = { role_id: roleId, role: `Role ${roleId}`, assignment_id: null };
    expect((await ask('oauth_client', id)).body).toMatchObject({ allowed: true, through: [role] });
    expect((await ask('oauth_client', id, 'crm.notes.read')).body.missing_because).toBe('not_in_roles');
    const { admin } = await bench.organization();
    expectProblem(await ask('oauth_client', id, PERMISSION, admin), 422, 'reference_not_found');
    expectStatus(await organization.admin.delete(`/v1/identity/oauth-clients/${id}`), 204);
    expect((await ask('oauth_client', id)).body).toMatchObject({
      allowed: false,
      missing_because: 'deleted',
    });
  });
});

describe('POST /v1/identity/permissions/explain of a user', () => {
  it('names every role that gives the permission, built in or not, and none that does not', async () => {
    const user = await bench.signedIn(organization);
    const own = await assigned(user.membershipId, [PERMISSION, 'crm.notes.read']);
    await assigned(user.membershipId, ['crm.notes.read']);
    const answer = await explained('user', user.userId, user.caller);
    expect(answer).toMatchObject({ allowed: true, restriction: null, missing_because: null });
    const builtIn = { role_id: user.roleId, role: expect.any(String) as string };
    expect(answer.through).toEqual([{ ...builtIn, assignment_id: user.assignmentId }, own]);
  });

  it('says why it is missing: not in the roles, roles deleted, no role, no member, suspended, deleted', async () => {
    const { admin } = organization;
    const user = await bench.signedIn(organization, 'analyst');
    const why = async () => (await explained('user', user.userId, user.caller)).missing_because;
    const reasons = [await why()];
    const own = await assigned(user.membershipId, [PERMISSION]);
    expect((await explained('user', user.userId, user.caller)).allowed).toBe(true);
    expectStatus(await admin.delete(`/v1/identity/role-assignments/${user.assignmentId}`), 204);
    expectStatus(await admin.delete(`/v1/identity/roles/${own.role_id}`), 204);
    reasons.push(await why());
    expectStatus(await admin.delete(`/v1/identity/role-assignments/${own.assignment_id}`), 204);
    reasons.push(await why());
    expectStatus(await admin.delete(`/v1/identity/memberships/${user.membershipId}`), 204);
    reasons.push(await why());
    expectStatus(await admin.patch(`/v1/identity/users/${user.userId}`, { status: 'suspended' }), 200);
    reasons.push(await why());
    expectStatus(await admin.delete(`/v1/identity/users/${user.userId}`), 204);
    reasons.push(await why());
    expect(reasons).toEqual([
      'not_in_roles',
      'role_deleted',
      'no_role',
      'not_a_member',
      'not_active',
      'deleted',
    ]);
  });

  it('says that a second factor is wanting, and that one may get it', async () => {
    const user = await bench.signedIn(organization);
    const settings = { mfa_policy: 'required' };
    expectStatus(
      await organization.admin.patch(`/v1/identity/organizations/${organization.id}`, { settings }),
      200,
    );
    const answer = await explained('user', user.userId, user.caller);
    expect(answer).toMatchObject({ allowed: false, restriction: 'mfa_required', missing_because: null });
    expect(answer.through).toHaveLength(1);
    expect((await ask('user', user.userId, 'identity.mfa.manage')).body.allowed).toBe(true);
  });
});

describe('POST /v1/identity/permissions/explain of an API key', () => {
  it('names its role, and why it is missing', async () => {
    const key = await aKey();
    const answer = await explained('api_key', key.id, key.caller);
    expect(answer).toEqual({
      allowed: true,
      restriction: null,
      through: [{ role_id: key.roleId, role: `Role ${key.roleId}`, assignment_id: null }],
      missing_because: null,
    });
    const lacking = await aKey(['crm.notes.read']);
    expect((await explained('api_key', lacking.id, lacking.caller)).missing_because).toBe('not_in_roles');
    expectStatus(await organization.admin.delete(`/v1/identity/roles/${key.roleId}`), 204);
    expect((await explained('api_key', key.id, key.caller)).missing_because).toBe('role_deleted');
    expectStatus(await organization.admin.delete(`/v1/identity/api-keys/${key.id}`), 204);
    expect((await explained('api_key', key.id, key.caller)).missing_because).toBe('revoked');
    const expired = await aKey();
    await bench.database.query('UPDATE api_keys SET expires_at = now() WHERE id = $1', [expired.id]);
    expect(await explained('api_key', expired.id, expired.caller)).toMatchObject({
      allowed: false,
      missing_because: 'expired',
    });
  });
});

describe('POST /v1/identity/permissions/explain', () => {
  it('422 for a principal of another organization, of nobody and of another kind, all alike', async () => {
    const other = await bench.organization();
    const user = await bench.signedIn(organization);
    const key = await aKey();
    const cases: [ExplainedPrincipal, string][] = [
      ['user', user.userId],
      ['api_key', key.id],
      ['user', newId()],
      ['api_key', newId()],
      ['oauth_client', newId()],
    ];
    for (const [type, id] of cases) {
      const answer = await ask(type, id, PERMISSION, other.admin);
      expect(expectProblem(answer, 422, 'reference_not_found').errors).toEqual([
        expect.objectContaining({ pointer: '/principal/id' }),
      ]);
    }
    for (const [type, id] of [
      ['user', key.id],
      ['api_key', user.userId],
    ] as const)
      expectProblem(await ask(type, id), 422, 'reference_not_found');
  });

  it('sees a member who is at home elsewhere, by what they may do here', async () => {
    const home = await bench.organization();
    const userId = await bench.person(home.id);
    await bench.member(home, userId);
    await bench.join(organization.id, userId);
    const { body } = await ask('user', userId);
    expect(body).toMatchObject({ allowed: false, through: [], missing_because: 'no_role' });
    expect((await ask('user', userId, PERMISSION, home.admin)).body.allowed).toBe(true);
  });

  it('400 for a permission or a kind that is none', async () => {
    expectProblem(await ask('api_key', newId(), 'core.contacts.frobnicate'), 400, 'validation_failed');
    expectProblem(await ask('member' as 'user', newId()), 400, 'validation_failed');
    expectProblem(
      await organization.admin.post(EXPLAIN, { permission: PERMISSION }),
      400,
      'validation_failed',
    );
  });

  it('needs identity.roles.read', async () => {
    const { caller, id } = await aKey();
    expectProblem(await ask('api_key', id, PERMISSION, caller), 403, 'permission_denied');
  });
});
