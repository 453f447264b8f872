import { jest } from '@jest/globals';
import { Clock, newId } from '@customer-platform/database';
import type { Page } from '@customer-platform/http';
import { behindLock, Caller, expectProblem, expectStatus, kafkaProbe } from '@customer-platform/testing';
import { decodeJwt } from 'jose';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import type { MembershipDto } from '../memberships/membership.dto.js';
import type { UserDto } from '../users/user.dto.js';
import { Invitations, INVITATIONS, PASSWORD } from './invitation.fixture.js';

const USERS = '/v1/identity/users';

let bench: IdentityBench;
let organization: TestOrganization;
let guests: Invitations;
beforeAll(async () => {
  bench = await IdentityBench.start();
  guests = new Invitations(bench);
});
afterAll(() => bench.end());
beforeEach(async () => {
  organization = await bench.organization();
});

const NEW = { name: 'Gabriela Mistral', password: PASSWORD };
const userOf = async (email: string, where = organization): Promise<UserDto | undefined> =>
  (await where.admin.get<Page<UserDto>>(`${USERS}?email=${email}`)).body.data[0];
const membershipsOf = async (userId: string, where = organization): Promise<MembershipDto[]> =>
  (await where.admin.get<Page<MembershipDto>>(`/v1/identity/memberships?user_id=${userId}`)).body.data;
const rolesOf = async (membershipId: string, where = organization): Promise<string[]> =>
  (
    await where.admin.get<Page<{ role_id: string }>>(
      `/v1/identity/role-assignments?membership_id=${membershipId}&sort=created_at`,
    )
  ).body.data.map(({ role_id: id }) => id);

/** An invitation with its token, to a fresh address unless told otherwise. */
async function invited(body: Record<string, unknown> = {}, where = organization) {
  const invitation = await guests.invite(where, body);
  return { invitation, token: await guests.token(where, invitation) };
}

describe('somebody new', () => {
  it('is made, verified, joined, given the roles, and signed in by a token of a new session', async () => {
    const roles = [
      await bench.role(organization.id, ['identity.sessions.read'], 'human'),
      await bench.role(organization.id, ['crm.notes.read'], 'human'),
    ];
    const { invitation, token } = await invited({ role_ids: roles, locale: 'es-CL' });
    const answer = await guests.accept({ token, ...NEW });
    expectStatus(answer, 200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const { access_token: accessToken = '', ...rest } = answer.body;
    expect(rest).toMatchObject({ id: invitation.id, status: 'accepted', email: invitation.email });
    expect(rest.accepted_at).not.toBeNull();
    const user = await userOf(invitation.email);
    expect(user).toMatchObject({
      name: NEW.name,
      locale: 'es-CL',
      status: 'active',
      email_verified: true,
      organization_id: organization.id,
    });
    const [membership] = await membershipsOf(user?.id ?? '');
    expect((await rolesOf(membership?.id ?? '')).sort()).toEqual([...roles].sort());
    const claims = decodeJwt(accessToken);
    expect(claims).toMatchObject({ sub: user?.id, org_id: organization.id, amr: ['pwd'] });
    const self = new Caller(bench.app.url, accessToken, () => true);
    const sessions = await self.get<Page<{ id: string; current: boolean }>>('/v1/identity/sessions');
    expect(sessions.body.data).toEqual([expect.objectContaining({ id: claims['sid'], current: true })]);
    // And no right that no role gives.
    expectProblem(await self.get(USERS), 403, 'permission_denied');
  });

  it('400 for what is missing or too easy, and the token works afterwards', async () => {
    const { invitation, token } = await invited();
    const refused = async (body: object) =>
      expectProblem(await guests.accept({ token, ...body }), 400, 'validation_failed').errors;
    expect(await refused({})).toEqual([
      expect.objectContaining({ pointer: '/name', code: 'required' }),
      expect.objectContaining({ pointer: '/password', code: 'required' }),
    ]);
    const cases: [string, string][] = [
      ['fourteen chars', 'too_short'],
      ['x'.repeat(129), 'too_long'],
      ['passwordpassword', 'not_allowed'],
      ['gabriela.mistral-1', 'not_allowed'],
      [`${invitation.email.split('@')[0] ?? ''}-00`, 'not_allowed'],
    ];
    for (const [password, code] of cases)
      expect(await refused({ ...NEW, password })).toEqual([
        expect.objectContaining({ pointer: '/password', code }),
      ]);
    expect(await refused({ ...NEW, pasword: 'x' })).toEqual([
      expect.objectContaining({ pointer: '/pasword', code: 'unknown_field' }),
    ]);
    // Characters are counted, not bytes or code units.
    expectStatus(await guests.accept({ token, ...NEW, password: '🦊🐻'.repeat(3) + 'ñandú-azul' }), 200);
  });

  it('who was only written down before becomes active, at home where first accepted', async () => {
    const creator = await bench.organization();
    const email = guests.address();
    const created = await creator.admin.post<UserDto>(USERS, { email, name: 'To be confirmed' });
    await creator.admin.post('/v1/identity/memberships', { user_id: created.body.id });
    const { token } = await invited({ email });
    const answer = await guests.accept({ token, ...NEW });
    expectStatus(answer, 200);
    expect(answer.body.access_token).toBeDefined();
    const user = await userOf(email);
    expect(user).toMatchObject({ id: created.body.id, status: 'active', organization_id: organization.id });
    expect(user?.name).toBe(NEW.name);
    // What the creator wrote down was accepted by nobody: it sees no member, and ties nobody's hands.
    expect(await userOf(email, creator)).toBeUndefined();
    const path = `${USERS}/${created.body.id}`;
    expectProblem(await creator.admin.patch(path, { name: 'Taken over' }), 404, 'not_found');
    expectStatus(await organization.admin.patch(path, { name: 'Ours' }), 200);
  });

  it('a stranger who made them a member beforehand, with roles, has nothing of them, and is told', async () => {
    const stranger = await bench.organization();
    const probe = kafkaProbe(bench.app);
    probe.collect('identity');
    const email = guests.address();
    const created = await stranger.admin.post<UserDto>(USERS, { email, name: 'Bait' });
    const { id } = created.body;
    const { membershipId, assignmentId } = await bench.member(stranger, id, 'analyst');
    const { token } = await invited({ email });
    expectStatus(await guests.accept({ token, ...NEW }), 200);
    expect(await membershipsOf(id, stranger)).toEqual([]);
    expect(await rolesOf(membershipId, stranger)).toEqual([]);
    expect(await membershipsOf(id)).toHaveLength(1);
    const [event] = await probe.expectEvents('identity.membership.ended.v1', stranger.id, 1);
    expect(event?.data).toEqual({ organization_id: stranger.id, id: membershipId, user_id: id });
    const [ended] = await probe.expectEvents('identity.role_assignment.ended.v1', stranger.id, 1);
    expect(ended?.data).toMatchObject({ organization_id: stranger.id, id: assignmentId });
    // Nor can it come back but by an invitation that they accept.
    expectProblem(
      await stranger.admin.post('/v1/identity/memberships', { user_id: id }),
      422,
      'reference_not_found',
    );
    for (const body of [{ status: 'suspended' }, { status: 'active' }, { reset_mfa: true }])
      expectStatus(await organization.admin.patch(`${USERS}/${id}`, body), 200);
    expectStatus(await organization.admin.delete(`${USERS}/${id}`), 204);
  });

  it('begins anew where the user with the address was deleted', async () => {
    const { invitation, token } = await invited();
    await guests.accept({ token, ...NEW });
    const former = await userOf(invitation.email);
    expectStatus(await organization.admin.delete(`${USERS}/${former?.id ?? ''}`), 204);
    const again = await invited({ email: invitation.email });
    expectStatus(await guests.accept({ token: again.token, ...NEW }), 200);
    const user = await userOf(invitation.email);
    expect(user?.id).not.toBe(former?.id);
    expectProblem(
      await organization.admin.post(`${USERS}/${former?.id ?? ''}/restore`),
      409,
      'restore_conflict',
    );
  });
});

describe('somebody with an account', () => {
  const joined = async () => {
    const elsewhere = await bench.organization();
    const { invitation, token } = await invited({}, elsewhere);
    await guests.accept({ token, ...NEW });
    const user = await userOf(invitation.email, elsewhere);
    const { token: own, sessionId } = await bench.signIn(elsewhere.id, user?.id ?? '');
    return { email: invitation.email, user, elsewhere, own, sessionId };
  };

  it('401 sign_in_required by the mail’s token alone, whoever sends it: nothing is joined', async () => {
    const { email, user } = await joined();
    const stranger = await joined();
    const { token } = await invited({ email });
    for (const credential of [undefined, organization.adminKey, stranger.own, 'cpk_live_x', 'no.token.atall'])
      for (const body of [{ token }, { token, ...NEW }]) {
        const answer = await guests.accept(body, credential);
        expectProblem(answer, 401, 'sign_in_required');
        expect(answer.headers.get('www-authenticate')).toContain('Bearer');
      }
    expect(await membershipsOf(user?.id ?? '')).toEqual([]);
    expect(await userOf(email)).toBeUndefined();
  });

  it('401 sign_in_required with an access token whose session has ended', async () => {
    const { email, own, user, elsewhere, sessionId } = await joined();
    const { token } = await invited({ email });
    expectStatus(await elsewhere.admin.delete(`/v1/identity/sessions/${sessionId}`), 204);
    expectProblem(await guests.accept({ token }, own), 401, 'sign_in_required');
    const again = await bench.signIn(elsewhere.id, user?.id ?? '');
    expectStatus(await guests.accept({ token }, again.token), 200);
  });

  it('joins as who they are: no password, no token back, and keeps home and name', async () => {
    const { email, user, elsewhere, own } = await joined();
    const roleId = await bench.role(organization.id, ['crm.notes.read'], 'human');
    const { token } = await invited({ email, role_ids: [roleId] });
    const problem = expectProblem(
      await guests.accept({ token, name: 'Another', password: PASSWORD }, own),
      400,
      'account_exists',
    );
    expect(problem.errors).toEqual([expect.objectContaining({ pointer: '/password' })]);
    const answer = await guests.accept({ token, name: 'Another' }, own);
    expectStatus(answer, 200);
    expect(answer.body.access_token).toBeUndefined();
    const seen = await userOf(email);
    expect(seen).toMatchObject({ id: user?.id, name: NEW.name, organization_id: elsewhere.id });
    const [membership] = await membershipsOf(user?.id ?? '');
    expect(await rolesOf(membership?.id ?? '')).toEqual([roleId]);
    // That of the first acceptance, and the one signed in to.
    expect(await bench.endings(user?.id ?? '')).toEqual([null, null]);
  });

  it('a member gets the roles that are missing, once each', async () => {
    const { email, user, elsewhere, own } = await joined();
    const [had, got] = [
      await bench.role(elsewhere.id, [], 'human'),
      await bench.role(elsewhere.id, [], 'human'),
    ];
    const [membership] = await membershipsOf(user?.id ?? '', elsewhere);
    await elsewhere.admin.post('/v1/identity/role-assignments', {
      membership_id: membership?.id,
      role_id: had,
    });
    const { token } = await invited({ email, role_ids: [had, got] }, elsewhere);
    expectStatus(await guests.accept({ token }, own), 200);
    expect(await membershipsOf(user?.id ?? '', elsewhere)).toEqual([membership]);
    expect(await rolesOf(membership?.id ?? '', elsewhere)).toEqual([had, got]);
  });

  it('409 limit_reached where the roles would be more than twenty; the invitation stays', async () => {
    const { email, user, elsewhere, own } = await joined();
    const [membership] = await membershipsOf(user?.id ?? '', elsewhere);
    for (let at = 0; at < 19; at += 1)
      await elsewhere.admin.post('/v1/identity/role-assignments', {
        membership_id: membership?.id,
        role_id: await bench.role(elsewhere.id, [], 'human'),
      });
    const roles = [await bench.role(elsewhere.id, [], 'human'), await bench.role(elsewhere.id, [], 'human')];
    const { invitation, token } = await invited({ email, role_ids: roles }, elsewhere);
    expectProblem(await guests.accept({ token }, own), 409, 'limit_reached');
    const [still] = (await elsewhere.admin.get<Page<object>>(`${INVITATIONS}?email=${email}&status=pending`))
      .body.data;
    expect(still).toEqual(invitation);
  });

  it('a role deleted meanwhile is not given', async () => {
    const roleId = await bench.role(organization.id, ['crm.notes.read'], 'human');
    const { invitation, token } = await invited({ role_ids: [roleId] });
    expectStatus(await organization.admin.delete(`/v1/identity/roles/${roleId}`), 204);
    expectStatus(await guests.accept({ token, ...NEW }), 200);
    const [membership] = await membershipsOf((await userOf(invitation.email))?.id ?? '');
    expect(await rolesOf(membership?.id ?? '')).toEqual([]);
  });
});

describe('the token', () => {
  it('works once: of fifty at the same moment one is let in, the others are 401', async () => {
    const { invitation, token } = await invited();
    const answers = await Promise.all(Array.from({ length: 50 }, () => guests.accept({ token, ...NEW })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expectProblem(answer, 401, 'invalid_token');
      expect(answer.headers.get('www-authenticate')).toContain('Bearer');
    }
    const user = await userOf(invitation.email);
    expect(await membershipsOf(user?.id ?? '')).toHaveLength(1);
    expect(await bench.endings(user?.id ?? '')).toEqual([null]);
  });

  it('of one organization lets nobody in once another’s was accepted, but the user themselves', async () => {
    const email = guests.address();
    const first = await bench.organization();
    const [early, later] = [await invited({ email }, first), await invited({ email })];
    const accepted = await guests.accept({ token: later.token, ...NEW });
    expectStatus(accepted, 200);
    // Who reads the earlier mail, or intercepts it, chooses no password and becomes nobody.
    for (const body of [{ ...NEW }, {}])
      expectProblem(await guests.accept({ token: early.token, ...body }), 401, 'sign_in_required');
    expectStatus(await guests.accept({ token: early.token }, accepted.body.access_token), 200);
    expect((await userOf(email, first))?.organization_id).toBe(organization.id);
  });

  it('two invitations of one new person at the same moment make one user', async () => {
    const email = guests.address();
    const other = await bench.organization();
    const both = [await invited({ email }), await invited({ email }, other)];
    const answers = await Promise.all(both.map(({ token }) => guests.accept({ token, ...NEW })));
    for (const answer of answers.filter(({ status }) => status !== 200))
      expectProblem(answer, 401, 'sign_in_required');
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const home = answers.findIndex(({ status }) => status === 200);
    const own = answers[home]?.body.access_token;
    expectStatus(await guests.accept({ token: both[1 - home]?.token }, own), 200);
    const [here, there] = [await userOf(email), await userOf(email, other)];
    expect(here?.id).toBeDefined();
    expect(there).toEqual(here);
  });

  it('401 for none, nonsense, one altered anywhere, and one of another key', async () => {
    const { token } = await invited();
    expectProblem(await guests.accept({}), 401, 'missing_credentials');
    expectProblem(await guests.accept({ token: 7 }), 401, 'missing_credentials');
    // A key is no invitation, whatever it may do.
    expectProblem(await organization.admin.post(`${INVITATIONS}/accept`, {}), 401, 'missing_credentials');
    const altered = [...token].map(
      (character, at) => token.slice(0, at) + (character === 'A' ? 'B' : 'A') + token.slice(at + 1),
    );
    for (const text of ['', 'nonsense', `${token}A`, token.slice(0, -1), ` ${token}`, ...altered])
      expectProblem(await guests.accept({ token: text, ...NEW }), 401, 'invalid_token');
    expectStatus(await guests.accept({ token, ...NEW }), 200);
    expectProblem(await guests.accept({ token, ...NEW }), 401, 'invalid_token');
  });

  it('401 token_expired past its time', async () => {
    const { invitation, token } = await invited();
    await guests.expire(invitation);
    expectProblem(await guests.accept({ token, ...NEW }), 401, 'token_expired');
  });

  it('401 token_expired where its time ends while the invitation is waited for', async () => {
    const { invitation, token } = await invited();
    const clock = jest.spyOn(bench.app.app.get(Clock, { strict: false }), 'now');
    try {
      const answer = await behindLock(
        bench.database,
        { sql: 'SELECT FROM invitations WHERE id = $1 FOR UPDATE', values: [invitation.id] },
        () => guests.accept({ token, ...NEW }),
        () => clock.mockReturnValue(new Date(Date.parse(invitation.expires_at))),
      );
      expectProblem(answer, 401, 'token_expired');
    } finally {
      clock.mockRestore();
    }
  });

  it('403 of an organization suspended, 401 of one deleted', async () => {
    const { token } = await invited();
    const above = (body: string) =>
      bench.within(organization.id, (tx) =>
        tx.query(`UPDATE organizations SET ${body} WHERE organization_id = $1`, [organization.id]),
      );
    await above(`status = 'suspended'`);
    expectProblem(await guests.accept({ token, ...NEW }), 403, 'organization_suspended');
    await above(`status = 'active', deleted_at = now()`);
    expectProblem(await guests.accept({ token, ...NEW }), 401, 'invalid_token');
  });
});

describe('what acceptance leaves behind', () => {
  it('is told and audited as the act of who accepts, and holds no password', async () => {
    const probe = kafkaProbe(bench.app);
    probe.collect('identity');
    const { invitation, token } = await invited();
    const correlationId = newId();
    const answer = await bench.app
      .with()
      .post(`${INVITATIONS}/accept`, { token, ...NEW }, { 'x-correlation-id': correlationId });
    expectStatus(answer, 200);
    const user = await userOf(invitation.email);
    await probe.expectEvents('identity.session.started.v1', organization.id, 1);
    const data = { organization_id: organization.id, id: user?.id };
    expect(probe.events('identity.user.created.v1', organization.id)[0]?.data).toMatchObject(data);
    expect(probe.events('identity.user.activated.v1', organization.id)[0]?.data).toMatchObject(data);
    const audited = await bench.database.query<{ action: string; actor_type: string; actor_id: string }>(
      `SELECT action, actor_type, actor_id FROM audit_entries WHERE correlation_id = $1 ORDER BY id`,
      [correlationId],
    );
    expect(audited.map(({ action }) => action)).toEqual([
      'identity.users.create',
      'identity.invitations.accept',
      'identity.memberships.create',
    ]);
    for (const { actor_type: type, actor_id: id } of audited) expect([type, id]).toEqual(['user', user?.id]);
    const [row] = await bench.database.query<{ password_hash: string; whole: string }>(
      'SELECT password_hash, users::text AS whole FROM users WHERE id = $1',
      [user?.id],
    );
    expect(row?.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(row?.whole).not.toContain(PASSWORD);
  });
});
