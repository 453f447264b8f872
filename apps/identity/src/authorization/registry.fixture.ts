import { randomUUID } from 'node:crypto';
import { systemActor } from '@customer-platform/audit';
import { hashApiKey } from '@customer-platform/authorization';
import { Database, newId, type WorkerTransaction } from '@customer-platform/database';
import { testDatabase, type TestDatabase } from '@customer-platform/testing';
import { ApiKeyIssuing, type IssuedApiKey } from '../api-keys/api-key.issuing.js';
import { migrations } from '../migrations/index.js';
import { anOperator, ROOT } from '../operator/operator.fixture.js';
import type { Operator } from '../operator/operator.js';
import type { DatabaseAuthorizationSource } from './database-authorization.source.js';

/** An organization of a test with a role of its own and a key for it. */
export interface Tenant {
  organizationId: string;
  roleId: string;
  key: IssuedApiKey;
  hash: string;
}

/** A registry on a database of its own, bootstrapped. */
export class RegistryBench {
  private number = 0;

  private constructor(
    readonly database: TestDatabase,
    readonly source: DatabaseAuthorizationSource,
    readonly connection: Database,
    readonly operator: Operator,
    private readonly issuing: ApiKeyIssuing,
    private readonly close: () => Promise<void>,
  ) {}

  static async start(): Promise<RegistryBench> {
    const database = await testDatabase('identity', migrations);
    const { operator, registry, context, close } = await anOperator(database);
    await operator.bootstrap(ROOT);
    const connection = context.get(Database);
    return new RegistryBench(database, registry, connection, operator, context.get(ApiKeyIssuing), close);
  }

  async end(): Promise<void> {
    await this.close();
    await this.database.drop();
  }

  /** A fresh organization whose key has these permissions by a machine role of its own. */
  async tenant(permissions: readonly string[] = ['core.events.write'], expiresAt?: Date): Promise<Tenant> {
    this.number += 1;
    const { organization } = await this.operator.createOrganization({
      name: `Tenant ${String(this.number)}`,
      slug: `tenant-${String(this.number)}`,
      issue: [],
      reissue: false,
    });
    const roleId = newId();
    const key = await this.within(organization.id, async (tx) => {
      await tx.query(
        `INSERT INTO roles (organization_id, id, name, kind, created_at, updated_at)
         VALUES ($1, $2, 'Own', 'machine', now(), now())`,
        [organization.id, roleId],
      );
      await this.grant(tx, roleId, permissions);
      const actor = systemActor(organization.id, randomUUID(), 'test');
      return this.issuing.issue(tx, actor, { name: 'Own', roleId, ...(expiresAt ? { expiresAt } : {}) });
    });
    return { organizationId: organization.id, roleId, key, hash: hashApiKey(key.key) };
  }

  /** Runs statements in the organization, as the service would. */
  within<T>(organizationId: string, work: (tx: WorkerTransaction) => Promise<T>): Promise<T> {
    return this.connection.acrossOrganizations(async (tx) => {
      await tx.useOrganization(organizationId);
      return work(tx);
    });
  }

  /** Runs one statement in the organization; `$1` is its id. */
  async change(organizationId: string, sql: string, parameters: unknown[] = []): Promise<void> {
    await this.within(organizationId, (tx) => tx.query(sql, [organizationId, ...parameters]));
  }

  private async grant(tx: WorkerTransaction, roleId: string, permissions: readonly string[]): Promise<void> {
    await tx.query(
      `INSERT INTO role_permissions (organization_id, role_id, permission, granted_at)
       SELECT $1, $2, permission, $4 FROM unnest($3::text[]) AS permission`,
      [tx.organizationId, roleId, permissions, new Date()],
    );
  }
}
