import { Module } from '@nestjs/common';
import { AuditModule } from '@customer-platform/audit';
import { AuthorizationModule } from '@customer-platform/authorization';
import { Database, DatabaseModule } from '@customer-platform/database';
import { EventBusModule } from '@customer-platform/event-bus';
import { startTestApp, testDatabase, type TestApp } from '@customer-platform/testing';
import { migrations } from './migrations/index.js';
import { OAuthClient } from './oauth-clients/oauth-client.entity.js';
import { OAuthClientsModule } from './oauth-clients/oauth-clients.module.js';
import { Role } from './roles/role.entity.js';
import { RolesModule } from './roles/roles.module.js';
import { SsoConnection } from './sso-connections/sso-connection.entity.js';
import { SsoConnectionsModule } from './sso-connections/sso-connections.module.js';
import { User } from './users/user.entity.js';
import { UsersModule } from './users/users.module.js';

/** Identity's resources behind the registry that tests play, as those of every other module are. */
class Resources {}
Module({
  imports: [
    DatabaseModule.forRoot({
      module: 'identity',
      entities: [OAuthClient, Role, SsoConnection, User],
      migrations,
    }),
    EventBusModule.forRoot({ module: 'identity' }),
    AuditModule.forRoot({ module: 'identity' }),
    AuthorizationModule.forRoot({ module: 'identity' }),
    OAuthClientsModule,
    RolesModule,
    SsoConnectionsModule,
    UsersModule,
  ],
})(Resources);

const FOUND = `
INSERT INTO organizations
  (organization_id, id, parent_id, path, name, slug, locale, timezone, created_at, updated_at)
SELECT $1, $1, root.id, ARRAY[root.id, $1], 'Test', $1::text, 'en', 'UTC', now(), now()
  FROM (SELECT '00000000-0000-7000-8000-000000000001'::uuid AS id) AS root
ON CONFLICT DO NOTHING`;

const FOUND_ROOT = `
INSERT INTO organizations (organization_id, id, path, name, slug, locale, timezone, created_at, updated_at)
SELECT id, id, ARRAY[id], 'Root', 'root', 'en', 'UTC', now(), now()
  FROM (SELECT '00000000-0000-7000-8000-000000000001'::uuid AS id) AS root`;

/** Identity's resources as a running service, in which an organization begins with no row of its own. */
export interface ResourceApp {
  app: TestApp;
  /** Writes the organization's row, where there is none: what belongs to it refers to it. */
  found(organizationId: string): Promise<void>;
  close(): Promise<void>;
}

export async function startResources(): Promise<ResourceApp> {
  const database = await testDatabase('identity', migrations);
  const app = await startTestApp({ module: 'identity', root: Resources, database });
  const run = (statement: string, values: unknown[] = []): Promise<unknown> =>
    app.app.get(Database).acrossOrganizations((tx) => tx.query(statement, values));
  await run(FOUND_ROOT);
  return {
    app,
    found: async (organizationId) => {
      await run(FOUND, [organizationId]);
    },
    close: async () => {
      await app.close();
      await database.drop();
    },
  };
}
