import { Caller, DatabaseFault, eventually } from '@customer-platform/testing';
import { decodeJwt } from 'jose';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { signsIn, TestClient } from './browser.fixture.js';

const ANYTHING = '/v1/identity/permissions?limit=1';

let bench: IdentityBench;
let organization: TestOrganization;
let client: TestClient;
let userId: string;
beforeAll(async () => {
  bench = await IdentityBench.start();
});
afterAll(() => bench.end());
beforeEach(async () => {
  organization = await bench.organization();
  client = await TestClient.register(bench, organization);
  ({ userId } = await bench.signedIn(organization));
});

const becomes = (token: string, status: number) =>
  eventually(async () =>
    expect((await new Caller(bench.app.url, token, () => true).get(ANYTHING)).status).toBe(status),
  );

describe('a refresh token', () => {
  it('is replaced by each use, in the same session, which it keeps from being idle', async () => {
    const first = await client.tokens(signsIn(userId));
    const { sid } = decodeJwt(first.access_token);
    await bench.database.query(
      `UPDATE sessions SET idle_expires_at = now() + interval '1 minute' WHERE id = $1`,
      [sid],
    );
    const second = await client.refresh(first.refresh_token);
    expect(second.status).toBe(200);
    expect(second.body.refresh_token).not.toBe(first.refresh_token);
    expect(decodeJwt(second.body.access_token)['sid']).toBe(sid);
    const [session] = await bench.database.query<{ later: boolean }>(
      `SELECT idle_expires_at > now() + interval '20 minutes' AS later FROM sessions WHERE id = $1`,
      [sid],
    );
    expect(session?.later).toBe(true);
    expect((await client.refresh(second.body.refresh_token)).status).toBe(200);
  });

  it.each([
    ['its use cannot be noted', 'oauth_tokens', 'UPDATE', '53300'],
    ['its successor cannot be kept', 'oauth_tokens', 'INSERT', '53300'],
    ['its session cannot be noted as in use', 'sessions', 'UPDATE', '53300'],
    ['its session cannot be noted for another reason', 'sessions', 'UPDATE', 'P0001'],
  ] as const)('is as good as before where %s', async (_, table, on, code) => {
    const first = await client.tokens(signsIn(userId));
    const { sid } = decodeJwt(first.access_token);
    const when = table === 'sessions' ? `NEW.id = '${String(sid)}'` : `NEW.session_id = '${String(sid)}'`;
    const fault = await DatabaseFault.in(bench.database, { table, on, when, code });
    const failed = await client.refresh(first.refresh_token);
    expect([failed.status >= 500, failed.body.refresh_token]).toEqual([true, undefined]);
    expect(await fault.tries()).toBeGreaterThan(0);
    await fault.mend();
    const second = await client.refresh(first.refresh_token);
    expect([second.status, decodeJwt(second.body.access_token)['sid']]).toEqual([200, sid]);
    expect((await client.refresh(second.body.refresh_token)).status).toBe(200);
  });

  it('is kept nowhere', async () => {
    const { refresh_token: token } = await client.tokens(signsIn(userId));
    const rows = await bench.database.query('SELECT * FROM oauth_tokens');
    expect(JSON.stringify(rows)).not.toContain(token);
  });

  it('used again ends the session, though the clock of who is asked is behind', async () => {
    const first = await client.tokens(signsIn(userId));
    await client.refresh(first.refresh_token);
    await bench.database.query(`UPDATE oauth_tokens SET consumed_at = now() + interval '1 minute'
      WHERE consumed_at IS NOT NULL`);
    expect((await client.refresh(first.refresh_token)).body.error).toBe('invalid_grant');
    expect(await bench.endings(userId)).toContain('token_reuse');
  });

  it('used again ends the session', async () => {
    const first = await client.tokens(signsIn(userId));
    const second = await client.refresh(first.refresh_token);
    expect((await client.refresh(first.refresh_token)).body.error).toBe('invalid_grant');
    await becomes(second.body.access_token, 401);
    expect((await client.refresh(second.body.refresh_token)).body.error).toBe('invalid_grant');
    expect(await bench.endings(userId)).toContain('token_reuse');
  });

  it('used fifty times at once is good once, and the family is dead', async () => {
    const first = await client.tokens(signsIn(userId));
    const answers = await Promise.all(Array.from({ length: 50 }, () => client.refresh(first.refresh_token)));
    const [good, ...others] = answers.filter(({ status }) => status === 200);
    expect(others).toEqual([]);
    expect(answers.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(49);
    await becomes(good?.body.access_token ?? '', 401);
    expect((await client.refresh(good?.body.refresh_token ?? '')).status).toBe(400);
  });

  it('is taken once more within the grace of its client, and not after it', async () => {
    const patient = await TestClient.register(bench, organization, { refresh_grace_seconds: 10 });
    const first = await patient.tokens(signsIn(userId));
    const answers = await Promise.all([1, 2].map(() => patient.refresh(first.refresh_token)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    await becomes(answers[1]?.body.access_token ?? '', 200);
    const [next] = answers.map(({ body }) => body.refresh_token);
    expect((await patient.refresh(next ?? '')).status).toBe(200);
    await bench.database.query(`UPDATE oauth_tokens SET consumed_at = consumed_at - interval '11 s'`);
    expect((await patient.refresh(next ?? '')).body.error).toBe('invalid_grant');
    await becomes(answers[0]?.body.access_token ?? '', 401);
  });

  it('used a third time within the grace ends the session', async () => {
    const patient = await TestClient.register(bench, organization, { refresh_grace_seconds: 10 });
    const { refresh_token: token } = await patient.tokens(signsIn(userId));
    const statuses = [];
    for (let use = 0; use < 3; use += 1) statuses.push((await patient.refresh(token)).status);
    expect(statuses).toEqual([200, 200, 400]);
    expect(await bench.endings(userId)).toContain('token_reuse');
  });

  it('used fifty times at once within the grace is good twice, and the family is dead', async () => {
    const patient = await TestClient.register(bench, organization, { refresh_grace_seconds: 10 });
    const { refresh_token: token } = await patient.tokens(signsIn(userId));
    const answers = await Promise.all(Array.from({ length: 50 }, () => patient.refresh(token)));
    const good = answers.filter(({ status }) => status === 200);
    expect(good.length).toBeGreaterThanOrEqual(1);
    expect(good.length).toBeLessThanOrEqual(2);
    expect(answers.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(50 - good.length);
    for (const { body } of good) {
      await becomes(body.access_token, 401);
      expect((await patient.refresh(body.refresh_token)).body.error).toBe('invalid_grant');
    }
    expect(await bench.endings(userId)).toContain('token_reuse');
  });

  it('is worth nothing to another client, and stays good', async () => {
    const other = await TestClient.register(bench, organization);
    const { refresh_token: token } = await client.tokens(signsIn(userId));
    expect((await other.refresh(token)).body.error).toBe('invalid_grant');
    expect((await client.refresh(token)).status).toBe(200);
  });

  it('is given for offline_access alone', async () => {
    const tokens = await client.tokens(signsIn(userId), { further: { scope: 'openid' } });
    expect(tokens.refresh_token).toBeUndefined();
  });
});

describe('all tokens of a session are dead within a second', () => {
  const ends: [string, (sid: string) => Promise<{ status: number }>][] = [
    ['its client is deleted', () => organization.admin.delete(`/v1/identity/oauth-clients/${client.id}`)],
    [
      'its client has a new secret',
      () => organization.admin.patch(`/v1/identity/oauth-clients/${client.id}`, { rotate_secret: true }),
    ],
    ['it is ended', (sid) => organization.admin.delete(`/v1/identity/sessions/${sid}`)],
    [
      'its user is suspended',
      () => organization.admin.patch(`/v1/identity/users/${userId}`, { status: 'suspended' }),
    ],
    ['its membership ends', () => organization.admin.delete(`/v1/identity/memberships?user_id=${userId}`)],
  ];

  it.each(ends)('once %s', async (_, end) => {
    await bench.signedIn(organization); // one administrator stays
    const { access_token: token, refresh_token: refresh } = await client.tokens(signsIn(userId));
    await becomes(token, 200);
    const { status } = await end(String(decodeJwt(token)['sid']));
    expect(status).toBeLessThan(300);
    await becomes(token, 401);
    const { body } = await client.refresh(refresh);
    expect(['invalid_grant', 'invalid_client']).toContain(body.error);
  });

  it('and a client that comes back does not bring them along', async () => {
    const { access_token: token, refresh_token: refresh } = await client.tokens(signsIn(userId));
    const path = `/v1/identity/oauth-clients/${client.id}`;
    await organization.admin.delete(path);
    expect((await organization.admin.post(`${path}/restore`)).status).toBe(200);
    await becomes(token, 401);
    expect((await client.refresh(refresh)).body.error).toBe('invalid_grant');
    expect((await client.tokens(signsIn(userId))).access_token).toBeDefined();
    await eventually(async () => expect(await bench.endings(userId)).toContain('revoked'));
  });
});
