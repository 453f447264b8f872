import { newId } from '@customer-platform/database';
import {
  DatabaseFault,
  eventually,
  expectProblem,
  expectStatus,
  kafkaProbe,
} from '@customer-platform/testing';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { PasswordResetLimits } from './password-reset-limits.js';
import { NEW_PASSWORD, Resets, RESETS, type Person } from './password-resets.fixture.js';

let bench: IdentityBench;
let organization: TestOrganization;
let resets: Resets;
beforeAll(async () => {
  bench = await IdentityBench.start();
  resets = new Resets(bench);
});
afterAll(() => bench.end());
beforeEach(async () => {
  organization = await bench.organization();
  // All tests come from one address, which has its own limit.
  await bench.database.query(`DELETE FROM password_reset_limits WHERE asker LIKE 'ip %'`);
});

const requestedOf = async ({ id }: Person): Promise<number> => {
  const [row] = await bench.database.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM audit_entries
      WHERE action = 'identity.passwords.request_reset' AND resource_id = $1`,
    [id],
  );
  return row?.count ?? 0;
};

describe('POST /v1/identity/password-resets', () => {
  it('202 and the same answer for whoever has the address, and nobody', async () => {
    const person = await resets.person(organization);
    const invited = resets.address();
    await organization.admin.post('/v1/identity/users', { email: invited, name: 'Written down' });
    const answers = await Promise.all(
      [person.email, person.email.toUpperCase(), invited, resets.address()].map((email) => resets.ask(email)),
    );
    for (const answer of answers) {
      expectStatus(answer, 202);
      expect(answer.body).toEqual({});
      expect(answer.headers.get('cache-control')).toBe('no-store');
    }
    const shown = answers.map(({ headers }) =>
      [...headers.keys()].filter((name) => !['date', 'x-correlation-id'].includes(name)).sort(),
    );
    expect(new Set(shown.map((names) => names.join())).size).toBe(1);
    await resets.settled();
    // Only who has an account has a reset, the second of which has ended the first.
    expect(await resets.row(person)).toMatchObject({ generation: 2, open: true });
    const rows = await bench.database.query(
      `SELECT 1 FROM password_resets r JOIN users u ON u.id = r.user_id WHERE u.email = $1`,
      [invited],
    );
    expect(rows).toEqual([]);
  });

  it('400 for what is no address, whoever it might be', async () => {
    for (const email of ['nobody', '', 7, `${'a'.repeat(250)}@example.com`, `${'İ'.repeat(200)}@example.com`])
      expectProblem(await bench.app.with().post(RESETS, { email, locale: 'es' }), 400, 'validation_failed');
    expectProblem(await resets.ask('ana@example.com', { locale: 'no locale!' }), 400, 'validation_failed');
  });

  it('sends five an hour for an address, also asked for at the same moment; the last token lives on', async () => {
    const person = await resets.person(organization);
    const answers = await Promise.all(Array.from({ length: 20 }, () => resets.ask(person.email)));
    for (const answer of answers) expectStatus(answer, 202);
    await resets.settled();
    expect(await requestedOf(person)).toBe(5);
    const { body } = await resets.link(person);
    expectStatus(await resets.ask(person.email), 202);
    await resets.settled();
    expect((await resets.link(person)).body.link).toBe(body.link);
    expectStatus(await resets.confirm(new URL(body.link).searchParams.get('token')), 200);
  });

  it('sends to the others where one cannot be sent, and that once it can', async () => {
    const [first, second] = [await resets.person(organization), await resets.person(organization)];
    const fault = await DatabaseFault.in(bench.database, {
      table: 'password_resets',
      on: 'INSERT',
      when: `NEW.user_id = '${first.id}'`,
    });
    for (const { email } of [first, second]) expectStatus(await resets.ask(email), 202);
    await eventually(async () => expect(await requestedOf(second)).toBe(1));
    expect(await requestedOf(first)).toBe(0);
    await fault.mend();
    await resets.settled();
    expect(await requestedOf(first)).toBe(1);
  });

  it('sends again once the hour is over', async () => {
    const person = await resets.person(organization);
    for (let at = 0; at < 6; at += 1) await resets.ask(person.email);
    await resets.settled();
    await bench.database.query(
      `UPDATE password_reset_limits SET asked_at[1] = now() - interval '61 minutes' WHERE asker = $1`,
      [`email ${person.email}`],
    );
    await Promise.all([resets.ask(person.email), resets.ask(person.email)]);
    await resets.settled();
    expect(await requestedOf(person)).toBe(6);
  });

  it('sends sixty an hour for an IP, whatever addresses it asks for', async () => {
    const person = await resets.person(organization);
    for (let at = 0; at < 6; at += 1)
      await Promise.all(Array.from({ length: 10 }, () => resets.ask(resets.address())));
    expectStatus(await resets.ask(person.email), 202);
    await resets.settled();
    expect(await resets.row(person)).toBeUndefined();
  });

  it('sends sixteen times as many for an IPv6 /48 as for one of its networks', async () => {
    const limits = bench.app.app.get(PasswordResetLimits, { strict: false });
    const take = (ip: string): Promise<boolean> =>
      bench.within(organization.id, (tx) => limits.take(tx, resets.address(), ip));
    for (let at = 0; at < 60; at += 1) expect(await take('2001:db8:1:1::1')).toBe(true);
    expect(await take('2001:db8:1:1::2')).toBe(false);
    expect(await take('2001:db8:1:2::1')).toBe(true);
    await bench.database.query(
      `UPDATE password_reset_limits SET asked_at = asked_at || array_fill(asked_at[1], ARRAY[960 - cardinality(asked_at)])
        WHERE asker = 'ip 2001:db8:1::/48'`,
    );
    expect(await take('2001:db8:1:3::1')).toBe(false);
    expect(await take('2001:db8:2:1::1')).toBe(true);
  });

  it('sends nothing to who is suspended or deleted', async () => {
    for (const state of [`status = 'suspended'`, 'deleted_at = now()']) {
      const person = await resets.person(organization);
      await bench.database.query(`UPDATE users SET ${state} WHERE id = $1`, [person.id]);
      expectStatus(await resets.ask(person.email), 202);
      await resets.settled();
      expect(await resets.row(person)).toBeUndefined();
    }
  });

  it('is told at the user’s home, and audited as the platform’s act, without a token', async () => {
    const probe = kafkaProbe(bench.app);
    probe.collect('identity');
    const person = await resets.person(organization);
    const correlationId = newId();
    const headers = { 'x-correlation-id': correlationId };
    await bench.app.with().post(RESETS, { email: person.email, locale: 'ES-cl' }, headers);
    const [event] = await probe.expectEvents('identity.password.reset_requested.v1', organization.id, 1);
    const row = await resets.row(person);
    expect(row?.locale).toBe('es-CL');
    expect(event).toMatchObject({
      correlationid: correlationId,
      subject: `password-resets/${row?.id ?? ''}`,
    });
    expect(event?.data).toEqual({ organization_id: organization.id, id: row?.id, user_id: person.id });
    const audited = await bench.database.query(
      `SELECT actor_type, actor_id, resource_id, ip IS NOT NULL AS has_ip FROM audit_entries
        WHERE correlation_id = $1`,
      [correlationId],
    );
    expect(audited).toEqual([
      { actor_type: 'system', actor_id: 'password-resets', resource_id: person.id, has_ip: true },
    ]);
  });
});

describe('the link', () => {
  it('is messaging’s alone to ask for, and leads to the page of the provider', async () => {
    const person = await resets.person(organization);
    await resets.ask(person.email, { locale: 'en' });
    await resets.settled();
    for (const module of ['core', 'crm', 'loyalty'])
      expect((await resets.link(person, module)).status).toBe(403);
    const { body } = await resets.link(person);
    expect(body).toMatchObject({
      address: person.email,
      locale: 'en',
      organization_name: expect.any(String) as string,
      expires_at: expect.any(String) as string,
    });
    expect(body.link).toMatch(/^http:\/\/127\.0\.0\.1:8080\/oauth\/password-reset\?token=pwr_[\w-]{91}$/);
    await resets.confirm(new URL(body.link).searchParams.get('token'));
    expectProblem(await resets.link(person), 404, 'not_found');
  });
});

describe('POST /v1/identity/password-resets/confirm', () => {
  it('sets the password, ends all sessions everywhere, signs nobody in and leaves factors alone', async () => {
    const probe = kafkaProbe(bench.app);
    probe.collect('identity');
    const person = await resets.person(organization);
    const { caller } = await bench.signIn(organization.id, person.id);
    await bench.database.query(
      `INSERT INTO mfa_factors (organization_id, id, user_id, type, name, secret, confirmed_at, created_at)
       VALUES ($1, $2, $3, 'totp', 'Phone', '\\x00', now(), now())`,
      [organization.id, newId(), person.id],
    );
    const former = await resets.hashOf(person);
    const answer = await resets.confirm(await resets.token(person));
    expectStatus(answer, 200);
    expect(answer.body).toEqual({});
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect(await resets.hashOf(person)).not.toBe(former);
    expect(new Set(await bench.endings(person.id))).toEqual(new Set(['password_changed']));
    expectProblem(await caller.get('/v1/identity/sessions'), 401, 'invalid_token');
    const factors = await bench.database.query('SELECT 1 FROM mfa_factors WHERE user_id = $1', [person.id]);
    expect(factors).toHaveLength(1);
    const [event] = await probe.expectEvents('identity.password.changed.v1', organization.id, 1);
    const { id } = person;
    expect(event?.data).toEqual({ organization_id: organization.id, id, user_id: id });
    const audited = await bench.database.query(
      `SELECT actor_type, actor_id, changed_fields FROM audit_entries
        WHERE action = 'identity.passwords.change' AND resource_id = $1`,
      [id],
    );
    expect(audited).toEqual([{ actor_type: 'user', actor_id: id, changed_fields: ['password'] }]);
  });

  it('works once: of fifty at the same moment one is let in, the others are 401', async () => {
    const person = await resets.person(organization);
    const token = await resets.token(person);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => resets.confirm(token, `${NEW_PASSWORD} ${String(at)}`)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expectProblem(answer, 401, 'invalid_token');
      expect(answer.headers.get('www-authenticate')).toContain('Bearer');
    }
  });

  it('401 for none, nonsense, and one altered anywhere; an invitation’s is none', async () => {
    const person = await resets.person(organization);
    const token = await resets.token(person);
    expectProblem(await resets.confirm(undefined), 401, 'missing_credentials');
    expectProblem(await resets.confirm(7), 401, 'missing_credentials');
    const altered = [...token].map(
      (character, at) => token.slice(0, at) + (character === 'A' ? 'B' : 'A') + token.slice(at + 1),
    );
    const others = ['', 'nonsense', `${token}A`, token.slice(0, -1), token.replace('pwr_', 'inv_')];
    for (const text of [...others, ...altered])
      expectProblem(await resets.confirm(text), 401, 'invalid_token');
    expectStatus(await resets.confirm(token), 200);
  });

  it.each<[string, (person: Person) => Promise<unknown>]>([
    ['the next one', async (person) => resets.token(person)],
    ['a new password', async (person) => resets.confirm(await resets.token(person))],
    [
      'a suspension, even one that was lifted',
      async ({ id, organization: { admin } }) => {
        for (const status of ['suspended', 'active'])
          expectStatus(await admin.patch(`/v1/identity/users/${id}`, { status }), 200);
      },
    ],
    [
      'a deletion, even one that was undone',
      async ({ id, organization: { admin } }) => {
        expectStatus(await admin.delete(`/v1/identity/users/${id}`), 204);
        expectStatus(await admin.post(`/v1/identity/users/${id}/restore`), 200);
      },
    ],
  ])('401 after %s', async (_, end) => {
    const person = await resets.person(organization);
    const token = await resets.token(person);
    await end(person);
    const former = await resets.hashOf(person);
    expectProblem(await resets.confirm(token), 401, 'invalid_token');
    expect(await resets.hashOf(person)).toBe(former);
  });

  it('401 token_expired after an hour', async () => {
    const person = await resets.person(organization);
    const token = await resets.token(person);
    const [row] = await bench.database.query<{ minutes: number }>(
      `SELECT round(extract(epoch FROM expires_at - now()) / 60)::int AS minutes FROM password_resets
        WHERE user_id = $1`,
      [person.id],
    );
    expect(row?.minutes).toBe(60);
    await bench.database.query('UPDATE password_resets SET expires_at = now() WHERE user_id = $1', [
      person.id,
    ]);
    expectProblem(await resets.confirm(token), 401, 'token_expired');
  });

  it('400 for a password that is too short or too easy, and the token works afterwards', async () => {
    const person = await resets.person(organization);
    const token = await resets.token(person);
    const cases: [unknown, string][] = [
      ['fourteen chars', 'too_short'],
      ['x'.repeat(129), 'too_long'],
      ['passwordpassword', 'not_allowed'],
      [`${person.email.split('@')[0] ?? ''}-00`, 'not_allowed'],
    ];
    for (const [password, code] of cases)
      expect(expectProblem(await resets.confirm(token, password), 400, 'validation_failed').errors).toEqual([
        expect.objectContaining({ pointer: '/password', code }),
      ]);
    expectStatus(await resets.confirm(token), 200);
  });
});

describe('what a request does before it is answered', () => {
  it('is the same for an address that somebody has and for one of nobody: it is written down', async () => {
    const answering = await IdentityBench.start({ PROCESS_ROLE: 'api' });
    try {
      const asking = new Resets(answering);
      const person = await asking.person(await answering.organization());
      const unknown = asking.address();
      const before = await tellingRows(answering);
      for (const email of [person.email, unknown]) expectStatus(await asking.ask(email), 202);
      const waiting = await answering.database.query<{ email: string }>(
        'SELECT email FROM password_reset_requests ORDER BY id',
      );
      expect(waiting.map(({ email }) => email)).toEqual([person.email, unknown]);
      expect(await tellingRows(answering)).toEqual(before);
    } finally {
      await answering.end();
    }
  });
});

/** How much has been written that only a known address leads to. */
async function tellingRows({ database }: IdentityBench): Promise<number[]> {
  const rows = await Promise.all(
    ['password_resets', 'audit_entries'].map((table) =>
      database.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${table}`),
    ),
  );
  return rows.map(([row]) => row?.count ?? -1);
}
