import { randomUUID } from 'node:crypto';
import { isPermission } from '@customer-platform/permissions';
import {
  eventually,
  type Answer,
  type Caller,
  START_WITHIN_MS,
  type PlatformUnderTest,
  type Tenant,
} from '@customer-platform/testing';
import { journeyPlatform } from './journey.fixture.js';
import { done, idOf, newSupporter, newUser } from './credentials.fixture.js';
import { documentedRoutes, type DocumentedRoute } from './documented-routes.fixture.js';

interface Act {
  action: string;
  actor: { type: string; id: string; impersonator_id: string | null };
  outcome: string;
}
interface Refusal {
  code: string;
}

const SETTLED = { within: 30_000 };
const IMPERSONATIONS = '/v1/identity/impersonations';
const REASON = 'Ticket 4711: a campaign cannot be found.';

/** A read of each module, and a write that is audited. */
const READS = [
  '/v1/core/currencies?limit=1',
  '/v1/crm/notes?limit=1',
  '/v1/identity/permissions?limit=1',
  '/v1/loyalty/rules?limit=1',
  '/v1/messaging/templates?limit=1',
];
const WRITES: Readonly<Record<string, () => [path: string, body: object]>> = {
  'core.contacts.create': () => ['/v1/core/contacts', { external_id: randomUUID() }],
  'crm.lists.create': () => ['/v1/crm/lists', { name: randomUUID() }],
  'loyalty.rules.create': () => [
    '/v1/loyalty/rules',
    {
      name: randomUUID(),
      event: 'visited',
      formula: { type: 'per_amount', currency: 'CLP', per: 1000, points: 1 },
    },
  ],
  'messaging.suppressions.create': () => [
    '/v1/messaging/suppressions',
    { channel: 'email', address: `${randomUUID()}@example.com` },
  ],
};

/** What a user can call and what asks for a permission of identity. */
const ofIdentity = documentedRoutes().filter(
  ({ permission = '', takes }) =>
    isPermission(permission) && permission.startsWith('identity.') && takes.includes('user_token'),
);
const onlyReads = ({ permission = '' }: DocumentedRoute): boolean => permission.endsWith('.read');

describe('somebody who acts as another', () => {
  let platform: PlatformUnderTest;
  let tenant: Tenant;
  let actor: Caller;
  let userId: string;
  let actorId: string;

  beforeAll(async () => {
    platform = await journeyPlatform();
    tenant = await platform.tenant();
    actor = await newSupporter(platform, tenant);
    const user = platform.as(await newUser(platform, tenant, 'owner'));
    [actorId, userId] = [await idOf(actor), await idOf(user)];
  }, START_WITHIN_MS);

  async function started(): Promise<{ id: string; as: Caller }> {
    const body = { user_id: userId, reason: REASON };
    const path = IMPERSONATIONS;
    const begun = await eventually(() => done<{ id: string; access_token: string }>(actor.post(path, body)));
    const as = platform.as(begun.access_token);
    for (const read of READS) await answers(as, read, 200);
    return { id: begun.id, as };
  }

  it('is recorded under both names in every module', async () => {
    const { as } = await started();
    for (const write of Object.values(WRITES)) {
      const [path, body] = write();
      expect([path, (await as.post(path, body)).status]).toEqual([path, 201]);
    }
    await eventually(async () => {
      const { body } = await tenant.admin.get<{ data: Act[] }>('/v1/core/audit-log?limit=200');
      const byBoth = body.data.filter(({ actor: by }) => by.impersonator_id !== null);
      expect(byBoth.map(({ action }) => action).sort()).toEqual(Object.keys(WRITES).sort());
      for (const { actor: by } of byBoth)
        expect(by).toEqual({ type: 'user', id: userId, impersonator_id: actorId });
    }, SETTLED);
  });

  it('is 403 on every route of identity that does more than read, and on no other', async () => {
    const { as } = await started();
    const writes = ofIdentity.filter((route) => !onlyReads(route));
    expect([writes.length > 30, writes.length < ofIdentity.length]).toEqual([true, true]);
    for (const route of ofIdentity) {
      const { status, body } = await call(as, route);
      const refused = status === 403 && body.code === 'permission_denied';
      expect([route.method, route.path, refused]).toEqual([route.method, route.path, !onlyReads(route)]);
    }
  });

  it('is nobody in any module once that has ended', async () => {
    const { id, as } = await started();
    expect((await actor.delete(`${IMPERSONATIONS}/${id}`)).status).toBe(204);
    for (const read of READS) await answers(as, read, 401);
  });
});

function answers(caller: Caller, path: string, status: number): Promise<void> {
  return eventually(async () => {
    expect([path, (await caller.get(path)).status]).toEqual([path, status]);
  }, SETTLED);
}

function call(caller: Caller, { method, path, body = {} }: DocumentedRoute): Promise<Answer<Refusal>> {
  const filled = path.replaceAll(/\{\w+\}/g, randomUUID());
  const hasBody = method !== 'GET' && method !== 'DELETE';
  return caller.call<Refusal>(method, filled, hasBody ? { body } : {});
}
