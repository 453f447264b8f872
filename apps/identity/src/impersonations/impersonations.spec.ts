import { jest } from '@jest/globals';
import { Clock, newId } from '@customer-platform/database';
import type { Page } from '@customer-platform/http';
import { PERMISSIONS } from '@customer-platform/permissions';
import { behindLock, eventually, expectProblem, expectStatus, kafkaProbe } from '@customer-platform/testing';
import { decodeJwt } from 'jose';
import { IdentityBench } from '../identity-app.fixture.js';
import { Invitations } from '../invitations/invitation.fixture.js';
import type { SessionDto } from '../sessions/session.dto.js';
import type { ImpersonationDto } from './impersonation.dto.js';
import { Acting, IMPERSONATIONS, REASON } from './impersonation.fixture.js';

const ROLES = '/v1/identity/roles';

let bench: IdentityBench;
let acting: Acting;
beforeAll(async () => {
  bench = await IdentityBench.start();
});
afterAll(() => bench.end());
beforeEach(async () => {
  acting = await Acting.of(bench);
});

describe('POST /v1/identity/impersonations', () => {
  it('gives a token of the user by the actor, that holds until the end, and no refresh', async () => {
    const answer = await acting.start({ expires_in: 1_200 });
    expectStatus(answer, 201);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const { access_token: token = '', ...rest } = answer.body;
    expect(Object.keys(rest).sort()).toEqual(
      ['actor_id', 'created_at', 'expires_at', 'id', 'reason', 'user_id'].sort(),
    );
    expect(rest).toMatchObject({
      actor_id: acting.actor.userId,
      user_id: acting.user.userId,
      reason: REASON,
    });
    const { exp = 0, iat = 0, ...claims } = decodeJwt(token);
    expect([1_199, 1_200]).toContain(exp - iat);
    expect(claims).toMatchObject({
      sub: acting.user.userId,
      act: { sub: acting.actor.userId },
      sid: rest.id,
      org_id: acting.organization.id,
      amr: ['pwd', 'otp', 'mfa'],
    });
    expect(Buffer.byteLength(token)).toBeLessThan(1_000);
  });

  it('lasts 15 minutes unless told, never longer than the session it was begun in', async () => {
    const { body } = await acting.started();
    const life = (each: ImpersonationDto) => Date.parse(each.expires_at) - Date.parse(each.created_at);
    expect(life(body)).toBe(900_000);
    await acting.sql(
      `UPDATE sessions SET expires_at = now() + interval '100 seconds' WHERE organization_id = $1 AND id = $2`,
      [acting.organization.id, acting.actor.sessionId],
    );
    expect(life((await acting.started()).body)).toBeLessThanOrEqual(100_000);
  });

  it('is bound by the scopes of the session that it was begun in', async () => {
    const wide = await acting.started();
    expect((await wide.as.get(ROLES)).status).toBe(200);
    await acting.sql(
      `UPDATE sessions SET api_scopes = '{identity.write}' WHERE organization_id = $1 AND id = $2`,
      [acting.organization.id, acting.actor.sessionId],
    );
    const answer = await acting.start();
    expectStatus(answer, 201);
    const narrow = bench.app.with(answer.body.access_token);
    await eventually(async () => expectProblem(await narrow.get(ROLES), 403, 'permission_denied'));
  });

  it('401 in a session that ends while it is waited for', async () => {
    const clock = jest.spyOn(bench.app.app.get(Clock, { strict: false }), 'now');
    try {
      const answer = await behindLock(
        bench.database,
        { sql: 'SELECT FROM sessions WHERE id = $1 FOR UPDATE', values: [acting.actor.sessionId] },
        () => acting.start(),
        () => clock.mockReturnValue(new Date(Date.now() + 48 * 3_600_000)),
      );
      expectProblem(answer, 401, 'invalid_token');
    } finally {
      clock.mockRestore();
    }
  });

  it('shows no token to who repeats it', async () => {
    const headers = { 'Idempotency-Key': newId() };
    const [first, second] = [
      await acting.start({}, acting.actor.caller, headers),
      await acting.start({}, acting.actor.caller, headers),
    ];
    const { access_token: token, ...shown } = first.body;
    expect(token).toBeDefined();
    expect([second.status, second.body]).toEqual([201, shown]);
  });

  it('400 for itself and for what is out of bounds', async () => {
    const refused = async (body: object) =>
      expectProblem(await acting.start(body), 400, 'validation_failed').errors?.[0];
    expect(await refused({ user_id: acting.actor.userId })).toMatchObject({
      pointer: '/user_id',
      code: 'not_allowed',
    });
    for (const [field, values] of Object.entries({
      expires_in: [59, 1_801, 1.5, '900'],
      reason: ['too short', 'x'.repeat(501), ' '.repeat(20), `short${' '.repeat(20)}`, undefined],
      user_id: ['nobody', undefined],
    }))
      for (const value of values)
        expect(await refused({ [field]: value })).toMatchObject({ pointer: `/${field}` });
  });

  it('403 for a key, and for a user without a second factor in the session', async () => {
    expectProblem(await acting.start({}, acting.organization.admin), 403, 'user_required');
    const { caller } = await bench.signIn(acting.organization.id, acting.actor.userId);
    expectProblem(await acting.start({}, caller), 403, 'mfa_required');
  });

  it('422 for who is no member here, wherever else', async () => {
    const other = await bench.organization();
    const stranger = await bench.signedIn(other);
    const atHome = await bench.person(acting.organization.id);
    for (const user_id of [stranger.userId, atHome, newId()])
      expectProblem(await acting.start({ user_id }), 422, 'reference_not_found');
  });

  it('409 for a member who is not active', async () => {
    const path = `/v1/identity/users/${acting.user.userId}`;
    expectStatus(await acting.organization.admin.patch(path, { status: 'suspended' }), 200);
    expectProblem(await acting.start(), 409, 'invalid_state');
  });

  it('is told, and audited with its reason', async () => {
    const probe = kafkaProbe(bench.app);
    probe.collect('identity');
    const { id, body } = await acting.started();
    const data = {
      organization_id: acting.organization.id,
      id,
      actor_id: acting.actor.userId,
      user_id: acting.user.userId,
      reason: REASON,
      expires_at: body.expires_at,
    };
    const [begun] = await probe.expectEvents('identity.impersonation.started.v1', acting.organization.id, 1);
    expect(begun?.data).toEqual(data);
    expectStatus(await acting.actor.caller.delete(`${IMPERSONATIONS}/${id}`), 204);
    const [stopped] = await probe.expectEvents(
      'identity.impersonation.stopped.v1',
      acting.organization.id,
      1,
    );
    expect(stopped?.data).toEqual(data);
    const audited = await bench.database.query(
      `SELECT action, actor_id, impersonator_id, changed_fields, reason FROM audit_entries
        WHERE resource_type = 'impersonations' AND resource_id = $1 ORDER BY id`,
      [id],
    );
    const by = { actor_id: acting.actor.userId, impersonator_id: null };
    expect(audited).toEqual([
      { action: 'identity.impersonation.start', ...by, changed_fields: [acting.user.userId], reason: REASON },
      { action: 'identity.impersonation.stop', ...by, changed_fields: ['status'], reason: null },
    ]);
  });
});

describe('what is done as another', () => {
  it('is what the user may, but nothing of identity except to read', async () => {
    const { as } = await acting.started();
    expectStatus(await as.get('/v1/identity/users'), 200);
    expectStatus(await as.get('/v1/identity/mfa'), 200);
    const refused: [string, string, object | undefined][] = [
      ['POST', IMPERSONATIONS, { user_id: acting.actor.userId, reason: REASON }],
      ['DELETE', `${IMPERSONATIONS}/${newId()}`, undefined],
      ['POST', '/v1/identity/api-keys', { name: 'Left behind', role_id: newId() }],
      ['POST', '/v1/identity/mfa/enroll', { type: 'totp', name: 'Phone' }],
      ['DELETE', `/v1/identity/sessions/${acting.user.sessionId}`, undefined],
      ['POST', '/v1/identity/invitations', { email: 'x@example.com' }],
    ];
    for (const [method, path, body] of refused)
      expectProblem(
        await as.call(method, path, body === undefined ? {} : { body }),
        403,
        'permission_denied',
      );
  });

  it('is no more than the actor may at that moment, whatever the user is given meanwhile', async () => {
    const { admin } = acting.organization;
    const held = ['identity.permissions.read', 'identity.roles.read', 'crm.notes.read'] as const;
    const role = await bench.role(acting.organization.id, [...held, 'identity.impersonation.start'], 'human');
    await bench.signedIn(acting.organization); // one administrator stays
    expectStatus(await admin.delete(`/v1/identity/role-assignments/${acting.actor.assignmentId}`), 204);
    expectStatus(await admin.delete(`/v1/identity/role-assignments/${acting.user.assignmentId}`), 204);
    const assign = async (membership_id: string, role_id: string) =>
      expectStatus(await admin.post('/v1/identity/role-assignments', { membership_id, role_id }), 201);
    await assign(acting.actor.membershipId, role);
    await assign(
      acting.user.membershipId,
      await bench.role(acting.organization.id, ['identity.permissions.read'], 'human'),
    );
    await eventually(async () => expect((await acting.start()).status).toBe(201));
    const { as } = await acting.started();
    expectProblem(await as.get('/v1/identity/roles'), 403, 'permission_denied');
    await assign(
      acting.user.membershipId,
      await bench.role(acting.organization.id, ['identity.roles.read', 'identity.users.read'], 'human'),
    );
    await eventually(async () => expectStatus(await as.get('/v1/identity/roles'), 200));
    expectProblem(await as.get('/v1/identity/users'), 403, 'permission_denied');
  });

  it('is nothing once the actor may not act as others any more', async () => {
    const { admin } = acting.organization;
    const role = await bench.role(acting.organization.id, [...PERMISSIONS], 'human');
    const assigned = { membership_id: acting.actor.membershipId, role_id: role };
    expectStatus(await admin.post('/v1/identity/role-assignments', assigned), 201);
    expectStatus(await admin.delete(`/v1/identity/role-assignments/${acting.actor.assignmentId}`), 204);
    const { as } = await acting.started();
    const path = `/v1/identity/roles/${role}/permissions`;
    const permissions = PERMISSIONS.filter((each) => each !== 'identity.impersonation.start');
    expectStatus(await admin.call('PUT', path, { body: { permissions } }), 200);
    await acting.becomes(as, 403, 'permission_denied');
  });

  it('joins no other organization in the user’s name', async () => {
    const { token: asUser } = await acting.started();
    const other = await bench.organization();
    const invitations = new Invitations(bench);
    const invitation = await invitations.invite(other, { email: `${acting.user.userId}@example.com` });
    const token = await invitations.token(other, invitation);
    expectProblem(await invitations.accept({ token }, asUser), 401, 'sign_in_required');
    expectStatus(await invitations.accept({ token }, acting.user.token), 200);
  });

  it('takes its place in pages of sessions, whatever they are sorted by', async () => {
    for (let at = 0; at < 3; at += 1) {
      await acting.started();
      await bench.signIn(acting.organization.id, acting.user.userId);
    }
    for (const sort of ['created_at', '-last_seen_at']) {
      const path = `/v1/identity/sessions?user_id=${acting.user.userId}&sort=${sort}`;
      const { body: whole } = await acting.user.caller.get<Page<SessionDto>>(path);
      expect(whole.data.filter(({ impersonation }) => impersonation !== null)).toHaveLength(3);
      const walked: SessionDto[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const after: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const { body } = await acting.user.caller.get<Page<SessionDto>>(`${path}&limit=2${after}`);
        walked.push(...body.data);
        cursor = body.page.next_cursor;
      }
      expect(walked.map(({ id }) => id)).toEqual(whole.data.map(({ id }) => id));
    }
  });

  it('is in the user’s list of sessions, with who and why, and can be ended there', async () => {
    const { id, as } = await acting.started();
    const { body } = await acting.user.caller.get<Page<SessionDto>>('/v1/identity/sessions?status=active');
    const shown = body.data.find((each) => each.id === id);
    expect(shown).toMatchObject({
      user_id: acting.user.userId,
      amr: ['pwd', 'otp', 'mfa'],
      status: 'active',
      current: false,
      impersonation: { actor_id: acting.actor.userId, reason: REASON },
    });
    for (const other of body.data.filter((each) => each.id !== id)) expect(other.impersonation).toBeNull();
    expectStatus(await acting.user.caller.delete(`/v1/identity/sessions/${id}`), 204);
    await acting.becomes(as, 401, 'invalid_token');
    const ended = await acting.user.caller.get<Page<SessionDto>>('/v1/identity/sessions?status=ended');
    expect(ended.body.data).toContainEqual(expect.objectContaining({ id, ended_reason: 'revoked' }));
  });
});
