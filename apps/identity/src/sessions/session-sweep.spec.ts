import { randomUUID } from 'node:crypto';
import { Clock, Database, Retention, type WorkerTransaction } from '@customer-platform/database';
import { metrics } from '@customer-platform/http';
import { DatabaseFault, eventually, type PlanNode, rowsRead } from '@customer-platform/testing';
import { Client } from 'pg';
import { IdentityBench } from '../identity-app.fixture.js';
import { SessionEndings } from './session-endings.js';
import { ENDED_SESSIONS, SessionSweep } from './session-sweep.js';

/** Kept for ninety days, while few are open at a time. */
const KEPT = 20_000;
const OPEN = 200;

let bench: IdentityBench;
beforeAll(async () => {
  bench = await IdentityBench.start({ PROCESS_ROLE: 'api' }); // no sweep but the tests' own
});
afterAll(() => bench.end());

const sweepOn = (database: Database): SessionSweep =>
  new SessionSweep(database, bench.app.app.get(SessionEndings, { strict: false }), new Clock());

const INSERT = `
INSERT INTO sessions (organization_id, id, user_id, amr, authenticated_at, last_seen_at, idle_expires_at, expires_at,
  ended_at, ended_reason, created_at)`;

/** Sessions of the user that have had their time, of which it is not written down. */
async function due(organizationId: string, userId: string, count: number): Promise<void> {
  await bench.database.query(
    `${INSERT} SELECT $1, gen_random_uuid(), $2, '{pwd}', now(), now(), now() - interval '1 s',
       now() + interval '1 h', NULL, NULL, now() FROM generate_series(1, $3::int)`,
    [organizationId, userId, count],
  );
}

async function impersonation(organizationId: string, actor: string, user: string): Promise<void> {
  await bench.database.query(
    `INSERT INTO impersonations (organization_id, id, actor_id, actor_session_id, user_id, reason, amr,
       authenticated_at, expires_at, created_at)
     VALUES ($1, $2, $3, $2, $4, 'a test of a command', '{mfa}', now(), now() + interval '30 minutes', now())`,
    [organizationId, randomUUID(), actor, user],
  );
}

function openImpersonations(ids: readonly string[]): Promise<unknown[]> {
  return bench.database.query(
    'SELECT FROM impersonations WHERE organization_id = ANY ($1) AND ended_at IS NULL',
    [ids],
  );
}

async function openOf(userId: string): Promise<number> {
  const [row] = await bench.database.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM sessions WHERE user_id = $1 AND ended_at IS NULL',
    [userId],
  );
  return row?.count ?? NaN;
}

/** The service's database, which also says what each of its look-ups among sessions reads. */
function explaining(reads: { sql: string; rows: number }[]): Database {
  const database = bench.app.app.get(Database);
  const explained = (tx: WorkerTransaction): WorkerTransaction =>
    Object.assign(Object.create(tx) as WorkerTransaction, {
      query: async (sql: string, values: readonly unknown[] = []): Promise<unknown[]> => {
        const [select] = /SELECT (?:s|old)\.[^]* LIMIT \d+|SELECT own\.[^]*/.exec(sql) ?? [];
        if (select !== undefined) {
          const [plan] = await tx.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
            `EXPLAIN (ANALYZE, FORMAT JSON) ${select}`,
            values,
          );
          if (plan) reads.push({ sql: select, rows: rowsRead(plan['QUERY PLAN'][0].Plan, 'sessions') });
        }
        return tx.query(sql, values);
      },
    });
  const acrossOrganizations: Database['acrossOrganizations'] = (work, options) =>
    database.acrossOrganizations((tx, answer) => work(explained(tx), answer), options);
  return Object.assign(Object.create(database) as Database, { acrossOrganizations });
}

it('the sweep reads open sessions alone, and what is removed is found by its end', async () => {
  const { id } = await bench.organization();
  const userId = await bench.person(id);
  await bench.database.query(
    `${INSERT} SELECT $1, gen_random_uuid(), $2, '{pwd}', at, at, at, at, at, 'idle', at
       FROM (SELECT now() - n * interval '80 days' / $3::int AS at FROM generate_series(1, $3::int) AS n) AS kept`,
    [id, userId, KEPT],
  );
  await due(id, userId, OPEN);
  await bench.database.query('ANALYZE sessions');
  const reads: { sql: string; rows: number }[] = [];
  expect(await sweepOn(explaining(reads)).run()).toBeGreaterThanOrEqual(OPEN);
  await new Retention(explaining(reads), new Clock(), ENDED_SESSIONS).sweep();
  expect(reads.filter(({ sql }) => /old\./.test(sql))).toHaveLength(1);
  expect(reads.length).toBeGreaterThanOrEqual(4);
  for (const { sql, rows } of reads)
    expect({ sql, isShort: rows < 2 * OPEN }).toEqual({ sql, isShort: true });
});

it('the sweep ends those of tenants in turn, however many organizations one of them has', async () => {
  const parent = await bench.organization();
  const children: string[] = [];
  for (let each = 0; each < 4; each += 1) children.push((await bench.organization()).id);
  await bench.database.query(
    `UPDATE organizations SET parent_id = $2, path = (SELECT path FROM organizations WHERE organization_id = $2) || organization_id
      WHERE organization_id = ANY ($1)`,
    [children, parent.id],
  );
  const neighbour = (await bench.organization()).id;
  for (const id of [...children, neighbour]) await due(id, await bench.person(id), 1);
  const endings = bench.app.app.get(SessionEndings, { strict: false });
  const ended: string[] = [];
  const noting = Object.assign(Object.create(endings) as SessionEndings, {
    endAll: ((tx, context, which, reason) => {
      ended.push(context.organizationId);
      return endings.endAll(tx, context, which, reason);
    }) satisfies SessionEndings['endAll'],
  });
  await new SessionSweep(bench.app.app.get(Database), noting, new Clock()).run();
  const own = ended.filter((id) => children.includes(id) || id === neighbour);
  expect(own).toHaveLength(5);
  expect(own.indexOf(neighbour)).toBeLessThanOrEqual(1);
});

it('the sweep holds no organization while it waits for another', async () => {
  const organizations = [await bench.organization(), await bench.organization(), await bench.organization()];
  const users: string[] = [];
  for (const { id } of organizations) {
    const userId = await bench.person(id);
    await due(id, userId, 2);
    users.push(userId);
  }
  const [first, held, last] = organizations.map(({ id }) => id).sort();
  const holder = new Client({ connectionString: bench.database.adminUrl });
  await holder.connect();
  const one = 'SELECT FROM organization_epochs WHERE organization_id = $1 FOR UPDATE';
  try {
    await holder.query('BEGIN');
    await holder.query(one, [held]);
    const sweep = sweepOn(bench.app.app.get(Database)).run();
    await eventually(async () => {
      const waiting = await bench.database.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      expect(waiting).toHaveLength(1);
    });
    for (const other of [first, last]) await bench.database.query(`${one} NOWAIT`, [other]);
    await holder.query('ROLLBACK');
    await sweep;
  } finally {
    await holder.end();
  }
  expect(await Promise.all(users.map(openOf))).toEqual([1, 1, 1]); // each user's own, which is not due
});

it('two sweeps at once over the same organizations end each session once', async () => {
  const users: string[] = [];
  const organizations = await Promise.all(Array.from({ length: 4 }, () => bench.organization([])));
  for (const { id } of organizations) users.push(await bench.person(id));
  // In turns, as they come in truth: no order of the table is that of the organizations.
  for (let round = 0; round < 10; round += 1)
    for (const at of [0, 1, 2, 3]) {
      const which = round % 2 === 0 ? at : 3 - at;
      await due(organizations[which]?.id ?? '', users[which] ?? '', 40);
    }
  const sweeps = [1, 2].map(() => sweepOn(bench.app.app.get(Database)).run());
  const ended = await Promise.all(sweeps);
  expect(ended.reduce((sum, each) => sum + each)).toBe(1_600);
  expect(await Promise.all(users.map(openOf))).toEqual([1, 1, 1, 1]);
  const [told] = await bench.database.query<{ count: number }>(
    `SELECT count(DISTINCT id)::int AS count FROM sessions WHERE user_id = ANY ($1) AND ended_reason = 'idle'`,
    [users],
  );
  expect(told?.count).toBe(1_600);
});

it('goes on with other organizations where one fails', async () => {
  // Ids grow: the one that fails comes first.
  const [bad, good] = [await bench.organization([]), await bench.organization([])];
  const [stuck, user] = [await bench.person(bad.id), await bench.person(good.id)];
  await due(bad.id, stuck, 1);
  await due(good.id, user, 1);
  const when = `NEW.organization_id = '${bad.id}'`;
  const fault = await DatabaseFault.in(bench.database, { table: 'sessions', on: 'UPDATE', when });
  expect(await sweepOn(bench.app.app.get(Database)).run()).toBe(1);
  expect([await openOf(stuck), await openOf(user)]).toEqual([2, 1]);
  const failures = await metrics.getSingleMetricAsString('job_failures_total');
  expect(failures).toMatch(/job_name="session-sweep"\} [1-9]/);
  await fault.mend();
  expect(await sweepOn(bench.app.app.get(Database)).run()).toBe(1);
});

it.each(['P0001', '57014'])('ends the others of an organization of which one fails (%s)', async (code) => {
  const { id } = await bench.organization([]);
  const user = await bench.person(id);
  await due(id, user, 20);
  await impersonation(id, await bench.person(id), user);
  const [stuck] = await bench.database.query<{ id: string }>(
    `SELECT id FROM sessions WHERE user_id = $1 AND idle_expires_at < now() ORDER BY id OFFSET 7 LIMIT 1`,
    [user],
  );
  const when = `NEW.id = '${stuck?.id ?? ''}'`;
  const fault = await DatabaseFault.in(bench.database, { table: 'sessions', on: 'UPDATE', when, code });
  const sweep = sweepOn(bench.app.app.get(Database));
  try {
    expect(await sweep.run()).toBe(19);
    expect(await openOf(user)).toBe(2);
    await expect(bench.operator.endAllSessions()).rejects.toThrow();
    expect(await openOf(user)).toBe(1);
    expect(await openImpersonations([id])).toEqual([]);
  } finally {
    await fault.mend();
  }
  await eventually(async () => expect(await sweep.run()).toBe(1));
});

it('the operator ends all sessions and impersonations, once, and says so to the audit log', async () => {
  const organizations = [await bench.organization([]), await bench.organization([])];
  const users: string[] = [];
  for (const { id } of organizations) {
    const [actor, user] = [await bench.person(id), await bench.person(id)];
    await due(id, user, 600); // more than a piece
    await impersonation(id, actor, user);
    users.push(actor, user);
  }
  expect(await bench.operator.endAllSessions()).toBeGreaterThanOrEqual(1_206);
  expect(await bench.operator.endAllSessions()).toBe(0);
  expect(await Promise.all(users.map(openOf))).toEqual([0, 0, 0, 0]);
  const ids = organizations.map(({ id }) => id);
  expect(await openImpersonations(ids)).toEqual([]);
  const rows = await bench.database.query<{ organization_id: string }>(
    `SELECT DISTINCT organization_id FROM audit_entries
      WHERE action = 'identity.sessions.revoke' AND actor_type = 'system' AND organization_id = ANY ($1)`,
    [ids],
  );
  expect(rows.map(({ organization_id }) => organization_id).sort()).toEqual([...ids].sort());
});
