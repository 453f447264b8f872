import { Clock, Database, Retention } from '@customer-platform/database';
import type { Page } from '@customer-platform/http';
import { Caller, eventually, expectProblem, expectStatus, kafkaProbe } from '@customer-platform/testing';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import type { SessionDto } from './session.dto.js';
import { SessionEndings } from './session-endings.js';
import { ENDED_SESSIONS, SessionSweep } from './session-sweep.js';

const SESSIONS = '/v1/identity/sessions';
const ANYTHING = '/v1/identity/permissions?limit=1';

let bench: IdentityBench;
let organization: TestOrganization;
beforeAll(async () => {
  bench = await IdentityBench.start();
});
afterAll(() => bench.end());
beforeEach(async () => {
  organization = await bench.organization();
});

const sessionsOf = async (caller: Caller, query = ''): Promise<SessionDto[]> => {
  const answer = await caller.get<Page<SessionDto>>(`${SESSIONS}${query}`);
  expectStatus(answer, 200);
  return answer.body.data;
};
const becomes = (caller: Caller, status: number, code?: string) =>
  eventually(async () => {
    const { status: answered, body } = await caller.get<{ code?: string }>(ANYTHING);
    expect([answered, body.code]).toEqual([status, code]);
  });

describe('an access token', () => {
  it('is an ES256 at+jwt of five minutes that names no role and no permission', async () => {
    const { token, userId, sessionId } = await bench.signedIn(organization);
    expect(decodeProtectedHeader(token)).toMatchObject({ alg: 'ES256', typ: 'at+jwt' });
    const { iat = 0, exp = 0, jti, ...claims } = decodeJwt(token);
    expect(exp - iat).toBe(300);
    expect(jti).toMatch(/^[0-9a-f-]{36}$/);
    expect(claims).toEqual({
      iss: 'http://127.0.0.1:8080',
      aud: 'management-api',
      sub: userId,
      client_id: 'customer-platform',
      org_id: organization.id,
      sid: sessionId,
      auth_time: expect.any(Number) as number,
      amr: ['pwd'],
    });
    expect(Buffer.byteLength(token)).toBeLessThan(1_000);
  });

  it('lets the user do what the roles permit, and nothing else', async () => {
    const { caller } = await bench.signedIn(organization, 'analyst');
    await becomes(caller, 403, 'permission_denied');
    const owner = await bench.signedIn(organization);
    await becomes(owner.caller, 200);
    expect(await sessionsOf(caller)).toHaveLength(2);
  });

  it('is 401 on a route of machines, and altered', async () => {
    const { token } = await bench.signedIn(organization);
    const altered = new Caller(bench.app.url, `${token.slice(0, -4)}AAAA`);
    expectProblem(await altered.get(ANYTHING), 401, 'invalid_token');
  });
});

describe('what a user can do ends within a second', () => {
  it.each<
    [
      string,
      (user: {
        userId: string;
        membershipId: string;
        assignmentId: string;
        sessionId: string;
      }) => Promise<{ status: number }>,
      number,
      string,
    ]
  >([
    [
      'session',
      ({ sessionId }) => organization.admin.delete(`${SESSIONS}/${sessionId}`),
      401,
      'invalid_token',
    ],
    [
      'membership',
      ({ membershipId }) => organization.admin.delete(`/v1/identity/memberships/${membershipId}`),
      401,
      'invalid_token',
    ],
    [
      'role assignment',
      ({ assignmentId }) => organization.admin.delete(`/v1/identity/role-assignments/${assignmentId}`),
      403,
      'permission_denied',
    ],
    [
      'standing',
      ({ userId }) => organization.admin.patch(`/v1/identity/users/${userId}`, { status: 'suspended' }),
      401,
      'invalid_token',
    ],
    [
      'existence',
      ({ userId }) => organization.admin.delete(`/v1/identity/users/${userId}`),
      401,
      'invalid_token',
    ],
  ])('with the %s', async (_, take, status, code) => {
    await bench.signedIn(organization); // one administrator stays
    const user = await bench.signedIn(organization);
    await becomes(user.caller, 200);
    expect((await take(user)).status).toBeLessThan(300);
    await becomes(user.caller, status, code);
  });

  it('with the organization: 403 while it is suspended', async () => {
    const { caller } = await bench.signedIn(organization);
    await becomes(caller, 200);
    await bench.database.query(`UPDATE organizations SET status = 'suspended' WHERE organization_id = $1`, [
      organization.id,
    ]);
    await becomes(caller, 403, 'organization_suspended');
  });

  it('and a policy of two factors leaves only one’s own factors, until one is given', async () => {
    const { caller } = await bench.signedIn(organization);
    await becomes(caller, 200);
    await organization.admin.patch(`/v1/identity/organizations/${organization.id}`, {
      settings: { mfa_policy: 'required' },
    });
    await becomes(caller, 403, 'mfa_required');
    expectStatus(await caller.get('/v1/identity/mfa'), 200);
  });
});

describe('GET /v1/identity/sessions', () => {
  it('shows one’s own with the device, the current one marked; everybody’s to who may change users', async () => {
    const analyst = await bench.signedIn(organization, 'analyst');
    const owner = await bench.signedIn(organization);
    const [own, ...others] = await sessionsOf(analyst.caller);
    expect(own).toMatchObject({
      id: analyst.sessionId,
      user_id: analyst.userId,
      client_id: null,
      amr: ['pwd'],
      ip: '203.0.113.7',
      device: { browser: 'Firefox 145.0', os: 'Linux', type: 'desktop' },
      current: true,
      status: 'active',
      ended_reason: null,
      ended_at: null,
    });
    expect(others.map(({ user_id: userId, current }) => [userId, current])).toEqual([
      [analyst.userId, false],
    ]);
    const seen = await sessionsOf(owner.caller);
    expect(new Set(seen.map(({ user_id: userId }) => userId))).toEqual(
      new Set([analyst.userId, owner.userId]),
    );
    expect(await sessionsOf(owner.caller, `?user_id=${analyst.userId}`)).toHaveLength(2);
    const machine = await bench.caller(organization, ['identity.sessions.read']);
    expect(await sessionsOf(machine)).toEqual([]);
  });

  it('filters by status, an end by time included', async () => {
    const { caller, sessionId, userId } = await bench.signedIn(organization);
    await bench.database.query(
      `UPDATE sessions SET idle_expires_at = now() - interval '1 s' WHERE user_id = $1 AND id <> $2`,
      [userId, sessionId],
    );
    expect((await sessionsOf(caller, '?status=active')).map(({ id }) => id)).toEqual([sessionId]);
    const [ended] = await sessionsOf(caller, '?status=ended');
    expect(ended).toMatchObject({ status: 'ended', ended_reason: 'idle' });
  });
});

describe('DELETE /v1/identity/sessions/{id}', () => {
  it('ends one’s own; those of others are 404 without users.update; a repeat changes nothing', async () => {
    const analyst = await bench.signedIn(organization, 'analyst');
    const owner = await bench.signedIn(organization);
    expectProblem(await analyst.caller.delete(`${SESSIONS}/${owner.sessionId}`), 404, 'not_found');
    const second = await bench.signIn(organization.id, analyst.userId);
    expectStatus(await analyst.caller.delete(`${SESSIONS}/${second.sessionId}`), 204);
    expectStatus(await analyst.caller.delete(`${SESSIONS}/${second.sessionId}`), 204);
    await becomes(second.caller, 401, 'invalid_token');
    const rows = await bench.database.query(
      'SELECT action FROM audit_entries WHERE organization_id = $1 AND resource_id = $2',
      [organization.id, second.sessionId],
    );
    expect(rows).toEqual([{ action: 'identity.sessions.revoke' }]);
    const other = await bench.organization();
    expectProblem(await other.admin.delete(`${SESSIONS}/${owner.sessionId}`), 404, 'not_found');
  });
});

describe('another session of one’s own', () => {
  it('is ended by who has signed in within ten minutes: else 403 fresh_sign_in_required, save one’s present one', async () => {
    const user = await bench.signedIn(organization, 'analyst');
    const other = await bench.signIn(organization.id, user.userId);
    const end = (id: string) => user.caller.delete(`${SESSIONS}/${id}`);
    const age = `UPDATE sessions SET authenticated_at = authenticated_at - interval '11 minutes' WHERE id = $1`;
    await bench.database.query(age, [user.sessionId]);
    expectProblem(await end(other.sessionId), 403, 'fresh_sign_in_required');
    await bench.database.query('UPDATE sessions SET mfa_at = now() WHERE id = $1', [user.sessionId]);
    expectStatus(await end(other.sessionId), 204);
    await bench.database.query('UPDATE sessions SET mfa_at = NULL WHERE id = $1', [user.sessionId]);
    expectStatus(await end(user.sessionId), 204);
  });
});

describe('the sweep', () => {
  it('writes down and tells what has ended by time, once, and forgets after ninety days', async () => {
    const probe = kafkaProbe(bench.app);
    probe.collect('identity');
    const { userId, sessionId } = await bench.signedIn(organization);
    const [idle] = await bench.database.query<{ id: string }>(
      `UPDATE sessions SET idle_expires_at = now() - interval '1 s' WHERE user_id = $1 AND id <> $2 RETURNING id`,
      [userId, sessionId],
    );
    await bench.database.query(`UPDATE sessions SET expires_at = now() - interval '1 h' WHERE id = $1`, [
      sessionId,
    ]);
    const { app } = bench.app;
    const database = app.get(Database);
    const endings = app.get(SessionEndings, { strict: false });
    const sweeps = [1, 2].map(() => new SessionSweep(database, endings, new Clock()).run());
    expect((await Promise.all(sweeps)).reduce((sum, ended) => sum + ended)).toBeGreaterThanOrEqual(2);
    await probe.expectEvents('identity.session.ended.v1', organization.id, 2);
    const told = probe.events('identity.session.ended.v1', organization.id).map(({ data }) => data);
    expect(told).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: idle?.id, reason: 'idle' }),
        expect.objectContaining({ id: sessionId, reason: 'absolute' }),
      ]),
    );
    await bench.database.query(`UPDATE sessions SET ended_at = now() - interval '91 days' WHERE id = $1`, [
      sessionId,
    ]);
    await new Retention(database, new Clock(), ENDED_SESSIONS).sweep();
    expect(await bench.endings(userId)).toEqual(['idle']);
  });
});
