import { Client } from 'pg';
import { newId } from '@customer-platform/database';
import type { Page } from '@customer-platform/http';
import {
  eventually,
  expectProblem,
  expectStatus,
  itBehavesLikeASoftDeletableResource,
  kafkaProbe,
  type Caller,
} from '@customer-platform/testing';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { startResources, type ResourceApp } from '../resource-app.fixture.js';
import { AddressProbes } from './address-probes.js';
import type { UserDto } from './user.dto.js';

const USERS = '/v1/identity/users';

describe('a user', () => {
  let resources: ResourceApp;
  beforeAll(async () => {
    resources = await startResources();
  });
  afterAll(() => resources.close());

  itBehavesLikeASoftDeletableResource({
    app: () => resources.app,
    path: USERS,
    permissions: {
      read: 'identity.users.read',
      create: 'identity.users.create',
      update: 'identity.users.update',
      delete: 'identity.users.delete',
      purge: 'identity.users.purge',
    },
    body: async (number, organizationId) => {
      await resources.found(organizationId);
      return {
        email: `user-${String(number)}-${organizationId}@example.com`,
        name: `User ${String(number)}`,
      };
    },
    patch: (number) => ({ name: `Changed ${String(number)}` }),
    unique: 'email',
  });
});

describe('users', () => {
  let bench: IdentityBench;
  let home: TestOrganization;
  let admin: Caller;
  beforeAll(async () => {
    bench = await IdentityBench.start();
  });
  afterAll(() => bench.end());
  beforeEach(async () => {
    home = await bench.organization();
    admin = home.admin;
  });

  const at = (id: string, suffix = ''): string => `${USERS}/${id}${suffix}`;
  const anAddress = (): string => `${newId()}@example.com`;
  const aUser = async (body: object = {}): Promise<UserDto> => {
    const answer = await admin.post<UserDto>(USERS, { email: anAddress(), name: 'Ana Rojas', ...body });
    expectStatus(answer, 201);
    return answer.body;
  };

  it('begin invited, of this home, without factor or sign-in; the address in lower case', async () => {
    const email = anAddress();
    const user = await aUser({ email: email.toUpperCase(), locale: 'es-cl' });
    expect(user).toMatchObject({
      email,
      locale: 'es-CL',
      status: 'invited',
      email_verified: false,
      mfa_enabled: false,
      last_sign_in_at: null,
      organization_id: home.id,
    });
  });

  it.each([
    ['/email', 'required', { email: undefined }],
    ['/email', 'invalid_format', { email: 'ana@' }],
    ['/email', 'too_long', { email: `${'a'.repeat(250)}@example.com` }],
    ['/email', 'invalid_format', { email: `${'İ'.repeat(60)}@example.com` }],
    ['/name', 'too_short', { name: '' }],
    ['/locale', 'invalid_format', { locale: '???' }],
    ['/status', 'immutable', { status: 'active' }],
    ['/mfa_enabled', 'immutable', { mfa_enabled: true }],
    ['/organization_id', 'immutable', { organization_id: newId() }],
    ['/password', 'unknown_field', { password: 'a very long password' }],
  ])('400 %s %s', async (pointer, code, override) => {
    const body = { email: anAddress(), name: 'Ana', ...override };
    const problem = expectProblem(await admin.post(USERS, body), 400, 'validation_failed');
    expect(problem.errors).toEqual([expect.objectContaining({ pointer, code })]);
  });

  it('409 duplicate_value for an address known elsewhere, and nothing more; after 60 in an hour 429', async () => {
    const elsewhere = await bench.organization();
    const { email } = await aUser();
    for (let times = 0; times < 60; times += 1) {
      const answer = await elsewhere.admin.post(USERS, { email, name: 'Probe' });
      const { detail, errors, ...rest } = expectProblem(answer, 409, 'duplicate_value');
      expect(JSON.stringify([detail, errors, rest])).not.toContain(home.id);
      expect(rest).not.toHaveProperty('conflicting_id');
    }
    const answer = await elsewhere.admin.post(USERS, { email: anAddress(), name: 'Probe' });
    expectProblem(answer, 429, 'rate_limited');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expectStatus(await admin.post(USERS, { email: anAddress(), name: 'Unharmed' }), 201);
  });

  it('tells of 60 known addresses an hour also where all are asked for at the same moment', async () => {
    const elsewhere = await bench.organization();
    const { email } = await aUser();
    const asked = Array.from({ length: 90 }, () => elsewhere.admin.post(USERS, { email, name: 'Probe' }));
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 409)).toHaveLength(60);
    expect(statuses.filter((status) => status === 429)).toHaveLength(30);
  });

  it('tells no more of them by giving one user address after address, or by restoring', async () => {
    const elsewhere = await bench.organization();
    const { email } = await aUser();
    const made = await elsewhere.admin.post<UserDto>(USERS, { email: anAddress(), name: 'Probe' });
    const path = at(made.body.id);
    for (let times = 0; times < 59; times += 1)
      expectProblem(await elsewhere.admin.patch(path, { email }), 409, 'duplicate_value');
    expectStatus(await elsewhere.admin.delete(path), 204);
    expectStatus(await admin.post(USERS, { email: made.body.email, name: 'Since' }), 201);
    expectProblem(await elsewhere.admin.post(`${path}/restore`), 409, 'restore_conflict');
    for (const call of [
      () => elsewhere.admin.post(`${path}/restore`),
      () => elsewhere.admin.post(USERS, { email: anAddress(), name: 'Probe' }),
    ])
      expectProblem(await call(), 429, 'rate_limited');
    const { id } = await aUser();
    expectStatus(await admin.patch(at(id), { email: anAddress() }), 200);
  });

  it('tells a tenant of 120 known addresses an hour, in however many organizations that it founds', async () => {
    const probes = bench.app.app.get(AddressProbes, { strict: false });
    const tenant = await bench.organization();
    const child = () => ({ organizationId: newId(), organization: { tenant_id: tenant.id } });
    const [first, second, third] = [child(), child(), child()];
    for (let times = 0; times < 60; times += 1) await Promise.all([probes.take(first), probes.take(second)]);
    const usedUp = { code: 'rate_limited', members: { scope: 'organization' } };
    await expect(probes.take(third)).rejects.toMatchObject(usedUp);
    // Neither what is known nor what is not tells anything any more, of its own as of its children's.
    const answer = await tenant.admin.post(USERS, { email: anAddress(), name: 'Probe' });
    expectProblem(answer, 429, 'rate_limited');
    const stranger = await bench.organization();
    expectStatus(await stranger.admin.post(USERS, { email: anAddress(), name: 'Unharmed' }), 201);
  });

  it('filters by status, address and the beginning of the name', async () => {
    const ana = await aUser({ name: 'Ana' });
    const andres = await aUser({ name: 'Andrés' });
    const ids = async (query: string): Promise<string[]> => {
      const { body } = await admin.get<Page<UserDto>>(`${USERS}?sort=created_at&${query}`);
      return body.data.map(({ id }) => id);
    };
    expect(await ids('name[prefix]=An')).toEqual([ana.id, andres.id]);
    expect(await ids('name[prefix]=aNdr')).toEqual([andres.id]);
    expect(await ids('name=ana')).toEqual([]);
    expect(await ids(`email=${ana.email}`)).toEqual([ana.id]);
    expect(await ids('status=active')).toEqual([]);
  });

  it('filters by ids: none of another organization', async () => {
    const ana = await aUser();
    const ben = await aUser();
    const stranger = (await bench.organization()).admin;
    const other = await stranger.post<UserDto>(USERS, { email: anAddress(), name: 'Other' });
    const asked = [ana.id, ben.id, other.body.id].join(',');
    const { body } = await admin.get<Page<UserDto>>(`${USERS}?sort=created_at&id[in]=${asked}`);
    expect(body.data.map(({ id }) => id)).toEqual([ana.id, ben.id]);
  });

  it('the address and the state are for their states only: 409 invalid_state', async () => {
    const invited = await aUser();
    expectProblem(await admin.patch(at(invited.id), { status: 'suspended' }), 409, 'invalid_state');
    const email = anAddress();
    expect((await admin.patch<UserDto>(at(invited.id), { email })).body.email).toBe(email);
    const active = await bench.person(home.id);
    expectProblem(await admin.patch(at(active), { email: anAddress() }), 409, 'invalid_state');
  });

  it('a suspension ends all sessions, and tells of it; active again they stay ended', async () => {
    const probe = kafkaProbe(bench.app);
    probe.collect('identity');
    const id = await bench.person(home.id);
    expect(await bench.endings(id)).toEqual([null]);
    expect((await admin.patch<UserDto>(at(id), { status: 'suspended' })).body.status).toBe('suspended');
    expect(await bench.endings(id)).toEqual(['user_disabled']);
    await admin.patch(at(id), { status: 'active' });
    expect(await bench.endings(id)).toEqual(['user_disabled']);
    await probe.expectEvents('identity.user.reactivated.v1', home.id, 1);
    expect(probe.events('identity.user.suspended.v1', home.id)[0]?.data).toMatchObject({
      id,
      changed: ['status'],
    });
    expect(probe.events('identity.session.ended.v1', home.id)[0]?.data).toMatchObject({
      user_id: id,
      reason: 'user_disabled',
    });
  });

  it('a deletion ends all sessions too; a purge takes what is left, once the user is a member of nothing', async () => {
    const id = await bench.person(home.id);
    const { membershipId } = await bench.member(home, id, 'analyst');
    expectStatus(await admin.delete(at(id)), 204);
    expect(await bench.endings(id)).toEqual(['user_disabled']);
    const problem = expectProblem(await admin.delete(at(id, '/purge')), 409, 'resource_referenced');
    expect(problem['references']).toEqual([{ module: 'identity', resource: 'memberships', count: 1 }]);
    expectStatus(await admin.delete(`/v1/identity/memberships/${membershipId}`), 204);
    expectStatus(await admin.delete(at(id, '/purge')), 204);
    expect(await bench.endings(id)).toEqual([]);
  });

  it('reset_mfa removes the factors, ends all sessions, and is on record', async () => {
    const id = await bench.person(home.id);
    await bench.within(home.id, (tx) =>
      tx.query(
        `INSERT INTO mfa_factors (organization_id, id, user_id, type, name, secret, confirmed_at, created_at)
         VALUES ($1, gen_random_uuid(), $2, 'totp', 'Phone', '\\x00', now(), now())`,
        [home.id, id],
      ),
    );
    expect((await admin.get<UserDto>(at(id))).body.mfa_enabled).toBe(true);
    expect((await admin.patch<UserDto>(at(id), { reset_mfa: true })).body.mfa_enabled).toBe(false);
    expect(await bench.endings(id)).toEqual(['mfa_changed']);
    const entries = await bench.database.query(
      'SELECT action, changed_fields FROM audit_entries WHERE resource_id = $1',
      [id],
    );
    expect(entries).toEqual([{ action: 'identity.users.update', changed_fields: ['reset_mfa'] }]);
    const problem = expectProblem(await admin.patch(at(id), { reset_mfa: false }), 400, 'validation_failed');
    expect(problem.errors?.[0]).toMatchObject({ pointer: '/reset_mfa' });
  });

  it('reset_mfa tells of all factors by the event of the first, so that their user has one mail', async () => {
    const id = await bench.person(home.id);
    await bench.within(home.id, (tx) =>
      tx.query(
        `INSERT INTO mfa_factors (organization_id, id, user_id, type, name, secret, confirmed_at, pending_until, created_at)
         SELECT $1, gen_random_uuid(), $2, 'totp', name, '\\x00', at,
                CASE WHEN at IS NULL THEN now() + interval '1 hour' END, now() + n * interval '1 s'
           FROM (VALUES (1, 'Phone', now()), (2, 'Tablet', now()), (3, 'Begun', NULL)) AS factor (n, name, at)`,
        [home.id, id],
      ),
    );
    expectStatus(await admin.patch(at(id), { reset_mfa: true }), 200);
    const told = await bench.database.query<{ names: string[] }>(
      `SELECT (message ->> 1)::json -> 'data' -> 'names' AS names FROM outbox, json_array_elements(messages) AS message
        WHERE topic = 'identity.domain-events' AND message ->> 1 LIKE '%mfa_factor.removed%' AND message ->> 1 LIKE $1`,
      [`%${id}%`],
    );
    expect(told.map(({ names }) => names)).toEqual([['Phone', 'Tablet'], []]);
  });

  describe('of a member', () => {
    it('another organization sees them while they are its member, and cannot change them', async () => {
      const id = await bench.person(home.id);
      const other = await bench.organization();
      expectProblem(await other.admin.get(at(id)), 404, 'not_found');
      await bench.join(other.id, id);
      expect((await other.admin.get<UserDto>(at(id))).body).toMatchObject({ id, organization_id: home.id });
      const { body } = await other.admin.get<Page<UserDto>>(USERS);
      expect(body.data.map((user) => user.id)).toEqual([id]);
      const calls = (caller: Caller) => [
        caller.patch(at(id), { name: 'Taken' }),
        caller.delete(at(id)),
        caller.post(at(id, '/restore')),
        caller.delete(at(id, '/purge')),
      ];
      // Neither of the two alone has a say while both have the user.
      for (const caller of [other.admin, admin])
        for (const answer of await Promise.all(calls(caller))) expectProblem(answer, 403, 'user_not_managed');
      await other.admin.delete(`/v1/identity/memberships?user_id=${id}`);
      expectProblem(await other.admin.get(at(id)), 404, 'not_found');
      expectStatus(await admin.patch(at(id), { name: 'Ours again' }), 200);
    });

    it('who is joining another organization just now: their home waits, and has no say any more', async () => {
      const id = await bench.person(home.id);
      const other = await bench.organization();
      const joining = new Client({ connectionString: bench.database.adminUrl });
      await joining.connect();
      try {
        await joining.query('BEGIN');
        await joining.query(
          `INSERT INTO memberships (organization_id, id, user_id, created_at, updated_at)
           VALUES ($1, gen_random_uuid(), $2, now(), now())`,
          [other.id, id],
        );
        const answer = admin.patch(at(id), { status: 'suspended' });
        const waiting = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
        await eventually(async () => expect(await bench.database.query(waiting)).toHaveLength(1));
        await joining.query('COMMIT');
        expectProblem(await answer, 403, 'user_not_managed');
      } finally {
        await joining.end();
      }
    });

    it('who holds more: neither address, factors, restore nor reactivation without holding it all', async () => {
      const id = await bench.person(home.id);
      await bench.member(home, id, 'analyst');
      const caller = await bench.caller(home, [
        'identity.users.update',
        'identity.users.delete',
        'identity.users.read',
      ]);
      expectProblem(await caller.patch(at(id), { reset_mfa: true }), 403, 'privilege_escalation');
      expectProblem(await caller.patch(at(id), { email: anAddress() }), 403, 'privilege_escalation');
      for (const body of [{ name: 'Harmless' }, { status: 'active' }, { status: 'suspended' }])
        expectStatus(await caller.patch(at(id), body), 200);
      const refused = expectProblem(
        await caller.patch(at(id), { status: 'active' }),
        403,
        'privilege_escalation',
      );
      expect(refused['missing']).toContain('core.contacts.read');
      expectStatus(await caller.patch(at(id), { status: 'suspended' }), 200);
      expectStatus(await caller.delete(at(id)), 204);
      const problem = expectProblem(await caller.post(at(id, '/restore')), 403, 'privilege_escalation');
      expect(problem['missing']).toContain('core.contacts.read');
      expectStatus(await admin.post(at(id, '/restore')), 200);
    });
  });
});
