import { newId } from '@customer-platform/database';
import { Caller, eventually, expectProblem, expectStatus, kafkaProbe } from '@customer-platform/testing';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { Acting } from '../impersonations/impersonation.fixture.js';
import { TestClient, signsIn } from '../oauth/browser.fixture.js';
import { NEW_PASSWORD, Resets } from '../password-resets/password-resets.fixture.js';
import { People, PASSWORD } from '../sign-in/page-visitor.fixture.js';
import { PasswordSignIn } from '../sign-in/password-sign-in.js';

const PATH = '/v1/identity/users/me/password';
const WRONG = 'not that of anybody';

interface Owner {
  readonly userId: string;
  readonly email: string;
  readonly caller: Caller;
  readonly sessionId: string;
}

let bench: IdentityBench;
let organization: TestOrganization;
let people: People;
let owner: Owner;
beforeAll(async () => {
  bench = await IdentityBench.start();
  people = new People(bench);
});
afterAll(() => bench.end());
beforeEach(async () => {
  organization = await bench.organization();
  const person = await people.person(organization);
  owner = { ...person, ...(await bench.signIn(organization.id, person.userId)) };
  // All calls come from one network, which has limits of its own.
  await bench.database.query('DELETE FROM password_attempts');
});

const change = (
  current: unknown = PASSWORD,
  password: unknown = NEW_PASSWORD,
  { caller = owner.caller, key }: { caller?: Caller; key?: string } = {},
) =>
  caller.post<{ code?: string }>(
    PATH,
    { current_password: current, password },
    key === undefined ? {} : { 'Idempotency-Key': key },
  );

/** Tells whether somebody is let in by the password. */
const opens = async (password: string): Promise<boolean> => {
  const signIn = bench.app.app.get(PasswordSignIn, { strict: false });
  const claim = { organizationId: organization.id, email: owner.email, password, ip: '198.51.100.9' };
  return (await signIn.check(claim)) !== undefined;
};

const olderBy = (minutes: number) =>
  bench.database.query(
    'UPDATE sessions SET authenticated_at = authenticated_at - make_interval(mins => $2) WHERE id = $1',
    [owner.sessionId, minutes],
  );

const withoutPassword = () =>
  bench.database.query('UPDATE users SET password_hash = NULL WHERE id = $1', [owner.userId]);

describe('who has come upon a session', () => {
  it('changes no password without the present one, and guesses it no more often than at sign-in', async () => {
    const without = await owner.caller.post(PATH, { password: NEW_PASSWORD });
    expect(expectProblem(without, 400, 'validation_failed').errors).toEqual([
      expect.objectContaining({ pointer: '/current_password', code: 'required' }),
    ]);
    for (let tried = 0; tried < 10; tried += 1)
      expectProblem(await change(WRONG), 422, 'current_password_invalid');
    const refused = await change();
    expect(expectProblem(refused, 429, 'rate_limited')).toMatchObject({ scope: 'user' });
    expect(refused.headers.get('retry-after')).toBe('900');
    const [{ count } = { count: -1 }] = await bench.database.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM password_attempts WHERE organization_id = $1',
      [organization.id],
    );
    expect(count).toBe(10);
  });

  it('guesses no more often with a key a call: what is refused counts all the same', async () => {
    for (let tried = 0; tried < 10; tried += 1)
      expectProblem(await change(WRONG, NEW_PASSWORD, { key: newId() }), 422, 'current_password_invalid');
    expectProblem(await change(PASSWORD, NEW_PASSWORD, { key: newId() }), 429, 'rate_limited');
  });

  it('of fifty guesses at once learns of ten at most', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => change(WRONG)));
    const looked = answers.filter(({ status }) => status === 422).length;
    expect(looked).toBeLessThanOrEqual(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(50 - looked);
  });

  it('gives nobody a first password in it: 403 fresh_sign_in_required', async () => {
    await withoutPassword();
    await olderBy(11);
    const answer = await owner.caller.post(PATH, { password: NEW_PASSWORD });
    expect(expectProblem(answer, 403, 'fresh_sign_in_required')).toMatchObject({ max_age: 600 });
    expect(await opens(NEW_PASSWORD)).toBe(false);
  });
});

describe('whoever else', () => {
  it('403 user_required for a key that may do everything', async () => {
    expectProblem(await change(PASSWORD, NEW_PASSWORD, { caller: organization.admin }), 403, 'user_required');
  });

  it('403 permission_denied for who acts as the person', async () => {
    const { as } = await (await Acting.of(bench)).started();
    const refused = expectProblem(
      await change(PASSWORD, NEW_PASSWORD, { caller: as }),
      403,
      'permission_denied',
    );
    expect(refused).toMatchObject({ permission: 'identity.account.manage' });
  });

  it('403 user_not_managed in the hands of a tenant’s client, which also learns nothing of a guess', async () => {
    const client = await TestClient.register(bench, organization);
    const { access_token: token } = await client.tokens(signsIn(owner.userId, organization.id));
    const hostile = new Caller(bench.app.url, token, () => true);
    expectProblem(await change(PASSWORD, NEW_PASSWORD, { caller: hostile }), 403, 'user_not_managed');
    expectProblem(await change(WRONG, NEW_PASSWORD, { caller: hostile }), 403, 'user_not_managed');
    expect(await opens(PASSWORD)).toBe(true);
  });

  it('another’s password is in no administrator’s reach: an id is no `me`', async () => {
    const other = await bench.organization();
    const body = { current_password: PASSWORD, password: NEW_PASSWORD };
    for (const admin of [organization.admin, other.admin])
      expectStatus(await admin.post(`/v1/identity/users/${owner.userId}/password`, body), 404);
  });

  it('403 mfa_required while the organization asks for a factor that the session has not', async () => {
    const policy = { settings: { mfa_policy: 'required' } };
    const path = `/v1/identity/organizations/${organization.id}`;
    expectStatus(await organization.admin.patch(path, policy), 200);
    await eventually(async () =>
      expectProblem(await owner.caller.get('/v1/identity/users/me'), 403, 'mfa_required'),
    );
    expectProblem(await change(), 403, 'mfa_required');
    expect(await opens(PASSWORD)).toBe(true);
  });
});

describe('POST /v1/identity/users/me/password', () => {
  it('replaces the password, ends all sessions but this one, and a link that was asked for', async () => {
    const probe = kafkaProbe(bench.app);
    probe.collect('identity');
    const resets = new Resets(bench);
    const person = { id: owner.userId, email: owner.email, organization };
    const token = await resets.token(person);
    const other = await bench.signIn(organization.id, owner.userId);
    const answer = await change();
    expectStatus(answer, 200);
    expect(answer.body).toEqual({});
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect([await opens(PASSWORD), await opens(NEW_PASSWORD)]).toEqual([false, true]);
    expectProblem(await other.caller.get('/v1/identity/users/me'), 401, 'invalid_token');
    expectStatus(await owner.caller.get('/v1/identity/users/me'), 200);
    const endings = await bench.endings(owner.userId);
    expect(endings.filter((reason) => reason === null)).toHaveLength(1);
    expectProblem(await resets.confirm(token), 401, 'invalid_token');
    const [event] = await probe.expectEvents('identity.password.changed.v1', organization.id, 1);
    expect(event?.data).toEqual({
      organization_id: organization.id,
      id: owner.userId,
      user_id: owner.userId,
    });
    const audited = await bench.database.query(
      `SELECT actor_type, actor_id, changed_fields FROM audit_entries
        WHERE action = 'identity.passwords.change' AND resource_id = $1`,
      [owner.userId],
    );
    expect(audited).toEqual([{ actor_type: 'user', actor_id: owner.userId, changed_fields: ['password'] }]);
  });

  it('of two at once one is done: the other knows the present one no more', async () => {
    const answers = await Promise.all(
      ['one', 'two'].map((word) => change(PASSWORD, `${NEW_PASSWORD} ${word}`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
    expect(await opens(`${NEW_PASSWORD} ${answers[0]?.status === 200 ? 'one' : 'two'}`)).toBe(true);
  });

  it('is done once with a key: the answer that was lost is given again, and nothing of the password is kept', async () => {
    const key = newId();
    expectStatus(await change(PASSWORD, NEW_PASSWORD, { key }), 200);
    const again = await change(PASSWORD, NEW_PASSWORD, { key });
    expectStatus(again, 200);
    expect(again.headers.get('idempotent-replay')).toBe('true');
    expectProblem(await change(PASSWORD, `${NEW_PASSWORD} also`, { key }), 422, 'idempotency_key_reused');
    // Without one, who asks again gives the former password.
    expectProblem(await change(), 422, 'current_password_invalid');
    const tables = await bench.database.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
        WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    );
    for (const { name } of tables) {
      const rows = await bench.database.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`);
      const text = rows.map(({ row }) => row).join('\n');
      expect([name, text.includes(PASSWORD), text.includes(NEW_PASSWORD)]).toEqual([name, false, false]);
    }
  });

  it.each<[string, string, unknown]>([
    ['/password', 'too_short', 'fourteen chars'],
    ['/password', 'too_long', 'x'.repeat(129)],
    ['/password', 'not_allowed', 'passwordpassword'],
    ['/password', 'not_allowed', PASSWORD],
    ['/password', 'wrong_type', 7],
  ])('400 %s %s', async (pointer, code, password) => {
    const problem = expectProblem(await change(PASSWORD, password), 400, 'validation_failed');
    expect(problem.errors).toEqual([expect.objectContaining({ pointer, code })]);
    expect(JSON.stringify(problem)).not.toContain(PASSWORD);
    expect(await opens(PASSWORD)).toBe(true);
  });

  it('says whether the present one is right before it says that the new one is the same', async () => {
    expectProblem(await change(WRONG, WRONG), 422, 'current_password_invalid');
  });

  it('takes a first password of who has signed in within ten minutes, and no present one', async () => {
    await withoutPassword();
    expectProblem(await change(), 400, 'validation_failed');
    expectStatus(await owner.caller.post(PATH, { password: NEW_PASSWORD }), 200);
    expect(await opens(NEW_PASSWORD)).toBe(true);
  });

  it('lets the person try again anywhere: wrong ones of before count no more', async () => {
    for (let tried = 0; tried < 9; tried += 1) await change(WRONG);
    expectStatus(await change(), 200);
    expectProblem(await change(WRONG), 422, 'current_password_invalid');
    expect(await opens(NEW_PASSWORD)).toBe(true);
  });
});
