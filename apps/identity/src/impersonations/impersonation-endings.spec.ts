import { eventually, expectProblem, expectStatus, kafkaProbe } from '@customer-platform/testing';
import { Client } from 'pg';
import { IdentityBench } from '../identity-app.fixture.js';
import { SessionSweep } from '../sessions/session-sweep.js';
import { anSsoConnection } from '../sso-connections/sso-connection.fixture.js';
import { Acting, IMPERSONATIONS } from './impersonation.fixture.js';

const SUSPENDED = { status: 'suspended' };
const WAITING = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

let bench: IdentityBench;
let acting: Acting;
beforeAll(async () => {
  bench = await IdentityBench.start();
});
afterAll(() => bench.end());
beforeEach(async () => {
  acting = await Acting.of(bench);
});

async function made(path: string, body: object): Promise<string> {
  const answer = await acting.organization.admin.post<{ id: string }>(path, body);
  expectStatus(answer, 201);
  return `${path}/${answer.body.id}`;
}

async function fromClient(): Promise<string> {
  const client = { name: 'App', type: 'confidential', redirect_uris: ['https://app.example/'] };
  const path = await made('/v1/identity/oauth-clients', client);
  await acting.from({ clientId: idOf(path) });
  return path;
}

async function fromConnection(): Promise<string> {
  const path = await made('/v1/identity/sso-connections', anSsoConnection({ domains: ['example.com'] }));
  const connection = [acting.organization.id, idOf(path)];
  await acting.sql(
    `UPDATE sso_connections SET status = 'active' WHERE organization_id = $1 AND id = $2`,
    connection,
  );
  await acting.sql(
    `INSERT INTO sso_domains (organization_id, connection_id, domain, proven_at)
     VALUES ($1, $2, 'example.com', now())`,
    connection,
  );
  await acting.from({ connectionId: idOf(path) });
  return path;
}

const idOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

type Ending = (id: string) => Promise<{ status: number }>;
const users = (id: string) => `/v1/identity/users/${id}`;
const memberships = (id: string) => `/v1/identity/memberships/${id}`;

describe('an impersonation ends', () => {
  it.each<[string, () => Ending | Promise<Ending>]>([
    ['by DELETE', () => (id) => acting.actor.caller.delete(`${IMPERSONATIONS}/${id}`)],
    [
      'by DELETE of a key that may',
      () => (id) => acting.organization.admin.delete(`${IMPERSONATIONS}/${id}`),
    ],
    [
      'with the actor’s session',
      () => () => acting.organization.admin.delete(`/v1/identity/sessions/${acting.actor.sessionId}`),
    ],
    [
      'with the actor’s membership',
      () => () => acting.organization.admin.delete(memberships(acting.actor.membershipId)),
    ],
    [
      'with the user’s membership',
      () => () => acting.organization.admin.delete(memberships(acting.user.membershipId)),
    ],
    [
      'with the actor’s suspension',
      () => () => acting.organization.admin.patch(users(acting.actor.userId), { status: 'suspended' }),
    ],
    [
      'with the user’s suspension',
      () => () => acting.organization.admin.patch(users(acting.user.userId), { status: 'suspended' }),
    ],
    ['with the actor’s deletion', () => () => acting.organization.admin.delete(users(acting.actor.userId))],
    ['with the user’s deletion', () => () => acting.organization.admin.delete(users(acting.user.userId))],
    [
      'with the user’s factors',
      () => () => acting.organization.admin.patch(users(acting.user.userId), { reset_mfa: true }),
    ],
    [
      'with the actor’s factors',
      () => () => acting.organization.admin.patch(users(acting.actor.userId), { reset_mfa: true }),
    ],
    [
      'with the client of the actor’s session',
      async () => {
        const path = await fromClient();
        return () => acting.organization.admin.delete(path);
      },
    ],
    [
      'with the secret of that client',
      async () => {
        const path = await fromClient();
        return () => acting.organization.admin.patch(path, { rotate_secret: true });
      },
    ],
    [
      'with the SSO connection of the actor’s session',
      async () => {
        const path = await fromConnection();
        return () => acting.organization.admin.patch(path, { status: 'inactive' });
      },
    ],
  ])('%s', async (_, prepare) => {
    const probe = kafkaProbe(bench.app);
    probe.collect('identity');
    await bench.signedIn(acting.organization); // one administrator stays
    const end = await prepare();
    const { id, as } = await acting.started();
    expect([200, 204]).toContain((await end(id)).status);
    await acting.becomes(as, 401, 'invalid_token');
    const [stopped] = await probe.expectEvents(
      'identity.impersonation.stopped.v1',
      acting.organization.id,
      1,
    );
    expect(stopped?.data['id']).toBe(id);
  });

  it('and rests while the organization is suspended', async () => {
    const { as } = await acting.started();
    await acting.sql(`UPDATE organizations SET status = 'suspended' WHERE organization_id = $1`, [
      acting.organization.id,
    ]);
    await acting.becomes(as, 403, 'organization_suspended');
  });

  it('by time, which is told by the sweep', async () => {
    const probe = kafkaProbe(bench.app);
    probe.collect('identity');
    const { id, as } = await acting.started();
    await bench.database.query('UPDATE impersonations SET expires_at = now() WHERE id = $1', [id]);
    await acting.becomes(as, 401, 'token_expired');
    await sweep();
    await probe.expectEvents('identity.impersonation.stopped.v1', acting.organization.id, 1);
    expect(await endings()).toEqual(['absolute']);
  });

  it('with a session that nobody uses, which is told by the sweep', async () => {
    const { as } = await acting.started();
    await acting.sql(`UPDATE sessions SET idle_expires_at = now() WHERE organization_id = $1 AND id = $2`, [
      acting.organization.id,
      acting.actor.sessionId,
    ]);
    await sweep();
    await acting.becomes(as, 401, 'invalid_token');
    expect(await endings()).toEqual(['idle']);
  });

  it('once: a second DELETE changes nothing, one of another organization is 404', async () => {
    const { id } = await acting.started();
    const other = await bench.organization();
    expectProblem(await other.admin.delete(`${IMPERSONATIONS}/${id}`), 404, 'not_found');
    const ends = [1, 2].map(() => acting.organization.admin.delete(`${IMPERSONATIONS}/${id}`));
    for (const answer of await Promise.all(ends)) expectStatus(answer, 204);
    const audited = await bench.database.query(
      `SELECT 1 FROM audit_entries WHERE action = 'identity.impersonation.stop' AND resource_id = $1`,
      [id],
    );
    expect(audited).toHaveLength(1);
  });

  it.each<[string, () => Promise<{ status: number }>]>([
    [
      'the end of the actor’s session',
      () => acting.organization.admin.delete(`/v1/identity/sessions/${acting.actor.sessionId}`),
    ],
    [
      'the suspension of the user',
      () => acting.organization.admin.patch(users(acting.user.userId), SUSPENDED),
    ],
    [
      'the end of the user’s membership',
      () => acting.organization.admin.delete(memberships(acting.user.membershipId)),
    ],
    ['the actor’s suspension', () => acting.organization.admin.patch(users(acting.actor.userId), SUSPENDED)],
  ])('also one that is being begun, with %s', async (_, end) => {
    await bench.signedIn(acting.organization); // one administrator stays
    const holder = new Client({ connectionString: bench.database.adminUrl });
    await holder.connect();
    try {
      // The start waits here, with its row written and nothing committed.
      await holder.query('BEGIN; LOCK TABLE audit_entries IN SHARE MODE');
      const start = acting.start();
      await waiting(1);
      const ending = end();
      await waiting(2);
      await holder.query('COMMIT');
      expectStatus(await start, 201);
      expect((await ending).status).toBeLessThan(300);
    } finally {
      await holder.end();
    }
    expect(await endings()).toEqual([expect.any(String)]);
  });
});

/** So many transactions wait for another. */
function waiting(count: number): Promise<void> {
  return eventually(async () => expect(await bench.database.query(WAITING)).toHaveLength(count));
}

async function sweep(): Promise<void> {
  await bench.app.app.get(SessionSweep, { strict: false }).run();
}

/** Why those as the user have ended; null for one that goes on. */
async function endings(): Promise<(string | null)[]> {
  const rows = await bench.database.query<{ ended_reason: string | null }>(
    'SELECT ended_reason FROM impersonations WHERE user_id = $1',
    [acting.user.userId],
  );
  return rows.map(({ ended_reason: reason }) => reason);
}
