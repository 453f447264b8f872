import type { Type } from '@nestjs/common';
import { Database, newId, type WorkerTransaction } from '@customer-platform/database';
import {
  Caller,
  eventually,
  startTestApp,
  testDatabase,
  type TestApp,
  type TestDatabase,
} from '@customer-platform/testing';
import type { Permission } from '@customer-platform/permissions';
import { IdentityModule } from './identity.module.js';
import { migrations } from './migrations/index.js';
import { AccessTokenIssuing } from './sessions/access-token.issuing.js';
import { SessionBeginnings, type Authentication } from './sessions/session-beginnings.js';
import { anOperator, ROOT } from './operator/operator.fixture.js';
import type { KeyPurpose, Operator } from './operator/operator.js';

/** An organization of a test with its administrator. */
export interface TestOrganization {
  id: string;
  /** A client with a key that may do everything in the organization. */
  admin: Caller;
  adminKey: string;
  adminKeyId: string;
}

/** A user as a member with one role. */
export interface TestMember {
  userId: string;
  membershipId: string;
  assignmentId: string;
  roleId: string;
}

/** A member with a session of their own. */
export interface SignedIn extends TestMember {
  caller: Caller;
  sessionId: string;
  token: string;
}

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';

/** Identity is its own registry. */
const always = (): boolean => true;

/** A route that answers everybody who is known and may read. */
const ANYTHING = '/v1/identity/permissions?limit=1';

type Variables = Record<string, string>;

/** Identity as a running service on a bootstrapped database of its own. */
export class IdentityBench {
  private number = 0;

  private constructor(
    readonly database: TestDatabase,
    readonly app: TestApp,
    readonly operator: Operator,
    private readonly closeOperator: () => Promise<void>,
  ) {}

  /** With variables of its own, which may depend on its database. */
  static async start(
    given: Variables | ((database: TestDatabase) => Variables) = {},
    root: Type = IdentityModule,
  ): Promise<IdentityBench> {
    const database = await testDatabase('identity', migrations);
    const { operator, close } = await anOperator(database);
    await operator.bootstrap(ROOT);
    const env = typeof given === 'function' ? given(database) : given;
    const app = await startTestApp({ module: 'identity', root, database, env });
    return new IdentityBench(database, app, operator, close);
  }

  async end(): Promise<void> {
    await this.app.close();
    await this.closeOperator();
    await this.database.drop();
  }

  /** A fresh organization below the root. */
  async organization(issue: KeyPurpose[] = ['administrator']): Promise<TestOrganization> {
    this.number += 1;
    const slug = `organization-${String(this.number)}`;
    const { organization, keys } = await this.operator.createOrganization({
      name: slug,
      slug,
      issue,
      reissue: false,
    });
    const { id = '', key = '' } = keys.administrator ?? {};
    const admin = new Caller(this.app.url, key, always);
    // The first look-ups of a process connect and compile; a busy machine may take longer than a request waits.
    if (key) await eventually(async () => expect((await admin.get(ANYTHING)).status).toBe(200));
    return { id: organization.id, admin, adminKey: key, adminKeyId: id };
  }

  /** A machine role of the organization's own. */
  async role(
    organizationId: string,
    permissions: readonly Permission[],
    kind: 'machine' | 'human' = 'machine',
  ): Promise<string> {
    const id = newId();
    await this.within(organizationId, async (tx) => {
      await tx.query(
        `INSERT INTO roles (organization_id, id, name, kind, created_at, updated_at)
         VALUES ($1, $2, $3, $4, now(), now())`,
        [organizationId, id, `Role ${id}`, kind],
      );
      await tx.query(
        `INSERT INTO role_permissions (organization_id, role_id, permission, granted_at)
         SELECT $1, $2, permission, $4 FROM unnest($3::text[]) AS permission`,
        [organizationId, id, permissions, new Date()],
      );
    });
    return id;
  }

  /** A client of the organization with exactly these permissions. */
  async caller(organization: TestOrganization, permissions: readonly Permission[]): Promise<Caller> {
    const roleId = await this.role(organization.id, permissions);
    const { body } = await organization.admin.post<{ key: string }>('/v1/identity/api-keys', {
      name: 'Test',
      role_id: roleId,
    });
    return new Caller(this.app.url, body.key, always);
  }

  /** An active user at home in the organization, who has a session there. */
  async person(organizationId: string): Promise<string> {
    const id = newId();
    await this.within(organizationId, async (tx) => {
      await tx.query(
        `INSERT INTO users (organization_id, id, email, name, status, created_at, updated_at)
         VALUES ($1, $2, $3, 'Somebody', 'active', now(), now())`,
        [organizationId, id, `${id}@example.com`],
      );
      await tx.query(
        `INSERT INTO sessions (organization_id, id, user_id, amr, authenticated_at, last_seen_at, idle_expires_at,
           expires_at, created_at)
         VALUES ($1, $2, $3, '{pwd}', now(), now(), now() + interval '30 minutes', now() + interval '12 hours', now())`,
        [organizationId, newId(), id],
      );
    });
    return id;
  }

  /** Makes a user, wherever they are at home, a member without a role. */
  async join(organizationId: string, userId: string): Promise<void> {
    await this.within(organizationId, (tx) =>
      tx.query(
        `INSERT INTO memberships (organization_id, id, user_id, created_at, updated_at)
         VALUES ($1, $2, $3, now(), now())`,
        [organizationId, newId(), userId],
      ),
    );
  }

  /** Makes a user a member with a built-in role; the ids of membership and assignment. */
  async member(organization: TestOrganization, userId: string, role = 'owner'): Promise<TestMember> {
    const path = '/v1/identity/memberships';
    const { body: membership } = await organization.admin.post<{ id: string }>(path, { user_id: userId });
    const roles = await this.within(organization.id, (tx) =>
      tx.query<{ id: string }>(
        `SELECT id FROM roles WHERE organization_id = $1 AND key = $2 AND kind = 'human'`,
        [organization.id, role],
      ),
    );
    const { body: assignment } = await organization.admin.post<{ id: string }>(
      '/v1/identity/role-assignments',
      {
        membership_id: membership.id,
        role_id: roles[0]?.id,
      },
    );
    return { userId, membershipId: membership.id, assignmentId: assignment.id, roleId: roles[0]?.id ?? '' };
  }

  /** A user of the organization as a client, signed in with a password, who has a built-in role. */
  async signedIn(organization: TestOrganization, role = 'owner'): Promise<SignedIn> {
    const userId = await this.person(organization.id);
    const member = await this.member(organization, userId, role);
    return { ...member, ...(await this.signIn(organization.id, userId)) };
  }

  /** A further session of a user. */
  async signIn(
    organizationId: string,
    userId: string,
    how: Partial<Authentication> = {},
  ): Promise<{ caller: Caller; sessionId: string; token: string }> {
    const { app } = this.app;
    const session = await this.app.app.get(Database).acrossOrganizations((tx) =>
      app.get(SessionBeginnings, { strict: false }).begin(tx, {
        userId,
        organizationId,
        amr: ['pwd'],
        correlationId: newId(),
        ip: '203.0.113.7',
        userAgent: FIREFOX,
        ...how,
      }),
    );
    const token = await app.get(AccessTokenIssuing, { strict: false }).issue(session);
    return { caller: new Caller(this.app.url, token, always), sessionId: session.id, token };
  }

  /** Why a user's sessions have ended; null for one that goes on. */
  async endings(userId: string): Promise<(string | null)[]> {
    const rows = await this.database.query<{ ended_reason: string | null }>(
      'SELECT ended_reason FROM sessions WHERE user_id = $1',
      [userId],
    );
    return rows.map((row) => row.ended_reason);
  }

  /** Runs statements in the organization, as the service would. */
  within<T>(organizationId: string, work: (tx: WorkerTransaction) => Promise<T>): Promise<T> {
    return this.app.app.get(Database).acrossOrganizations(async (tx) => {
      await tx.useOrganization(organizationId);
      return work(tx);
    });
  }
}
