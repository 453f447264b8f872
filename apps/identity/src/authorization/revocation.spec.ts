import { setTimeout as pause } from 'node:timers/promises';
import { hashApiKey } from '@customer-platform/authorization';
import { Problem } from '@customer-platform/problem-json';
import { eventually, TcpLink, type Answer } from '@customer-platform/testing';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { ModuleInstance, type Observation } from './module-instance.fixture.js';

/** identity.md §8: no request begun later than this after the 2xx is permitted. */
const GUARANTEE_MS = 1_000;
/** So many requests that began later than that, of each credential, are looked at. */
const LATE_ONES = 5;

/** Nobody listens there: the guarantee does not depend on Kafka. */
const WITHOUT_KAFKA = { KAFKA_BROKERS: '127.0.0.1:9' };

const permittedLate = (observations: Observation[], since: number): Observation[] =>
  observations.filter(({ began, verdict }) => verdict === 'permitted' && began > since + GUARANTEE_MS);

/** For what cannot be told at the moment; any other failure stays one. */
const unavailable = (error: unknown): undefined => {
  if (error instanceof Problem && error.code === 'authorization_unavailable') return undefined;
  throw error;
};

/** At first: a look-up of a busy machine may take longer than a request waits. */
const expectPermitted = (instance: ModuleInstance, key: string) =>
  eventually(async () => expect(await instance.ask(key)).toBe('permitted'));

/** The first verdict that the registry gives: a late one is one, and what it owes is none. */
const answerOf = (instance: ModuleInstance, key: string) =>
  eventually(async () => {
    const verdict = await instance.ask(key);
    expect(verdict).not.toBe('authorization_unavailable');
    return verdict;
  });

/**
 * What was observed until enough requests that began later than guaranteed were answered, however fast the machine is:
 * with these verdicts, or by the registry.
 */
async function lateOnes(
  instance: ModuleInstance,
  { since, of = 1, verdicts }: { since: number; of?: number; verdicts?: Observation['verdict'][] },
): Promise<Observation[]> {
  const counts = ({ verdict }: Observation): boolean =>
    verdicts ? verdicts.includes(verdict) : verdict !== 'authorization_unavailable';
  await eventually(() => {
    const late = instance.observations.filter((each) => each.began > since + GUARANTEE_MS && counts(each));
    const byCredential = Object.values(Object.groupBy(late, ({ credential }) => credential));
    expect(byCredential.filter((own) => (own?.length ?? 0) >= LATE_ONES)).toHaveLength(of);
  });
  return instance.rest();
}

describe('losing a right, with Kafka absent', () => {
  let bench: IdentityBench;
  let organization: TestOrganization;
  const instances: ModuleInstance[] = [];

  beforeAll(async () => {
    bench = await IdentityBench.start(WITHOUT_KAFKA);
    for (const module of ['core', 'crm', 'loyalty'] as const) {
      instances.push(await ModuleInstance.start(bench.app.internalUrl, module));
    }
  });
  afterAll(async () => {
    await Promise.all(instances.map((instance) => instance.stop()));
    await bench.end();
  });
  beforeEach(async () => {
    organization = await bench.organization();
  });

  const aKey = async (permissions = ['core.events.write'] as const) => {
    const roleId = await bench.role(organization.id, permissions);
    const { body } = await organization.admin.post<{ id: string; key: string }>('/v1/identity/api-keys', {
      name: 'Test',
      role_id: roleId,
    });
    return { ...body, roleId };
  };

  const sql = (statement: string, ...parameters: unknown[]) =>
    bench.within(organization.id, (tx) => tx.query(statement, [organization.id, ...parameters]));

  it.each([
    ['its key is revoked', (key) => organization.admin.delete(`/v1/identity/api-keys/${key.id}`)],
    [
      'its key is rotated with 0',
      (key) => organization.admin.post(`/v1/identity/api-keys/${key.id}/rotate`, { expires_in: 0 }),
    ],
    ['an operator revokes it', (key) => bench.operator.revokeKey(key.id)],
    [
      'its organization is suspended',
      () =>
        sql(`UPDATE organizations SET status = 'suspended', suspended_at = now() WHERE organization_id = $1`),
    ],
    [
      'its organization is deleted',
      () => sql(`UPDATE organizations SET deleted_at = now() WHERE organization_id = $1`),
    ],
  ] satisfies [string, (key: Awaited<ReturnType<typeof aKey>>) => Promise<unknown>][])(
    'no process permits a machine over a second after %s',
    async (_, end) => {
      const key = await aKey();
      for (const instance of instances) await expectPermitted(instance, key.key);
      for (const instance of instances) instance.observe(key.key);
      await end(key);
      const ended = performance.now();
      for (const instance of instances) {
        const observations = await lateOnes(instance, { since: ended });
        expect(permittedLate(observations, ended)).toEqual([]);
      }
    },
  );

  it.each([
    [
      'from its role',
      `UPDATE role_permissions SET removed_at = now() WHERE organization_id = $1 AND role_id = $2`,
    ],
    ['with its role', `UPDATE roles SET deleted_at = now() WHERE organization_id = $1 AND id = $2`],
  ])('no process sees a permission over a second after it was taken %s', async (_, statement) => {
    const key = await aKey();
    const holds = async (instance: ModuleInstance) => {
      const caller = await instance.resolver.authenticate(`Bearer ${key.key}`, {
        accepts: 'api_key',
        address: '192.0.2.1',
      });
      return caller.permissions.has('core.events.write');
    };
    /** The first answer that the registry gives: what it owes is no permission, and one that comes late is one. */
    const answered = (instance: ModuleInstance) =>
      eventually(async () => {
        const held = await holds(instance).catch(unavailable);
        if (held === undefined) throw new Error('The registry has not answered yet');
        return held;
      });
    for (const instance of instances) expect(await answered(instance)).toBe(true);
    await sql(statement, key.roleId);
    await pause(GUARANTEE_MS);
    for (const instance of instances) expect(await answered(instance)).toBe(false);
  });

  interface User {
    userId: string;
    membershipId: string;
    assignmentId: string;
    roleId: string;
    sessionId: string;
    token: string;
  }

  /** Signed in, with a role of their own. */
  const aUser = async (): Promise<User> => {
    const { id, admin } = organization;
    const userId = await bench.person(id);
    const roleId = await bench.role(id, ['crm.notes.read'], 'human');
    const membership = await admin.post<{ id: string }>('/v1/identity/memberships', { user_id: userId });
    const membershipId = membership.body.id;
    const assigned = { membership_id: membershipId, role_id: roleId };
    const assignment = await admin.post<{ id: string }>('/v1/identity/role-assignments', assigned);
    const { sessionId, token } = await bench.signIn(id, userId);
    return { userId, membershipId, assignmentId: assignment.body.id, roleId, sessionId, token };
  };

  it('no process permits a user over a second after what the right stood on has ended', async () => {
    const { admin } = organization;
    const identity = '/v1/identity';
    const endings: ((user: User) => Promise<Answer>)[] = [
      ({ sessionId }) => admin.delete(`${identity}/sessions/${sessionId}`),
      ({ membershipId }) => admin.delete(`${identity}/memberships/${membershipId}`),
      ({ assignmentId }) => admin.delete(`${identity}/role-assignments/${assignmentId}`),
      ({ roleId }) =>
        admin.call('PUT', `${identity}/roles/${roleId}/permissions`, { body: { permissions: [] } }),
      ({ roleId }) => admin.delete(`${identity}/roles/${roleId}`),
      ({ userId }) => admin.patch(`${identity}/users/${userId}`, { status: 'suspended' }),
      ({ userId }) => admin.delete(`${identity}/users/${userId}`),
    ];
    const users = await Promise.all(endings.map(async (end) => ({ end, ...(await aUser()) })));
    const observing = instances.slice(0, 2);
    for (const instance of observing) {
      for (const { token } of users) {
        await eventually(async () =>
          expect(await instance.ask(token, undefined, 'crm.notes.read')).toBe('permitted'),
        );
      }
    }
    for (const instance of observing) {
      for (const { token } of users) instance.observe(token, 'crm.notes.read');
    }
    const ended = await Promise.all(
      users.map(async (user) => {
        expect([200, 204]).toContain((await user.end(user)).status);
        return performance.now();
      }),
    );
    for (const instance of observing) {
      const observations = await lateOnes(instance, { since: Math.max(...ended), of: users.length });
      users.forEach(({ token }, at) => {
        const own = observations.filter(({ credential }) => credential === token);
        expect(permittedLate(own, ended[at] ?? 0)).toEqual([]);
        expect(['invalid_token', 'permission_denied']).toContain(own.at(-1)?.verdict);
      });
    }
  });

  it('a right given takes effect as well', async () => {
    const key = await aKey();
    for (const instance of instances) await instance.ask(key.key);
    await sql(
      `INSERT INTO role_permissions (organization_id, role_id, permission, granted_at) VALUES ($1, $2, 'crm.notes.read', now())`,
      key.roleId,
    );
    for (const instance of instances)
      await eventually(async () =>
        expect(await instance.ask(key.key, undefined, 'crm.notes.read')).toBe('permitted'),
      );
  });

  it('is not undone by an answer that was on its way while the key was revoked', async () => {
    const link = await linkTo(bench.app.internalUrl);
    const instance = await ModuleInstance.start(`http://${link.address}`);
    try {
      const key = await aKey();
      link.hold();
      const asked = instance.ask(key.key);
      await eventually(async () => expect(await usedConnections(bench)).toBe(0));
      await organization.admin.delete(`/v1/identity/api-keys/${key.id}`);
      link.release();
      await asked;
      await pause(GUARANTEE_MS);
      expect(await answerOf(instance, key.key)).toBe('invalid_token');
    } finally {
      await instance.stop();
      await link.cut();
    }
  });

  it('denies with authorization_unavailable in a process that is cut off, and serves it after its return', async () => {
    const link = await linkTo(bench.app.internalUrl);
    const instance = await ModuleInstance.start(`http://${link.address}`);
    try {
      const key = await aKey();
      await expectPermitted(instance, key.key);
      instance.observe(key.key);
      await link.cut();
      const cut = performance.now();
      await organization.admin.delete(`/v1/identity/api-keys/${key.id}`);
      const other = await aKey();
      const observations = await lateOnes(instance, { since: cut, verdicts: ['authorization_unavailable'] });
      expect(permittedLate(observations, cut)).toEqual([]);
      const late = observations.filter(({ began }) => began > cut + GUARANTEE_MS);
      expect(new Set(late.map(({ verdict }) => verdict))).toEqual(new Set(['authorization_unavailable']));
      expect(await instance.ask(other.key)).toBe('authorization_unavailable');
      await link.open();
      expect(await answerOf(instance, other.key)).toBe('permitted');
      expect(await answerOf(instance, key.key)).toBe('invalid_token');
    } finally {
      await instance.stop();
      await link.cut();
    }
  });

  it('lets ingestion go on unconfirmed while cut off, and tells afterwards what was valid', async () => {
    const link = await linkTo(bench.app.internalUrl);
    const instance = await ModuleInstance.start(`http://${link.address}`);
    const ingestion = { accepts: 'api_key', outlivesOutage: true } as const;
    try {
      const key = await aKey();
      await eventually(async () => expect(await instance.ask(key.key, ingestion)).toBe('permitted'));
      await link.cut();
      await eventually(async () => expect(await instance.ask(key.key, ingestion)).toBe('unconfirmed'));
      const [before] = [new Date().toISOString(), await pause(5)];
      await organization.admin.delete(`/v1/identity/api-keys/${key.id}`);
      const after = await pause(5, new Date(Date.now() + 5).toISOString());
      expect(await instance.ask(key.key, ingestion)).toBe('unconfirmed');
      await link.open();
      const acceptances = [before, after].map((accepted_at) => ({
        key_hash: hashApiKey(key.key),
        accepted_at,
        permission: 'core.events.write',
      }));
      const verdicts = await eventually(() => instance.source.confirm(acceptances));
      expect(verdicts).toEqual([true, false]);
      await eventually(async () => expect(await instance.ask(key.key, ingestion)).toBe('invalid_token'));
    } finally {
      await instance.stop();
      await link.cut();
    }
  });

  it('reports when a key was last used', async () => {
    const key = await aKey();
    const [instance] = instances;
    await instance?.ask(key.key);
    const before = Date.now();
    await instance?.ask(key.key);
    await instance?.usage.report();
    const [row] = await bench.database.query<{ last_used_at: Date }>(
      `SELECT last_used_at FROM api_keys WHERE id = $1`,
      [key.id],
    );
    expect(row?.last_used_at.getTime()).toBeGreaterThanOrEqual(before);
  });
});

async function linkTo(target: string): Promise<TcpLink> {
  const link = new TcpLink(target);
  await link.open();
  return link;
}

/** Connections of identity's service that work on a statement right now. */
async function usedConnections(bench: IdentityBench): Promise<number> {
  const [row] = await bench.database.query<{ count: number }>(
    `SELECT count(*)::int FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'identity' AND state <> 'idle'`,
  );
  return row?.count ?? 0;
}
