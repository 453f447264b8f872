import { newId } from '@customer-platform/database';
import { Caller, eventually, expectProblem, expectStatus } from '@customer-platform/testing';
import { Secret, TOTP } from 'otpauth';
import { IdentityBench, type SignedIn, type TestOrganization } from '../identity-app.fixture.js';
import { TestClient, type Answers } from '../oauth/browser.fixture.js';
import type { EnrolledFactorDto, MfaDto, RecoveryCodesDto, VerifiedDto } from './mfa.dto.js';

const MFA = '/v1/identity/mfa';

let bench: IdentityBench;
let organization: TestOrganization;
let user: SignedIn;
beforeAll(async () => {
  bench = await IdentityBench.start();
});
afterAll(() => bench.end());
beforeEach(async () => {
  organization = await bench.organization();
  user = await bench.signedIn(organization, 'analyst');
});

const codeOf = (secret: string, timestamp = Date.now()): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp });

async function enroll(caller = user.caller): Promise<EnrolledFactorDto> {
  const answer = await caller.post<EnrolledFactorDto>(`${MFA}/enroll`, { type: 'totp', name: 'Phone' });
  expectStatus(answer, 200);
  return answer.body;
}

const verify = (body: object, caller = user.caller) => caller.post<VerifiedDto>(`${MFA}/verify`, body);

/** A confirmed factor, and the recovery codes that came with it. */
async function confirmed(): Promise<{ factor: EnrolledFactorDto; codes: string[] }> {
  const factor = await enroll();
  const answer = await verify({ factor_id: factor.factor_id, code: codeOf(factor.secret) });
  expectStatus(answer, 200);
  return { factor, codes: answer.body.recovery_codes ?? [] };
}

/** The step that a factor took last is forgotten: the next code need not be waited for. */
const nextStep = (factorId: string) =>
  bench.database.query('UPDATE mfa_factors SET last_step = NULL WHERE id = $1', [factorId]);

describe('the second factor', () => {
  it('is the user’s own affair: 403 user_required for an API key', async () => {
    expectProblem(await organization.admin.get(MFA), 403, 'user_required');
    expectProblem(await organization.admin.post(`${MFA}/enroll`, {}), 403, 'user_required');
  });

  it('is begun by who has signed in within ten minutes: 403 fresh_sign_in_required in a session that was come upon', async () => {
    const since = (minutes: number) =>
      bench.database.query(
        'UPDATE sessions SET authenticated_at = authenticated_at - make_interval(mins => $2) WHERE id = $1',
        [user.sessionId, minutes],
      );
    await since(9);
    const begun = await enroll();
    await since(2);
    const body = { type: 'totp', name: 'Mine' };
    const answer = await user.caller.post(`${MFA}/enroll`, body);
    expect(expectProblem(answer, 403, 'fresh_sign_in_required')).toMatchObject({ max_age: 600 });
    // What was begun in time is confirmed in its own.
    expectStatus(await verify({ factor_id: begun.factor_id, code: codeOf(begun.secret) }), 200);
  });

  it('begins with a secret for an authenticator app, and holds once a first code was given', async () => {
    const factor = await enroll();
    const uri = new URL(factor.otpauth_uri);
    expect([uri.protocol, uri.host, uri.searchParams.get('secret')]).toEqual([
      'otpauth:',
      'totp',
      factor.secret,
    ]);
    expect((await user.caller.get<MfaDto>(MFA)).body).toMatchObject({
      factors: [{ id: factor.factor_id, type: 'totp', name: 'Phone', confirmed_at: null }],
      recovery_codes_left: 0,
    });
    const other = await bench.signIn(organization.id, user.userId);
    const { body } = await verify({ factor_id: factor.factor_id, code: codeOf(factor.secret) });
    expect(body).toMatchObject({
      session_id: user.sessionId,
      confirmed_factor_id: factor.factor_id,
      recovery_codes_left: 10,
    });
    expect(new Set(body.recovery_codes).size).toBe(10);
    for (const code of body.recovery_codes ?? [])
      expect(code).toMatch(/^([0-9A-HJKMNP-TV-Z]{6}-){3}[0-9A-HJKMNP-TV-Z]{6}$/);
    expect((await user.caller.get<MfaDto>(MFA)).body.factors[0]?.confirmed_at).not.toBeNull();
    const rows = await bench.database.query<{ id: string; ended_reason: string | null; amr: string[] }>(
      'SELECT id, ended_reason, amr FROM sessions WHERE id = ANY ($1::uuid[])',
      [[user.sessionId, other.sessionId]],
    );
    expect(rows.find(({ id }) => id === user.sessionId)).toMatchObject({
      ended_reason: null,
      amr: ['mfa', 'otp', 'pwd'],
    });
    expect(rows.find(({ id }) => id === other.sessionId)?.ended_reason).toBe('mfa_changed');
  });

  it('keeps no secret and no code in the clear, anywhere', async () => {
    const { factor, codes } = await confirmed();
    const dump = JSON.stringify(
      await bench.database.query(
        `SELECT (SELECT json_agg(f) FROM mfa_factors f) AS factors, (SELECT json_agg(c) FROM recovery_codes c) AS codes,
                (SELECT json_agg(a) FROM audit_entries a) AS audit, (SELECT json_agg(o) FROM outbox o) AS outbox`,
      ),
    );
    for (const secret of [factor.secret, ...codes]) {
      expect(dump).not.toContain(secret);
      expect(dump).not.toContain(Buffer.from(secret).toString('hex'));
    }
  });

  it('takes a code once, also when fifty come at the same moment', async () => {
    const { factor } = await confirmed();
    await nextStep(factor.factor_id);
    const body = { factor_id: factor.factor_id, code: codeOf(factor.secret) };
    const answers = await Promise.all(Array.from({ length: 50 }, () => verify(body)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(44);
  });

  it('takes a code five seconds late, and neither later nor early', async () => {
    const { factor } = await confirmed();
    const { stepOf } = await import('./totp.js');
    const begin = 1_800_000_000_000;
    const code = codeOf(factor.secret, begin);
    const at = (ms: number) => stepOf(factor.secret, code, new Date(begin + ms));
    expect(at(0)).toBe(begin / 30_000);
    expect(at(29_999)).toBe(begin / 30_000);
    expect(at(34_999)).toBe(begin / 30_000);
    expect(at(35_000)).toBeUndefined();
    expect(at(-1)).toBeUndefined();
  });

  it('422 for a wrong code, of another’s factor too; after five of them in a quarter of an hour 429', async () => {
    const { factor } = await confirmed();
    const stranger = await bench.signedIn(organization, 'analyst');
    const foreign = await enroll(stranger.caller);
    const wrong = [
      { factor_id: factor.factor_id, code: '000000' },
      { factor_id: foreign.factor_id, code: codeOf(foreign.secret) },
      { factor_id: newId(), code: '123456' },
      { recovery_code: 'nonsense' },
      { recovery_code: '000000-000000-000000-000000' },
    ];
    for (const body of wrong) expectProblem(await verify(body), 422, 'mfa_code_invalid');
    await nextStep(factor.factor_id);
    const right = { factor_id: factor.factor_id, code: codeOf(factor.secret) };
    const answer = await verify(right);
    expectProblem(answer, 429, 'rate_limited');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(800);
    await bench.database.query(`UPDATE mfa_failures SET failed_at = failed_at - interval '16 minutes'`);
    expectStatus(await verify(right), 200);
  });

  it('that waited ten minutes is none any more', async () => {
    const factor = await enroll();
    await bench.database.query(
      `UPDATE mfa_factors SET pending_until = now() - interval '1 s' WHERE id = $1`,
      [factor.factor_id],
    );
    expectProblem(
      await verify({ factor_id: factor.factor_id, code: codeOf(factor.secret) }),
      422,
      'mfa_code_invalid',
    );
    expect((await user.caller.get<MfaDto>(MFA)).body.factors).toEqual([]);
  });

  it('a further one needs the first; 409 beyond five', async () => {
    await confirmed();
    const { caller } = await bench.signIn(organization.id, user.userId);
    expectProblem(await caller.post(`${MFA}/enroll`, { type: 'totp', name: 'Tablet' }), 403, 'mfa_required');
    const shift = `UPDATE sessions SET mfa_at = mfa_at + $2::interval WHERE id = $1`;
    await bench.database.query(shift, [user.sessionId, '-11 minutes']);
    expectProblem(
      await user.caller.post(`${MFA}/enroll`, { type: 'totp', name: 'Tablet' }),
      403,
      'mfa_required',
    );
    await bench.database.query(shift, [user.sessionId, '11 minutes']);
    for (let count = 2; count <= 5; count += 1) await enroll();
    expectProblem(
      await user.caller.post(`${MFA}/enroll`, { type: 'totp', name: 'Sixth' }),
      409,
      'limit_reached',
    );
  });

  it('that was begun before the first is no further one by a password alone', async () => {
    const early = await enroll();
    await confirmed();
    const { caller } = await bench.signIn(organization.id, user.userId);
    const body = { factor_id: early.factor_id, code: codeOf(early.secret) };
    expectProblem(await verify(body, caller), 403, 'mfa_required');
    expectStatus(await verify(body), 200);
  });

  it.each([
    ['/type', { type: 'sms', name: 'Phone' }],
    ['/name', { type: 'totp', name: '' }],
    ['/names', { type: 'totp', name: 'Phone', names: 'x' }],
  ])('400 for an enrolment: %s', async (pointer, body) => {
    const problem = expectProblem(await user.caller.post(`${MFA}/enroll`, body), 400, 'validation_failed');
    expect(problem.errors).toEqual([expect.objectContaining({ pointer })]);
  });

  it.each([
    {},
    { code: '123456' },
    { factor_id: newId() },
    { recovery_code: 'x', code: '123456' },
    { code: '12345' },
  ])('400 for a verification of %j', async (body) => {
    expectProblem(await verify(body), 400, 'validation_failed');
  });
});

describe('recovery codes', () => {
  it('stand in for a factor once, spelt as one likes, also when fifty come at the same moment', async () => {
    const { codes } = await confirmed();
    const { caller, sessionId } = await bench.signIn(organization.id, user.userId);
    const spelt = (codes[0] ?? '').toLowerCase().replaceAll('-', ' ');
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => verify({ recovery_code: spelt }, caller)),
    );
    const passed = answers.filter(({ status }) => status === 200);
    expect(passed).toHaveLength(1);
    expect(passed[0]?.body).toEqual({
      session_id: sessionId,
      confirmed_factor_id: null,
      recovery_codes: null,
      recovery_codes_left: 9,
    });
  });

  it('are replaced by ten new ones; the former are dead', async () => {
    const { codes } = await confirmed();
    const answer = await user.caller.post<RecoveryCodesDto>(`${MFA}/recovery-codes`);
    expectStatus(answer, 200);
    expect(answer.body.recovery_codes).toHaveLength(10);
    expectProblem(await verify({ recovery_code: codes[0] }), 422, 'mfa_code_invalid');
    expectStatus(await verify({ recovery_code: answer.body.recovery_codes[0] }), 200);
    const rows = await bench.database.query<{ action: string }>(
      'SELECT action FROM audit_entries WHERE organization_id = $1 AND resource_id = $2 ORDER BY id',
      [organization.id, user.userId],
    );
    expect(rows.map(({ action }) => action)).toEqual([
      'identity.mfa.confirm',
      'identity.mfa.replace_recovery_codes',
      'identity.mfa.use_recovery_code',
    ]);
  });

  it('need a second factor given within ten minutes: 403 mfa_required', async () => {
    const other = await bench.signIn(organization.id, user.userId);
    expectProblem(await other.caller.post(`${MFA}/recovery-codes`), 403, 'mfa_required');
    await confirmed();
    await bench.database.query(`UPDATE sessions SET mfa_at = mfa_at - interval '11 minutes' WHERE id = $1`, [
      user.sessionId,
    ]);
    expectProblem(await user.caller.post(`${MFA}/recovery-codes`), 403, 'mfa_required');
  });
});

describe('an organization’s client', () => {
  const REFUSED = [403, 'user_not_managed'] as const;

  /** Somebody's token in the hands of a client, which need not be of the organization that it is of. */
  async function tokenOf(client: TestClient, amr: readonly string[] = ['pwd']): Promise<Caller> {
    const answers: Answers = ({ prompt, scopes }) =>
      prompt === 'consent'
        ? { consent: scopes }
        : {
            signedIn: { userId: user.userId, amr, authenticatedAt: new Date() },
            organizationId: organization.id,
          };
    const { access_token: token } = await client.tokens(answers);
    return new Caller(bench.app.url, token, () => true);
  }

  it('neither sets a user’s first factor, nor confirms one: they hold in other organizations too', async () => {
    const hostile = await tokenOf(await TestClient.register(bench, organization));
    expectProblem(await hostile.post(`${MFA}/enroll`, { type: 'totp', name: 'Theirs' }), ...REFUSED);
    const factor = await enroll();
    const body = { factor_id: factor.factor_id, code: codeOf(factor.secret) };
    expectProblem(await verify(body, hostile), ...REFUSED);
    expectStatus(await verify(body), 200);
  });

  it('adds no factor and takes no recovery codes in a session that has one, however fresh', async () => {
    const { codes } = await confirmed();
    const hostile = await tokenOf(await TestClient.register(bench, organization), ['pwd', 'otp', 'mfa']);
    expectProblem(await hostile.post(`${MFA}/enroll`, { type: 'totp', name: 'Theirs' }), ...REFUSED);
    expectProblem(await hostile.post(`${MFA}/recovery-codes`), ...REFUSED);
    expectProblem(await verify({ recovery_code: codes[0] }, hostile), ...REFUSED);
    expectStatus(await verify({ recovery_code: codes[0] }), 200);
  });

  it('uses up none of the wrong codes that the user is forgiven', async () => {
    const { factor } = await confirmed();
    const hostile = await tokenOf(await TestClient.register(bench, organization));
    const wrong = { factor_id: factor.factor_id, code: '000000' };
    for (let i = 0; i < 6; i += 1) expectProblem(await verify(wrong, hostile), ...REFUSED);
    await nextStep(factor.factor_id);
    expectStatus(await verify({ factor_id: factor.factor_id, code: codeOf(factor.secret) }), 200);
  });

  it('of the root is the platform’s own, and does', async () => {
    const caller = await tokenOf(await TestClient.ofRoot(bench));
    const factor = await enroll(caller);
    expectStatus(await verify({ factor_id: factor.factor_id, code: codeOf(factor.secret) }, caller), 200);
  });
});

describe('an operator', () => {
  it('takes the factors and recovery codes of who has lost them, and ends the sessions everywhere', async () => {
    await confirmed();
    const elsewhere = await bench.organization();
    await bench.join(elsewhere.id, user.userId);
    const other = await bench.signIn(elsewhere.id, user.userId);
    const email = `${user.userId}@example.com`.toUpperCase();
    const taken = { userId: user.userId, factors: 1, recoveryCodes: 10 };
    expect(await bench.operator.resetFactors(email)).toEqual(taken);
    expect(await bench.endings(user.userId)).not.toContain(null);
    await eventually(async () => expectProblem(await other.caller.get(MFA), 401, 'invalid_token'));
    const { caller } = await bench.signIn(organization.id, user.userId);
    expect((await caller.get<MfaDto>(MFA)).body).toEqual({ factors: [], recovery_codes_left: 0 });
    const audit = await bench.database.query(
      `SELECT organization_id, actor_type || ' ' || actor_id AS actor, action, changed_fields
         FROM audit_entries WHERE resource_id = $1 ORDER BY id DESC LIMIT 1`,
      [user.userId],
    );
    expect(audit).toEqual([
      {
        organization_id: organization.id,
        actor: 'system reset-factors',
        action: 'identity.users.update',
        changed_fields: ['reset_mfa'],
      },
    ]);
    expect(await bench.operator.resetFactors(email)).toEqual({ ...taken, factors: 0, recoveryCodes: 0 });
  });

  it('is told that nobody has an address', async () => {
    await expect(bench.operator.resetFactors(`${newId()}@example.com`)).rejects.toThrow('Nobody has');
  });
});

describe('a policy of two factors', () => {
  it('lets a user enrol, and do all else once the session has the second one', async () => {
    const owner = await bench.signedIn(organization);
    const reads = (caller: Caller) => caller.get('/v1/identity/roles?limit=1');
    await organization.admin.patch(`/v1/identity/organizations/${organization.id}`, {
      settings: { mfa_policy: 'required' },
    });
    await eventually(async () => expectProblem(await reads(owner.caller), 403, 'mfa_required'));
    const factor = await enroll(owner.caller);
    expectStatus(
      await verify({ factor_id: factor.factor_id, code: codeOf(factor.secret) }, owner.caller),
      200,
    );
    await eventually(async () => expectStatus(await reads(owner.caller), 200));
  });
});
