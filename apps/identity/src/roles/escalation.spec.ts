import { readFileSync } from 'node:fs';
import { newId } from '@customer-platform/database';
import { PERMISSIONS, type Permission } from '@customer-platform/permissions';
import { expectProblem, expectStatus, type Caller } from '@customer-platform/testing';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { Giving, WAYS_TO_GIVE } from './ways-to-give.fixture.js';

/** One of each module, and those that a built-in administrator lacks. None is what a way itself asks for. */
const GIVEN: readonly Permission[] = [
  'core.contacts.read_national_id',
  'core.contacts.purge',
  'core.members.exchange',
  'crm.notes.read',
  'identity.permissions.read',
  'identity.roles.purge',
  'loyalty.rules.create',
  'messaging.sends.create',
];

type Operations = Record<string, { 'x-problems'?: string[] }>;

/** The routes that say of themselves that they may refuse to give. */
function routesThatGive(): string[] {
  const text = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8');
  const { paths } = JSON.parse(text) as { paths: Record<string, Operations> };
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, operation]) => operation['x-problems']?.includes('privilege_escalation'))
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  );
}

let bench: IdentityBench;
let organization: TestOrganization;
beforeAll(async () => {
  bench = await IdentityBench.start();
});
afterAll(() => bench.end());

const allBut = (permission: Permission): Permission[] => PERMISSIONS.filter((one) => one !== permission);

/** A user of the organization, signed in with two factors, with such a role. */
async function userWith(permissions: readonly Permission[]): Promise<Caller> {
  const { admin, id } = organization;
  const userId = await bench.person(id);
  const membership = await admin.post<{ id: string }>('/v1/identity/memberships', { user_id: userId });
  const role_id = await bench.role(id, permissions, 'human');
  const body = { membership_id: membership.body.id, role_id };
  expectStatus(await admin.post('/v1/identity/role-assignments', body), 201);
  return (await bench.signIn(id, userId, { amr: ['pwd', 'otp', 'mfa'] })).caller;
}

it(`the ${String(WAYS_TO_GIVE.length)} ways to give a permission are those of all routes that can refuse it`, () => {
  expect([...new Set(WAYS_TO_GIVE.map(({ route }) => route))].sort()).toEqual(routesThatGive().sort());
});

describe.each(GIVEN)('%s, by who holds all others', (permission) => {
  let principals: Record<'API key' | 'user', Caller>;
  let holder: Caller;
  beforeAll(async () => {
    organization = await bench.organization();
    principals = {
      'API key': await bench.caller(organization, allBut(permission)),
      user: await userWith(allBut(permission)),
    };
    holder = await userWith(PERMISSIONS);
  });

  const ways = WAYS_TO_GIVE.filter(({ gives }) => gives === undefined || gives === permission);
  it.each(ways.map((way) => [[way.route, way.by].filter(Boolean).join(': '), way] as const))(
    'is not given by %s',
    async (_name, way) => {
      const attempt = await way.prepare(new Giving(bench, organization, permission));
      const { user } = principals;
      for (const principal of way.usersOnly ? [user] : Object.values(principals)) {
        const problem = expectProblem(await attempt(principal), 403, 'privilege_escalation');
        expect(problem['missing']).toEqual([permission]);
      }
      // Nothing but that permission was wanting, and nothing was begun: who holds it does the very same.
      const { status } = await attempt(way.usersOnly ? holder : organization.admin);
      expect([200, 201]).toContain(status);
    },
  );
});

describe('what is taken away', () => {
  it('needs no permission but the route’s: a role is emptied, deleted, unassigned, its key revoked', async () => {
    organization = await bench.organization();
    const permission: Permission = 'core.contacts.purge';
    const caller = await bench.caller(organization, allBut(permission));
    const giving = new Giving(bench, organization, permission);
    const [role, key, user] = [await giving.role('human'), await giving.key(), await giving.holder('active')];
    const { body } = await caller.get<{ data: { id: string }[] }>('/v1/identity/role-assignments');
    expect(body.data).toHaveLength(1);
    const roles = `/v1/identity/roles/${role}`;
    expectStatus(await caller.call('PUT', `${roles}/permissions`, { body: { permissions: [] } }), 200);
    expectStatus(await caller.delete(roles), 204);
    expectStatus(await caller.delete(`/v1/identity/role-assignments/${body.data[0]?.id ?? newId()}`), 204);
    expectStatus(await caller.delete(`/v1/identity/api-keys/${key}`), 204);
    expectStatus(await caller.delete(`/v1/identity/users/${user}`), 204);
  });
});
