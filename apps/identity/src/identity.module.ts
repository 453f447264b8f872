import { Module } from '@nestjs/common';
import { AuditModule } from '@customer-platform/audit';
import { AuthorizationModule } from '@customer-platform/authorization';
import { DatabaseModule, ReferencesModule } from '@customer-platform/database';
import { EventBusModule } from '@customer-platform/event-bus';
import { AccountModule } from './account/account.module.js';
import { ApiKeysModule } from './api-keys/api-keys.module.js';
import { AuthorizationRegistryModule } from './authorization/authorization.module.js';
import { DatabaseAuthorizationSource } from './authorization/database-authorization.source.js';
import { ImpersonationsModule } from './impersonations/impersonations.module.js';
import { InvitationsModule } from './invitations/invitations.module.js';
import { MembershipsModule } from './memberships/memberships.module.js';
import { MfaModule } from './mfa/mfa.module.js';
import { migrations } from './migrations/index.js';
import { OAuthModule } from './oauth/oauth.module.js';
import { OAuthClient } from './oauth-clients/oauth-client.entity.js';
import { OAuthClientsModule } from './oauth-clients/oauth-clients.module.js';
import { Organization } from './organizations/organization.entity.js';
import { OrganizationsModule } from './organizations/organizations.module.js';
import { PasswordResetsModule } from './password-resets/password-resets.module.js';
import { PermissionsModule } from './permissions/permissions.module.js';
import { RoleAssignmentsModule } from './role-assignments/role-assignments.module.js';
import { Role } from './roles/role.entity.js';
import { RolesModule } from './roles/roles.module.js';
import { SessionsModule } from './sessions/sessions.module.js';
import { SignInModule } from './sign-in/sign-in.module.js';
import { SsoConnection } from './sso-connections/sso-connection.entity.js';
import { SsoConnectionsModule } from './sso-connections/sso-connections.module.js';
import { User } from './users/user.entity.js';
import { UsersModule } from './users/users.module.js';

/** Who may do what. */
@Module({
  imports: [
    DatabaseModule.forRoot({
      module: 'identity',
      entities: [OAuthClient, Organization, Role, SsoConnection, User],
      migrations,
    }),
    EventBusModule.forRoot({ module: 'identity' }),
    AuditModule.forRoot({ module: 'identity' }),
    AuthorizationModule.forRoot({
      module: 'identity',
      source: DatabaseAuthorizationSource,
      calls: ['core', 'crm', 'loyalty', 'messaging'],
    }),
    ReferencesModule.forRoot({ module: 'identity', ask: ['core', 'crm', 'loyalty', 'messaging'] }),
    // Before users: `me` is no id.
    AccountModule,
    ApiKeysModule,
    AuthorizationRegistryModule,
    ImpersonationsModule,
    InvitationsModule,
    MembershipsModule,
    MfaModule,
    OAuthClientsModule,
    OAuthModule,
    OrganizationsModule,
    PasswordResetsModule,
    PermissionsModule,
    RoleAssignmentsModule,
    RolesModule,
    SessionsModule,
    SignInModule,
    SsoConnectionsModule,
    UsersModule,
  ],
})
export class IdentityModule {}
