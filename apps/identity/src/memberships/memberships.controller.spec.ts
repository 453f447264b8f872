import { newId } from '@customer-platform/database';
import type { Page } from '@customer-platform/http';
import { type Caller, expectProblem, expectStatus, kafkaProbe, peerModule } from '@customer-platform/testing';
import { IdentityBench, type TestMember, type TestOrganization } from '../identity-app.fixture.js';
import type { RoleAssignmentDto } from '../role-assignments/role-assignment.dto.js';
import type { MembershipDto } from './membership.dto.js';

const MEMBERSHIPS = '/v1/identity/memberships';
const ASSIGNMENTS = '/v1/identity/role-assignments';
const USERS = '/v1/identity/users';

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

const aMember = async (role?: string): Promise<TestMember> =>
  bench.member(organization, await bench.person(organization.id), role);
const memberships = async (query = ''): Promise<MembershipDto[]> =>
  (await admin.get<Page<MembershipDto>>(`${MEMBERSHIPS}${query}`)).body.data;
const assignments = async (query = ''): Promise<RoleAssignmentDto[]> =>
  (await admin.get<Page<RoleAssignmentDto>>(`${ASSIGNMENTS}${query}`)).body.data;

describe('memberships', () => {
  it('join a user the organization sees, once; also when ten ask at the same moment', async () => {
    const userId = await bench.person(organization.id);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => admin.post<MembershipDto>(MEMBERSHIPS, { user_id: userId })),
    );
    const created = answers.filter(({ status }) => status === 201);
    expect(created).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 201))
      expectProblem(answer, 409, 'duplicate_value');
    expect(await memberships(`?user_id=${userId}`)).toEqual([created[0]?.body]);
  });

  it('422 for a user of nobody, of another organization (one body for both), or deleted', async () => {
    const other = await bench.organization();
    const foreign = await bench.person(other.id);
    const bodies = [];
    for (const userId of [newId(), foreign]) {
      const answer = await admin.post(MEMBERSHIPS, { user_id: userId });
      const { correlation_id: _, ...rest } = expectProblem(answer, 422, 'reference_not_found');
      bodies.push(rest);
    }
    expect(bodies[0]).toEqual(bodies[1]);
    const deleted = await bench.person(organization.id);
    await admin.delete(`${USERS}/${deleted}`);
    expectProblem(await admin.post(MEMBERSHIPS, { user_id: deleted }), 422, 'reference_deleted');
  });

  it.each(['by its path', 'by the query', 'by a body'])(
    'end %s: with assignments and sessions, for good; a new one begins without roles',
    async (how) => {
      const { userId, membershipId } = await aMember('analyst');
      const calls: Record<string, () => Promise<{ status: number }>> = {
        'by its path': () => admin.delete(`${MEMBERSHIPS}/${membershipId}`),
        'by the query': () => admin.delete(`${MEMBERSHIPS}?user_id=${userId}`),
        'by a body': () => admin.delete(MEMBERSHIPS, { body: { user_id: userId } }),
      };
      expect((await calls[how]?.())?.status).toBe(204);
      expect(await memberships()).toEqual([]);
      expect(await assignments()).toEqual([]);
      expect(await bench.endings(userId)).toEqual(['membership_ended']);
      expect((await calls[how]?.())?.status).toBe(404);
      const again = await admin.post<MembershipDto>(MEMBERSHIPS, { user_id: userId });
      expectStatus(again, 201);
      expect(await assignments(`?membership_id=${again.body.id}`)).toEqual([]);
    },
  );

  it('400 for a deletion that names nobody, never everybody', async () => {
    await aMember('analyst');
    const byQuery = expectProblem(await admin.delete(MEMBERSHIPS), 400, 'validation_failed');
    expect(byQuery.errors).toEqual([expect.objectContaining({ parameter: 'user_id', code: 'required' })]);
    const byBody = expectProblem(await admin.delete(MEMBERSHIPS, { body: {} }), 400, 'validation_failed');
    expect(byBody.errors).toEqual([expect.objectContaining({ pointer: '/user_id', code: 'required' })]);
    expect(await memberships()).toHaveLength(1);
  });

  it('of another organization are nobody’s: 404 by every name', async () => {
    const { membershipId, userId, assignmentId, roleId } = await aMember('analyst');
    const other = await bench.organization();
    for (const path of [
      `${MEMBERSHIPS}/${membershipId}`,
      `${MEMBERSHIPS}?user_id=${userId}`,
      `${ASSIGNMENTS}/${assignmentId}`,
      `${ASSIGNMENTS}?membership_id=${membershipId}&role_id=${roleId}`,
    ])
      expectProblem(await other.admin.delete(path), 404, 'not_found');
    expect((await other.admin.get<Page<MembershipDto>>(MEMBERSHIPS)).body.data).toEqual([]);
    expect((await other.admin.get<Page<RoleAssignmentDto>>(ASSIGNMENTS)).body.data).toEqual([]);
    expect(await assignments()).toHaveLength(1);
  });

  it('tell what begins and what ends', async () => {
    const probe = kafkaProbe(bench.app);
    probe.collect('identity');
    const { userId, membershipId, assignmentId, roleId } = await aMember('analyst');
    await admin.delete(`${MEMBERSHIPS}/${membershipId}`);
    await probe.expectEvents('identity.membership.ended.v1', organization.id, 1);
    const own = { organization_id: organization.id };
    const membership = { ...own, id: membershipId, user_id: userId };
    const assignment = { ...own, id: assignmentId, membership_id: membershipId, role_id: roleId };
    const told = {
      'identity.membership.created.v1': membership,
      'identity.role_assignment.created.v1': assignment,
      'identity.role_assignment.ended.v1': assignment,
      'identity.membership.ended.v1': membership,
    } as const;
    for (const type of Object.keys(told) as (keyof typeof told)[])
      expect(probe.events(type, organization.id).map(({ data }) => data)).toEqual([told[type]]);
  });
});

describe('role assignments', () => {
  it('give a role for people to a member; 409 for one for machines, or twice', async () => {
    const { membershipId, roleId } = await aMember('analyst');
    const machine = await bench.role(organization.id, []);
    const give = (role_id: string) => admin.post(ASSIGNMENTS, { membership_id: membershipId, role_id });
    expectProblem(await give(machine), 409, 'role_kind_mismatch');
    expectProblem(await give(roleId), 409, 'duplicate_value');
    expect(await assignments(`?role_id=${roleId}`)).toHaveLength(1);
  });

  it('422 for a membership or a role that is nobody’s, another organization’s, or deleted', async () => {
    const { membershipId, roleId } = await aMember('analyst');
    const other = await bench.organization();
    const theirs = await bench.member(other, await bench.person(other.id), 'analyst');
    const deleted = await bench.role(organization.id, [], 'human');
    await admin.delete(`/v1/identity/roles/${deleted}`);
    const refused = async (body: object, code: string, pointer: string): Promise<void> => {
      const problem = expectProblem(await admin.post(ASSIGNMENTS, body), 422, code);
      expect(problem.errors).toEqual([expect.objectContaining({ pointer, code })]);
    };
    for (const id of [newId(), theirs.membershipId])
      await refused({ membership_id: id, role_id: roleId }, 'reference_not_found', '/membership_id');
    for (const id of [newId(), theirs.roleId])
      await refused({ membership_id: membershipId, role_id: id }, 'reference_not_found', '/role_id');
    await refused({ membership_id: membershipId, role_id: deleted }, 'reference_deleted', '/role_id');
  });

  it('nobody gives a role that permits what they do not hold; taking away needs no leave', async () => {
    const { membershipId, assignmentId } = await aMember('analyst');
    const caller = await bench.caller(organization, ['identity.roles.assign', 'crm.notes.read']);
    const strong = await bench.role(organization.id, ['crm.notes.read', 'crm.notes.create'], 'human');
    const weak = await bench.role(organization.id, ['crm.notes.read'], 'human');
    const refused = await caller.post(ASSIGNMENTS, { membership_id: membershipId, role_id: strong });
    expect(expectProblem(refused, 403, 'privilege_escalation')['missing']).toEqual(['crm.notes.create']);
    expectStatus(await caller.post(ASSIGNMENTS, { membership_id: membershipId, role_id: weak }), 201);
    expectStatus(await caller.delete(`${ASSIGNMENTS}/${assignmentId}`), 204);
  });

  it('409 limit_reached beyond twenty roles, however many come at once', async () => {
    const { membershipId } = await aMember('analyst');
    const roles = await Promise.all(
      Array.from({ length: 24 }, () => bench.role(organization.id, [], 'human')),
    );
    const answers = await Promise.all(
      roles.map((role_id) => admin.post(ASSIGNMENTS, { membership_id: membershipId, role_id })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(19);
    for (const answer of answers.filter(({ status }) => status !== 201))
      expectProblem(answer, 409, 'limit_reached');
  });
});

describe('the last administrator', () => {
  const lastWords = async (call: Promise<{ status: number; headers: Headers; body: object }>) =>
    expectProblem(await call, 409, 'last_administrator');

  it('stays: by assignment, membership, suspension and deletion; with a second one each of them passes', async () => {
    const { userId, membershipId, assignmentId, roleId } = await aMember();
    await lastWords(admin.delete(`${ASSIGNMENTS}/${assignmentId}`));
    await lastWords(admin.delete(`${ASSIGNMENTS}?membership_id=${membershipId}&role_id=${roleId}`));
    await lastWords(admin.delete(`${MEMBERSHIPS}/${membershipId}`));
    await lastWords(admin.delete(`${MEMBERSHIPS}?user_id=${userId}`));
    await lastWords(admin.patch(`${USERS}/${userId}`, { status: 'suspended' }));
    await lastWords(admin.delete(`${USERS}/${userId}`));
    expect(await bench.endings(userId)).toEqual([null]);
    expect(await assignments()).toHaveLength(1);
    await aMember();
    expectStatus(await admin.delete(`${MEMBERSHIPS}/${membershipId}`), 204);
  });

  it('an organization that never had one need not have one', async () => {
    const { membershipId } = await aMember('editor');
    expectStatus(await admin.delete(`${MEMBERSHIPS}/${membershipId}`), 204);
  });

  it.each<[string, (member: TestMember) => Promise<{ status: number }>]>([
    ['assignments', ({ assignmentId }) => admin.delete(`${ASSIGNMENTS}/${assignmentId}`)],
    ['memberships', ({ membershipId }) => admin.delete(`${MEMBERSHIPS}/${membershipId}`)],
    ['suspensions', ({ userId }) => admin.patch(`${USERS}/${userId}`, { status: 'suspended' })],
    ['deletions', ({ userId }) => admin.delete(`${USERS}/${userId}`)],
  ])('of two parallel %s of the last two, exactly one succeeds', async (_, remove) => {
    for (let round = 0; round < 5; round += 1) {
      organization = await bench.organization();
      admin = organization.admin;
      const members = [await aMember(), await aMember()];
      const answers = await Promise.all(members.map(remove));
      const passed = answers.filter(({ status }) => status < 300);
      expect(passed).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 409)).toHaveLength(1);
    }
  });

  it('neither do two different ways at once', async () => {
    for (let round = 0; round < 5; round += 1) {
      organization = await bench.organization();
      admin = organization.admin;
      const [first, second] = [await aMember(), await aMember()];
      const answers = await Promise.all([
        admin.delete(`${ASSIGNMENTS}/${first.assignmentId}`),
        admin.patch(`${USERS}/${second.userId}`, { status: 'suspended' }),
      ]);
      expect(answers.filter(({ status }) => status === 409)).toHaveLength(1);
    }
  });
});

describe('POST /internal/memberships/check', () => {
  const check = async (module: string, userId: string, organizationId = organization.id) => {
    const peer = await peerModule(module, 'identity', bench.app.internalUrl);
    const body = { organization_id: organizationId, user_id: userId };
    return peer.post<{ state: string }>('/internal/memberships/check', body);
  };
  const stateOf = async (userId: string, organizationId = organization.id): Promise<string> =>
    (await check('crm', userId, organizationId)).body.state;

  it('tells members, soft-deleted ones, and all others alike', async () => {
    await aMember(); // an administrator who stays
    const { userId } = await aMember();
    expect(await stateOf(userId)).toBe('member');
    const outsider = await bench.person(organization.id);
    const other = await bench.organization();
    const states = [stateOf(outsider), stateOf(newId()), stateOf(userId, other.id), stateOf(userId, newId())];
    expect(await Promise.all(states)).toEqual(Array(4).fill('none'));
    expectStatus(await admin.delete(`${USERS}/${userId}`), 204);
    expect(await stateOf(userId)).toBe('deleted');
    expectStatus(await admin.post(`${USERS}/${userId}/restore`), 200);
    expectStatus(await admin.delete(`${MEMBERSHIPS}?user_id=${userId}`), 204);
    expect(await stateOf(userId)).toBe('none');
  });

  it('is for crm alone', async () => {
    expect((await check('loyalty', newId())).status).toBe(403);
  });
});

describe('POST /internal/memberships/address', () => {
  const ask = async (userId: string, organizationId = organization.id, module = 'messaging') => {
    const peer = await peerModule(module, 'identity', bench.app.internalUrl);
    const body = { organization_id: organizationId, user_id: userId };
    return peer.post<{ address: string | null }>('/internal/memberships/address', body);
  };

  it('says where a member is written to, and nothing of all others', async () => {
    await aMember(); // an administrator who stays
    const { userId } = await aMember();
    const { body: user } = await admin.get<{ email: string }>(`${USERS}/${userId}`);
    expect((await ask(userId)).body).toEqual({ address: user.email });
    const other = await bench.organization();
    const outsider = await bench.person(organization.id);
    const answers = await Promise.all([ask(userId, other.id), ask(newId()), ask(outsider)]);
    expect(answers.map(({ body }) => body)).toEqual(Array(3).fill({ address: null }));
    expectStatus(await admin.delete(`${USERS}/${userId}`), 204);
    expect((await ask(userId)).body).toEqual({ address: null });
  });

  it('is for messaging alone', async () => {
    expect((await ask(newId(), organization.id, 'crm')).status).toBe(403);
  });
});
