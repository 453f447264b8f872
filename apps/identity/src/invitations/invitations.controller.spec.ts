import { jest } from '@jest/globals';
import { newApiKey } from '@customer-platform/authorization';
import { Clock, newId } from '@customer-platform/database';
import type { Page } from '@customer-platform/http';
import {
  behindLock,
  eventually,
  expectProblem,
  expectStatus,
  kafkaProbe,
  type Caller,
} from '@customer-platform/testing';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import type { InvitationDto } from './invitation.dto.js';
import { Invitations, INVITATIONS } from './invitation.fixture.js';

let bench: IdentityBench;
let organization: TestOrganization;
let admin: Caller;
let guests: Invitations;
beforeAll(async () => {
  bench = await IdentityBench.start();
  guests = new Invitations(bench);
});
afterAll(() => bench.end());
beforeEach(async () => {
  organization = await bench.organization();
  admin = organization.admin;
});

const HOUR_S = 3_600;
const listed = async (query = '', caller = admin): Promise<InvitationDto[]> =>
  (await caller.get<Page<InvitationDto>>(`${INVITATIONS}${query}`)).body.data;
const resend = ({ id }: InvitationDto, caller = admin) =>
  caller.post<InvitationDto>(`${INVITATIONS}/${id}/resend`);
const withdraw = ({ id }: InvitationDto, caller = admin) => caller.delete(`${INVITATIONS}/${id}`);
const lifeOf = ({ expires_at: end }: InvitationDto, since: string): number =>
  (Date.parse(end) - Date.parse(since)) / 1_000;

describe('POST /v1/identity/invitations', () => {
  it('201 with what was asked for, and no token anywhere', async () => {
    const roleId = await bench.role(organization.id, ['crm.notes.read'], 'human');
    const email = guests.address().toUpperCase();
    const answer = await admin.post<InvitationDto>(INVITATIONS, {
      email,
      role_ids: [roleId],
      locale: 'es-cl',
      expires_in: HOUR_S,
    });
    expectStatus(answer, 201);
    expect(answer.headers.get('location')).toBe(`${INVITATIONS}/${answer.body.id}`);
    expect(answer.body).toEqual({
      id: answer.body.id,
      email: email.toLowerCase(),
      role_ids: [roleId],
      locale: 'es-CL',
      status: 'pending',
      expires_at: expect.any(String) as string,
      accepted_at: null,
      created_at: expect.any(String) as string,
      updated_at: answer.body.created_at,
    });
    expect(lifeOf(answer.body, answer.body.created_at)).toBe(HOUR_S);
  });

  it('holds seven days and gives no role unless told otherwise', async () => {
    const invitation = await guests.invite(organization);
    expect(lifeOf(invitation, invitation.created_at)).toBe(7 * 24 * HOUR_S);
    expect(invitation).toMatchObject({ role_ids: [], locale: null });
  });

  it('answers alike whether or not anybody has the address', async () => {
    const elsewhere = await bench.organization();
    const known = guests.address();
    const accepted = await guests.invite(elsewhere, { email: known });
    await guests.acceptAsNew(elsewhere, accepted);
    const answers = [known, guests.address()].map(async (email) => {
      const { status, body } = await admin.post<InvitationDto>(INVITATIONS, { email });
      const { id: _id, expires_at: _end, created_at: _at, updated_at: _changed, ...rest } = body;
      return { answered: status, ...rest, email: rest.email === email };
    });
    const [ofKnown, ofNobody] = await Promise.all(answers);
    expect(ofKnown).toEqual(ofNobody);
  });

  it('409 duplicate_value while one to the address is pending, also of twenty at once; not once it has expired', async () => {
    const email = guests.address();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => admin.post<InvitationDto>(INVITATIONS, { email })),
    );
    const [created, ...more] = answers.filter(({ status }) => status === 201).map(({ body }) => body);
    expect(more).toEqual([]);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      const problem = expectProblem(answer, 409, 'duplicate_value');
      expect(problem.errors).toEqual([expect.objectContaining({ pointer: '/email' })]);
    }
    if (!created) throw new Error('None was created');
    await guests.expire(created);
    const second = await guests.invite(organization, { email: email.toUpperCase() });
    expect((await listed(`?email=${email}&sort=created_at`)).map(({ id, status }) => [id, status])).toEqual([
      [created.id, 'expired'],
      [second.id, 'pending'],
    ]);
    // The former cannot come back beside it.
    expectProblem(await resend(created), 409, 'duplicate_value');
    // Another organization may invite whom it likes.
    await guests.invite(await bench.organization(), { email });
  });

  it('400 for what it cannot be, by name', async () => {
    const twice = newId();
    const cases: [object, string, string][] = [
      [{}, '/email', 'required'],
      [{ email: 'nobody' }, '/email', 'invalid_format'],
      [{ email: `${'İ'.repeat(60)}@example.com` }, '/email', 'invalid_format'],
      [{ email: 'a@example.com', expires_in: HOUR_S - 1 }, '/expires_in', 'out_of_range'],
      [{ email: 'a@example.com', expires_in: 30 * 24 * HOUR_S + 1 }, '/expires_in', 'out_of_range'],
      [{ email: 'a@example.com', role_ids: [twice, twice] }, '/role_ids', 'duplicate_item'],
      [{ email: 'a@example.com', role_ids: Array.from({ length: 21 }, newId) }, '/role_ids', 'too_long'],
      [{ email: 'a@example.com', locale: 'nowhere!' }, '/locale', 'invalid_format'],
      [{ email: 'a@example.com', status: 'accepted' }, '/status', 'immutable'],
      [{ email: 'a@example.com', accepted_at: null }, '/accepted_at', 'immutable'],
      [{ email: 'a@example.com', token: 'x' }, '/token', 'unknown_field'],
    ];
    for (const [body, pointer, code] of cases) {
      const problem = expectProblem(await admin.post(INVITATIONS, body), 400, 'validation_failed');
      expect(problem.errors).toEqual([expect.objectContaining({ pointer, code })]);
    }
  });

  it('refuses roles that are nobody’s, another organization’s, deleted, or for machines', async () => {
    const other = await bench.organization();
    const theirs = await bench.role(other.id, [], 'human');
    const deleted = await bench.role(organization.id, [], 'human');
    await admin.delete(`/v1/identity/roles/${deleted}`);
    const fine = await bench.role(organization.id, [], 'human');
    const invite = (id: string) => admin.post(INVITATIONS, { email: guests.address(), role_ids: [fine, id] });
    for (const id of [newId(), theirs]) {
      const problem = expectProblem(await invite(id), 422, 'reference_not_found');
      expect(problem.errors).toEqual([expect.objectContaining({ pointer: '/role_ids/1' })]);
    }
    expectProblem(await invite(deleted), 422, 'reference_deleted');
    expectProblem(await invite(await bench.role(organization.id, [])), 409, 'role_kind_mismatch');
    expect(await listed()).toEqual([]);
  });

  it('a repeat with its key is the same invitation', async () => {
    const body = { email: guests.address() };
    const key = { 'idempotency-key': newId() };
    const first = await admin.post<InvitationDto>(INVITATIONS, body, key);
    const again = await admin.post<InvitationDto>(INVITATIONS, body, key);
    expect([again.status, again.headers.get('idempotent-replay')]).toEqual([201, 'true']);
    expect(again.body).toEqual(first.body);
  });
});

describe('nobody invites with what they do not hold', () => {
  it('neither by an invitation nor by sending one again', async () => {
    const caller = await bench.caller(organization, ['identity.invitations.create', 'crm.notes.read']);
    const strong = await bench.role(organization.id, ['crm.notes.read', 'crm.notes.create'], 'human');
    const weak = await bench.role(organization.id, ['crm.notes.read'], 'human');
    const refused = await caller.post(INVITATIONS, { email: guests.address(), role_ids: [weak, strong] });
    expect(expectProblem(refused, 403, 'privilege_escalation')['missing']).toEqual(['crm.notes.create']);
    const invitation = await guests.invite(organization, { role_ids: [strong] });
    const again = expectProblem(await resend(invitation, caller), 403, 'privilege_escalation');
    expect(again['missing']).toEqual(['crm.notes.create']);
    expectStatus(await caller.post(INVITATIONS, { email: guests.address(), role_ids: [weak] }), 201);
    // Taking away needs no leave.
    expectStatus(await withdraw(invitation, caller), 204);
  });
});

describe('POST /v1/identity/invitations/{id}/resend', () => {
  it('gives a new token its whole time; the token before is dead', async () => {
    const invitation = await guests.invite(organization, { expires_in: 2 * HOUR_S });
    const former = await guests.token(organization, invitation);
    await guests.expire(invitation);
    const again = await resend(invitation);
    expectStatus(again, 200);
    expect(again.body).toMatchObject({ id: invitation.id, status: 'pending' });
    expect(lifeOf(again.body, again.body.updated_at)).toBeCloseTo(2 * HOUR_S, 0);
    expect(await guests.token(organization, invitation)).not.toBe(former);
    expectProblem(await guests.accept({ token: former }), 401, 'invalid_token');
  });

  it('429 for a sixth within a day, with when to come again; also of ten at once', async () => {
    const invitation = await guests.invite(organization);
    const answers = await Promise.all(Array.from({ length: 10 }, () => resend(invitation)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expectProblem(answer, 429, 'rate_limited');
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(23 * HOUR_S);
    }
    await bench.database.query(
      `UPDATE invitations SET resent_at = ARRAY(SELECT at - interval '24 h' FROM unnest(resent_at) AS at)
        WHERE id = $1`,
      [invitation.id],
    );
    expectStatus(await resend(invitation), 200);
  });

  it('409 invalid_state for one accepted or withdrawn, whatever is asked of it', async () => {
    const withdrawn = await guests.invite(organization);
    expectStatus(await withdraw(withdrawn), 204);
    const accepted = await guests.invite(organization);
    await guests.acceptAsNew(organization, accepted);
    for (const [invitation, state] of [
      [withdrawn, 'revoked'],
      [accepted, 'accepted'],
    ] as const)
      for (const call of [resend, withdraw])
        expect(expectProblem(await call(invitation), 409, 'invalid_state')['state']).toBe(state);
  });
});

describe('DELETE /v1/identity/invitations/{id}', () => {
  it('kills the token, and makes room for another one to the address', async () => {
    const invitation = await guests.invite(organization);
    const token = await guests.token(organization, invitation);
    expectStatus(await withdraw(invitation), 204);
    expectProblem(await guests.accept({ token }), 401, 'invalid_token');
    await guests.invite(organization, { email: invitation.email });
  });

  it('409 for one that expires while it is waited for', async () => {
    const invitation = await guests.invite(organization);
    const clock = jest.spyOn(bench.app.app.get(Clock, { strict: false }), 'now');
    try {
      const answer = await behindLock(
        bench.database,
        { sql: 'SELECT FROM invitations WHERE id = $1 FOR UPDATE', values: [invitation.id] },
        () => withdraw(invitation),
        () => clock.mockReturnValue(new Date(Date.parse(invitation.expires_at))),
      );
      expect(expectProblem(answer, 409, 'invalid_state')).toMatchObject({ state: 'expired' });
    } finally {
      clock.mockRestore();
    }
  });

  it('409 for one that has expired: there is nothing to withdraw', async () => {
    const invitation = await guests.invite(organization);
    await guests.expire(invitation);
    expect(expectProblem(await withdraw(invitation), 409, 'invalid_state')['state']).toBe('expired');
  });
});

describe('GET /v1/identity/invitations', () => {
  it('lists by state, as it is now, by address and by end', async () => {
    const [soon, late, gone] = [
      await guests.invite(organization, { expires_in: 2 * HOUR_S }),
      await guests.invite(organization, { expires_in: 3 * HOUR_S }),
      await guests.invite(organization),
    ];
    await guests.expire(gone);
    const ids = async (query: string) => (await listed(query)).map(({ id }) => id);
    expect(await ids('')).toEqual([gone.id, late.id, soon.id]);
    expect(await ids('?status=pending&sort=expires_at')).toEqual([soon.id, late.id]);
    expect(await ids('?status=expired')).toEqual([gone.id]);
    expect(await ids(`?email=${late.email}`)).toEqual([late.id]);
    expectProblem(await admin.get(`${INVITATIONS}?role_ids=x`), 400, 'unknown_parameter');
  });
});

describe('who may', () => {
  it('is said by one permission to read and one to write', async () => {
    const reader = await bench.caller(organization, ['identity.invitations.read']);
    const writer = await bench.caller(organization, ['identity.invitations.create']);
    const invitation = await guests.invite(organization);
    expect(await listed('', reader)).toHaveLength(1);
    expectProblem(await writer.get(INVITATIONS), 403, 'permission_denied');
    for (const call of [resend, withdraw])
      expectProblem(await call(invitation, reader), 403, 'permission_denied');
    expectProblem(await reader.post(INVITATIONS, { misspelt: 1 }), 403, 'permission_denied');
    expectStatus(await resend(invitation, writer), 200);
    expectStatus(await withdraw(invitation, writer), 204);
  });

  it('nobody in another organization: 404 as for one that is nobody’s', async () => {
    const other = await bench.organization();
    const invitation = await guests.invite(organization);
    for (const call of [resend, withdraw]) {
      const bodies = [];
      for (const id of [invitation.id, newId()]) {
        const { correlation_id: _, ...rest } = expectProblem(
          await call({ ...invitation, id }, other.admin),
          404,
          'not_found',
        );
        bodies.push(JSON.stringify(rest).replaceAll(id, '<id>'));
      }
      expect(bodies[0]).toBe(bodies[1]);
    }
    expect(await listed('', other.admin)).toEqual([]);
    expect((await listed())[0]).toEqual(invitation);
  });
});

describe('the link of a mail', () => {
  it('is told to messaging alone, while the invitation is pending', async () => {
    const invitation = await guests.invite(organization);
    const answer = await guests.ask('messaging', organization.id, invitation.id);
    expect(answer.body).toEqual({
      address: invitation.email,
      link: expect.stringMatching(/^http:.*\/console\/invitation#token=inv_[\w-]{91}$/) as string,
      organization_name: expect.any(String) as string,
      platform_organization_id: expect.any(String) as string,
      tenant_id: organization.id,
    });
    for (const module of ['core', 'crm', 'loyalty']) {
      const { status, body } = await guests.ask(module, organization.id, invitation.id);
      expect([status, body.code]).toEqual([403, 'permission_denied']);
    }
    const other = await bench.organization();
    for (const [where, id] of [
      [other.id, invitation.id],
      [organization.id, newId()],
    ] as const)
      expectProblem(await guests.ask('messaging', where, id), 404, 'not_found');
    await guests.expire(invitation);
    expectProblem(await guests.ask('messaging', organization.id, invitation.id), 404, 'not_found');
    await resend(invitation);
    expectStatus(await guests.ask('messaging', organization.id, invitation.id), 200);
    await withdraw(invitation);
    expectProblem(await guests.ask('messaging', organization.id, invitation.id), 404, 'not_found');
  });
});

describe('what is told', () => {
  it('is every step with locale, generation and end, and neither address nor token; so is the audit', async () => {
    const probe = kafkaProbe(bench.app);
    probe.collect('identity');
    const kept = await guests.invite(organization, { locale: 'es' });
    const again = (await resend(kept)).body;
    const token = await guests.token(organization, kept);
    await guests.acceptAsNew(organization, kept);
    const dropped = await guests.invite(organization);
    await withdraw(dropped);
    const own = { organization_id: organization.id };
    const first = { ...own, id: kept.id, locale: 'es', generation: 1, expires_at: kept.expires_at };
    const second = { ...first, generation: 2, expires_at: again.expires_at };
    // The organization's language stands in where the invitation names none.
    const other = { ...own, id: dropped.id, locale: 'en', generation: 1, expires_at: dropped.expires_at };
    const told = {
      'identity.invitation.created.v1': [first, other],
      'identity.invitation.resent.v1': [second],
      'identity.invitation.accepted.v1': [second],
      'identity.invitation.revoked.v1': [other],
    } as const;
    for (const type of Object.keys(told) as (keyof typeof told)[]) {
      const events = await probe.expectEvents(type, organization.id, told[type].length);
      // One invitation's events come in their order, those of two in any; ids grow with time.
      const byInvitation = events.map(({ data }) => data).sort((a, b) => (a.id < b.id ? -1 : 1));
      expect(byInvitation).toEqual(told[type]);
    }
    const audited = await bench.database.query<{ action: string; changed_fields: string[] }>(
      `SELECT action, changed_fields FROM audit_entries WHERE resource_type = 'invitations' AND organization_id = $1
        ORDER BY id`,
      [organization.id],
    );
    expect(audited.map(({ action }) => action)).toEqual([
      'identity.invitations.create',
      'identity.invitations.resend',
      'identity.invitations.accept',
      'identity.invitations.create',
      'identity.invitations.revoke',
    ]);
    const everything = JSON.stringify([
      await bench.database.query('SELECT * FROM outbox WHERE organization_id = $1', [organization.id]),
      await bench.database.query('SELECT * FROM audit_entries WHERE organization_id = $1', [organization.id]),
      await bench.database.query('SELECT * FROM invitations WHERE organization_id = $1', [organization.id]),
    ]);
    expect(everything).not.toContain(token);
    expect(everything).toContain(kept.id);
  });
});

// Last, for what it uses up is that of all tests here.
describe('POST /v1/identity/invitations/accept with keys that nobody has', () => {
  it('counts them against their network, as every other route does', async () => {
    const email = guests.address();
    const elsewhere = await bench.organization();
    await guests.acceptAsNew(elsewhere, await guests.invite(elsewhere, { email }));
    const token = await guests.token(organization, await guests.invite(organization, { email }));
    await eventually(async () => {
      const flood = Array.from({ length: 60 }, () => bench.app.with(newApiKey()).get(INVITATIONS));
      const accepting = Array.from({ length: 5 }, () => guests.accept({ token }, newApiKey()));
      const [answers] = await Promise.all([Promise.all(accepting), Promise.all(flood)]);
      expect(answers.map(({ status }) => status)).toContain(429);
    });
  });
});
