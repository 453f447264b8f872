import { Module } from '@nestjs/common';
import { AuditModule } from '@customer-platform/audit';
import { AuthorizationModule } from '@customer-platform/authorization';
import { DatabaseModule } from '@customer-platform/database';
import { EventBusModule } from '@customer-platform/event-bus';
import { ApiKeysModule } from './api-keys/api-keys.module.js';
import { AuthorizationRegistryModule } from './authorization/authorization-registry.module.js';
import { DatabaseAuthorizationSource } from './authorization/database-authorization.source.js';
import { entities } from './entities.js';
import { migrations } from './migrations/index.js';
import { OrganizationsModule } from './organizations/organizations.module.js';
import { PermissionsModule } from './permissions/permissions.module.js';
import { RolesModule } from './roles/roles.module.js';

/** Who may do what. */
@Module({
  imports: [
    DatabaseModule.forRoot({ module: 'identity', entities, migrations }),
    EventBusModule.forRoot({ module: 'identity' }),
    AuditModule.forRoot({ module: 'identity' }),
    AuthorizationModule.forRoot({ module: 'identity', source: DatabaseAuthorizationSource }),
    ApiKeysModule,
    AuthorizationRegistryModule,
    OrganizationsModule,
    PermissionsModule,
    RolesModule,
  ],
})
export class IdentityModule {}
