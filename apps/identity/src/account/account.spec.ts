import { newId } from '@customer-platform/database';
import { Caller, eventually, expectProblem, expectStatus, kafkaProbe } from '@customer-platform/testing';
import { IdentityBench, type SignedIn, type TestOrganization } from '../identity-app.fixture.js';
import { Acting } from '../impersonations/impersonation.fixture.js';
import { TestClient, signsIn } from '../oauth/browser.fixture.js';
import type { AccountDto } from './account.dto.js';

const ME = '/v1/identity/users/me';

let bench: IdentityBench;
let organization: TestOrganization;
let person: SignedIn;
beforeAll(async () => {
  bench = await IdentityBench.start();
});
afterAll(() => bench.end());
beforeEach(async () => {
  organization = await bench.organization();
  person = await bench.signedIn(organization, 'analyst');
});

const own = async (caller = person.caller): Promise<AccountDto> => {
  const answer = await caller.get<AccountDto>(ME);
  expectStatus(answer, 200);
  return answer.body;
};

/** Makes somebody who is at home elsewhere a member with a role. */
async function asAnalyst({ id, admin }: TestOrganization, userId: string): Promise<void> {
  await bench.join(id, userId);
  const idIn = async (path: string): Promise<string | undefined> =>
    (await admin.get<{ data: { id: string }[] }>(path)).body.data[0]?.id;
  const membership_id = await idIn(`/v1/identity/memberships?user_id=${userId}`);
  const roles = await admin.get<{ data: { id: string; key: string | null }[] }>(
    '/v1/identity/roles?built_in=true&kind=human',
  );
  const role_id = roles.body.data.find(({ key }) => key === 'analyst')?.id;
  expectStatus(await admin.post('/v1/identity/role-assignments', { membership_id, role_id }), 201);
}

describe('GET /v1/identity/users/me', () => {
  it('shows the person, to whom no administrator has given anything', async () => {
    expect(await own()).toMatchObject({
      id: person.userId,
      email: `${person.userId}@example.com`,
      name: 'Somebody',
      locale: null,
      timezone: null,
      has_password: false,
      mfa_enabled: false,
      organization_id: organization.id,
    });
    expectProblem(await person.caller.get(`/v1/identity/users/${person.userId}`), 403, 'permission_denied');
  });

  it('403 user_required for a key that may do everything', async () => {
    expectProblem(await organization.admin.get(ME), 403, 'user_required');
    expectProblem(await organization.admin.patch(ME, { name: 'Key' }), 403, 'user_required');
  });
});

describe('PATCH /v1/identity/users/me', () => {
  it('changes name, language and zone, by the names that they have; null clears', async () => {
    const changes = { name: 'Ana Rojas', locale: 'es-cl', timezone: 'america/santiago' };
    const answer = await person.caller.patch<AccountDto>(ME, changes);
    expectStatus(answer, 200);
    const shown = { name: 'Ana Rojas', locale: 'es-CL', timezone: 'America/Santiago' };
    expect(answer.body).toMatchObject(shown);
    expect(await own()).toMatchObject(shown);
    await person.caller.patch(ME, { locale: null, timezone: null });
    expect(await own()).toMatchObject({ name: 'Ana Rojas', locale: null, timezone: null });
  });

  it.each([
    ['/name', 'too_short', { name: '' }],
    ['/name', 'too_long', { name: 'x'.repeat(81) }],
    ['/name', 'wrong_type', { name: null }],
    ['/locale', 'invalid_format', { locale: '???' }],
    ['/timezone', 'invalid_format', { timezone: 'America/Nowhere' }],
    ['/timezone', 'invalid_format', { timezone: '+03:00' }],
    ['/timezone', 'invalid_format', { timezone: 'IST' }],
    ['/email', 'immutable', { email: 'other@example.com' }],
    ['/status', 'immutable', { status: 'active' }],
    ['/organization_id', 'immutable', { organization_id: newId() }],
    ['/has_password', 'immutable', { has_password: true }],
    ['/password', 'unknown_field', { password: 'a very long password' }],
    ['/reset_mfa', 'unknown_field', { reset_mfa: true }],
  ])('400 %s %s', async (pointer, code, body) => {
    const problem = expectProblem(await person.caller.patch(ME, body), 400, 'validation_failed');
    expect(problem.errors).toEqual([expect.objectContaining({ pointer, code })]);
  });

  it('412 for a state that is not the last any more, and of two at once by one tag the first alone', async () => {
    const { headers } = await person.caller.get(ME);
    const match = { 'If-Match': headers.get('etag') ?? '' };
    const answers = await Promise.all(
      ['First', 'Second'].map((name) => person.caller.patch(ME, { name }, match)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
    const { headers: now } = await person.caller.get(ME);
    const taken = answers.find(({ status }) => status === 200);
    expect(taken?.headers.get('etag')).toBe(now.get('etag'));
  });

  it('is told in the home, also from a session elsewhere, without a value', async () => {
    const probe = kafkaProbe(bench.app);
    probe.collect('identity');
    const elsewhere = await bench.organization();
    await asAnalyst(elsewhere, person.userId);
    const { caller } = await bench.signIn(elsewhere.id, person.userId);
    expectStatus(await caller.patch(ME, { timezone: 'America/Lima' }), 200);
    const [event] = await probe.expectEvents('identity.user.updated.v1', organization.id, 1);
    expect(event?.data).toEqual({
      organization_id: organization.id,
      id: person.userId,
      changed: ['timezone'],
    });
    const audited = await bench.database.query(
      `SELECT organization_id, actor_type, actor_id, changed_fields FROM audit_entries
        WHERE action = 'identity.users.update' AND resource_id = $1`,
      [person.userId],
    );
    expect(audited).toEqual([
      {
        organization_id: organization.id,
        actor_type: 'user',
        actor_id: person.userId,
        changed_fields: ['timezone'],
      },
    ]);
  });

  it('403 for whoever acts as the person, who reads it', async () => {
    const acting = await Acting.of(bench);
    const { as } = await acting.started();
    expect((await own(as)).id).toBe(acting.user.userId);
    const refused = expectProblem(await as.patch(ME, { name: 'Other' }), 403, 'permission_denied');
    expect(refused).toMatchObject({ permission: 'identity.account.manage' });
  });

  it('403 user_not_managed in the hands of a tenant’s client: the name is the same elsewhere', async () => {
    const client = await TestClient.register(bench, organization);
    const { access_token: token } = await client.tokens(signsIn(person.userId, organization.id));
    const hostile = new Caller(bench.app.url, token, () => true);
    expectProblem(await hostile.patch(ME, { name: 'Theirs' }), 403, 'user_not_managed');
    expect((await own()).name).toBe('Somebody');
  });

  it('403 mfa_required while the organization asks for a factor that the session has not', async () => {
    expectStatus(
      await organization.admin.patch(`/v1/identity/organizations/${organization.id}`, {
        settings: { mfa_policy: 'required' },
      }),
      200,
    );
    await eventually(async () =>
      expectProblem(await person.caller.patch(ME, { name: 'Other' }), 403, 'mfa_required'),
    );
  });

  it('says the zone to applications by the scope `profile`', async () => {
    expectStatus(await person.caller.patch(ME, { timezone: 'America/Lima' }), 200);
    const client = await TestClient.register(bench, organization);
    const { access_token: token } = await client.tokens(signsIn(person.userId, organization.id), {
      further: { scope: 'openid profile' },
    });
    const { body } = await new Caller(bench.app.url, token, () => true).get('/oauth/userinfo');
    expect(body).toMatchObject({ zoneinfo: 'America/Lima' });
  });
});
