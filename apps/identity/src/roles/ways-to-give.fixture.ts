import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { expectStatus, type Answer, type Caller } from '@customer-platform/testing';
import type { Permission } from '@customer-platform/permissions';
import type { IdentityBench, TestOrganization } from '../identity-app.fixture.js';
import type { RoleKind } from './built-in-roles.js';
import { anSsoConnection } from '../sso-connections/sso-connection.fixture.js';

/** What is there before somebody tries: an organization, and the permission that is tried to be given. */
export class Giving {
  constructor(
    private readonly bench: IdentityBench,
    readonly organization: TestOrganization,
    readonly permission: Permission,
  ) {}

  get admin(): Caller {
    return this.organization.admin;
  }

  /** A role that permits it, and nothing else. */
  role(kind: RoleKind): Promise<string> {
    return this.bench.role(this.organization.id, [this.permission], kind);
  }

  async membership(userId: string): Promise<string> {
    return this.made('/v1/identity/memberships', { user_id: userId });
  }

  /** A user with a role that permits it. */
  async holder(status: 'invited' | 'active'): Promise<string> {
    const userId =
      status === 'active'
        ? await this.bench.person(this.organization.id)
        : await this.made('/v1/identity/users', { email: anAddress(), name: 'Holder' });
    const [membership_id, role_id] = [await this.membership(userId), await this.role('human')];
    await this.made('/v1/identity/role-assignments', { membership_id, role_id });
    return userId;
  }

  async key(): Promise<string> {
    return this.made('/v1/identity/api-keys', { name: 'Holder', role_id: await this.role('machine') });
  }

  async oauthClient(): Promise<string> {
    return this.made('/v1/identity/oauth-clients', aMachine(await this.role('machine')));
  }

  async invitation(): Promise<string> {
    const body = { email: anAddress(), role_ids: [await this.role('human')] };
    return this.made('/v1/identity/invitations', body);
  }

  person(): Promise<string> {
    return this.bench.person(this.organization.id);
  }

  async made(path: string, body: object): Promise<string> {
    const answer = await this.admin.post<{ id: string }>(path, body);
    expectStatus(answer, 201);
    return answer.body.id;
  }
}

/** A call that gives a permission, ready to be made by anybody, more than once until it succeeds. */
type Attempt = (caller: Caller) => Promise<Answer<object>>;

/** A way to give a permission: the route, and what is there before it is called. */
interface WayToGive {
  /** As in the description of the API. */
  readonly route: string;
  /** Where a route has several. */
  readonly by?: string;
  /** Where it gives that permission and no other. */
  readonly gives?: Permission;
  /** Where no machine can. */
  readonly usersOnly?: true;
  readonly prepare: (giving: Giving) => Promise<Attempt>;
}

/** A key that verifies tenant tokens. */
export function aMemberKey(): object {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...publicKey.export({ format: 'jwk' }), kid: randomUUID(), alg: 'ES256' };
}

/** An OAuth client that acts by itself. */
function aMachine(role_id: string): object {
  return { name: 'Machine', type: 'confidential', grant_types: ['client_credentials'], role_id };
}

/** One that people sign in with; of their own organization, they are not asked for their consent. */
function anApp(further: object = {}): object {
  return { name: 'App', type: 'public', redirect_uris: ['https://app.example/'], ...further };
}

const anAddress = (): string => `${randomUUID()}@example.com`;

/** Every way to give a permission (identity.md §1): each route that may answer `privilege_escalation` is here. */
export const WAYS_TO_GIVE: readonly WayToGive[] = [
  {
    route: 'POST /v1/identity/roles',
    prepare: async ({ permission }) => {
      const body = { name: `Role ${randomUUID()}`, kind: 'machine', permissions: [permission] };
      return (caller) => caller.post('/v1/identity/roles', body);
    },
  },
  {
    route: 'PUT /v1/identity/roles/{id}/permissions',
    prepare: async (giving) => {
      const id = await giving.made('/v1/identity/roles', { name: randomUUID(), kind: 'human' });
      const path = `/v1/identity/roles/${id}/permissions`;
      return (caller) => caller.call('PUT', path, { body: { permissions: [giving.permission] } });
    },
  },
  {
    route: 'POST /v1/identity/roles/{id}/restore',
    prepare: async (giving) => {
      const path = `/v1/identity/roles/${await giving.role('human')}`;
      expectStatus(await giving.admin.delete(path), 204);
      return (caller) => caller.post(`${path}/restore`);
    },
  },
  {
    route: 'POST /v1/identity/role-assignments',
    prepare: async (giving) => {
      const membership_id = await giving.membership(await giving.person());
      const body = { membership_id, role_id: await giving.role('human') };
      return (caller) => caller.post('/v1/identity/role-assignments', body);
    },
  },
  {
    route: 'POST /v1/identity/api-keys',
    prepare: async (giving) => {
      const body = { name: 'Given', role_id: await giving.role('machine') };
      return (caller) => caller.post('/v1/identity/api-keys', body);
    },
  },
  {
    route: 'POST /v1/identity/api-keys/{id}/rotate',
    prepare: async (giving) => {
      const path = `/v1/identity/api-keys/${await giving.key()}/rotate`;
      return (caller) => caller.post(path, {});
    },
  },
  {
    route: 'POST /v1/identity/oauth-clients',
    prepare: async (giving) => {
      const body = aMachine(await giving.role('machine'));
      return (caller) => caller.post('/v1/identity/oauth-clients', body);
    },
  },
  {
    route: 'PATCH /v1/identity/oauth-clients/{id}',
    by: 'role_id, what the client may do from then on',
    prepare: async (giving) => {
      const empty = await giving.made('/v1/identity/roles', { name: randomUUID(), kind: 'machine' });
      const path = `/v1/identity/oauth-clients/${await giving.made('/v1/identity/oauth-clients', aMachine(empty))}`;
      const role_id = await giving.role('machine');
      return (caller) => caller.patch(path, { role_id });
    },
  },
  {
    route: 'PATCH /v1/identity/oauth-clients/{id}',
    by: 'rotate_secret, which shows a secret to act by',
    prepare: async (giving) => {
      const path = `/v1/identity/oauth-clients/${await giving.oauthClient()}`;
      return (caller) => caller.patch(path, { rotate_secret: true });
    },
  },
  {
    route: 'POST /v1/identity/oauth-clients',
    by: 'redirect_uris, where owners too are sent with a code unasked',
    prepare: async () => (caller) => caller.post('/v1/identity/oauth-clients', anApp()),
  },
  ...(
    [
      ['redirect_uris', {}, { redirect_uris: ['https://app.example/', 'https://other.example/'] }],
      [
        'redirect_uris, of which who has agreed to the client is not asked again',
        { organizations: 'tree' },
        { redirect_uris: ['https://app.example/', 'https://other.example/'] },
      ],
      ['post_logout_redirect_uris', {}, { post_logout_redirect_uris: ['https://other.example/'] }],
      ['organizations, which asks nobody any more', { organizations: 'tree' }, { organizations: 'own' }],
      [
        'require_pkce, without which a code is whoever’s that finds it',
        { type: 'confidential' },
        { require_pkce: false },
      ],
    ] as const
  ).map(([by, made, change]): WayToGive => ({
    route: 'PATCH /v1/identity/oauth-clients/{id}',
    by,
    prepare: async (giving) => {
      const id = await giving.made('/v1/identity/oauth-clients', anApp(made));
      return (caller) => caller.patch(`/v1/identity/oauth-clients/${id}`, change);
    },
  })),
  {
    route: 'PATCH /v1/identity/oauth-clients/{id}',
    by: 'grant_types, by which people sign in again where its addresses may have changed',
    prepare: async (giving) => {
      const role_id = await giving.made('/v1/identity/roles', { name: randomUUID(), kind: 'machine' });
      const machine = {
        ...aMachine(role_id),
        redirect_uris: ['https://other.example/'],
        organizations: 'tree',
      };
      const path = `/v1/identity/oauth-clients/${await giving.made('/v1/identity/oauth-clients', machine)}`;
      return (caller) => caller.patch(path, { grant_types: ['authorization_code'], role_id: null });
    },
  },
  {
    route: 'POST /v1/identity/oauth-clients/{id}/restore',
    by: 'its redirect_uris',
    prepare: async (giving) => {
      const path = `/v1/identity/oauth-clients/${await giving.made('/v1/identity/oauth-clients', anApp())}`;
      expectStatus(await giving.admin.delete(path), 204);
      return (caller) => caller.post(`${path}/restore`);
    },
  },
  {
    route: 'POST /v1/identity/oauth-clients/{id}/restore',
    prepare: async (giving) => {
      const path = `/v1/identity/oauth-clients/${await giving.oauthClient()}`;
      expectStatus(await giving.admin.delete(path), 204);
      return (caller) => caller.post(`${path}/restore`);
    },
  },
  {
    route: 'POST /v1/identity/invitations',
    prepare: async (giving) => {
      const body = { email: anAddress(), role_ids: [await giving.role('human')] };
      return (caller) => caller.post('/v1/identity/invitations', body);
    },
  },
  {
    route: 'POST /v1/identity/invitations/{id}/resend',
    prepare: async (giving) => {
      const path = `/v1/identity/invitations/${await giving.invitation()}/resend`;
      return (caller) => caller.post(path);
    },
  },
  {
    route: 'POST /v1/identity/users/{id}/restore',
    prepare: async (giving) => {
      const path = `/v1/identity/users/${await giving.holder('active')}`;
      expectStatus(await giving.admin.delete(path), 204);
      return (caller) => caller.post(`${path}/restore`);
    },
  },
  {
    route: 'PATCH /v1/identity/users/{id}',
    by: 'email, whose mail then lets another in',
    prepare: async (giving) => {
      const path = `/v1/identity/users/${await giving.holder('invited')}`;
      return (caller) => caller.patch(path, { email: anAddress() });
    },
  },
  {
    route: 'PATCH /v1/identity/users/{id}',
    by: 'reset_mfa, which takes the second factor away',
    prepare: async (giving) => {
      const path = `/v1/identity/users/${await giving.holder('active')}`;
      return (caller) => caller.patch(path, { reset_mfa: true });
    },
  },
  {
    route: 'PATCH /v1/identity/users/{id}',
    by: 'status, which lets act again who was suspended',
    prepare: async (giving) => {
      const path = `/v1/identity/users/${await giving.holder('active')}`;
      expectStatus(await giving.admin.patch(path, { status: 'suspended' }), 200);
      return (caller) => caller.patch(path, { status: 'active' });
    },
  },
  {
    route: 'POST /v1/identity/sso-connections',
    by: 'jit_role_ids, which whoever comes for the first time is given',
    prepare: async (giving) => {
      const body = anSsoConnection({ jit_role_ids: [await giving.role('human')] });
      return (caller) => caller.post('/v1/identity/sso-connections', body);
    },
  },
  {
    route: 'PATCH /v1/identity/sso-connections/{id}',
    by: 'jit_role_ids',
    prepare: async (giving) => {
      const path = `/v1/identity/sso-connections/${await giving.made('/v1/identity/sso-connections', anSsoConnection())}`;
      const body = { jit_role_ids: [await giving.role('human')] };
      return (caller) => caller.patch(path, body);
    },
  },
  {
    route: 'POST /v1/identity/sso-connections/{id}/restore',
    prepare: async (giving) => {
      const body = anSsoConnection({ jit_role_ids: [await giving.role('human')] });
      const path = `/v1/identity/sso-connections/${await giving.made('/v1/identity/sso-connections', body)}`;
      expectStatus(await giving.admin.delete(path), 204);
      return (caller) => caller.post(`${path}/restore`);
    },
  },
  {
    route: 'POST /v1/identity/impersonations',
    usersOnly: true,
    prepare: async (giving) => {
      const body = { user_id: await giving.holder('active'), reason: 'Ticket 4711: a campaign is lost.' };
      return (caller) => caller.post('/v1/identity/impersonations', body);
    },
  },
  {
    route: 'PATCH /v1/identity/organizations/{id}',
    by: 'member_jwks, whose owner signs tenant tokens',
    gives: 'core.members.exchange',
    prepare: async ({ organization }) => {
      const jwk = aMemberKey();
      const path = `/v1/identity/organizations/${organization.id}`;
      return (caller) => caller.patch(path, { settings: { member_jwks: { keys: [jwk] } } });
    },
  },
  {
    route: 'POST /v1/identity/organizations',
    by: 'issue_api_key, a key that may do everything below',
    prepare: async () => {
      const body = { name: 'Below', slug: `below-${randomUUID()}`.slice(0, 40), issue_api_key: true };
      return (caller) => caller.post('/v1/identity/organizations', body);
    },
  },
];
