import { Module } from '@nestjs/common';
import { encryptionConfig, keyringOf, readConfig } from '@customer-platform/config';
import { retentionOf } from '@customer-platform/database';
import { MembershipsModule } from '../memberships/memberships.module.js';
import { RoleAssignmentsModule } from '../role-assignments/role-assignments.module.js';
import { RolesModule } from '../roles/roles.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { UsersModule } from '../users/users.module.js';
import { CLIENT_SECRET_SEAL, sealOfClientSecrets } from './client-secret-seal.js';
import { DomainClaims } from './domain-claims.js';
import { DomainProofs } from './domain-proofs.js';
import { DomainRecheck } from './domain-recheck.js';
import { OrganizationTenants } from './organization-tenants.js';
import { NameServerPlaces, ProviderPlaces } from './provider-places.js';
import { Providers } from './providers.js';
import { SsoConnectionsController } from './sso-connections.controller.js';
import { SsoConnectionsService } from './sso-connections.service.js';
import { SsoArrivals } from './sso-arrivals.js';
import { SsoReach } from './sso-reach.js';
import { OLD_SSO_REQUESTS, SsoRequests } from './sso-requests.js';
import { SsoSignIn } from './sso-sign-in.js';
import { SSO_CONFIG, ssoConfig } from './sso.config.js';

/** Signing in at a provider of the organization's own. */
@Module({
  imports: [MembershipsModule, RoleAssignmentsModule, RolesModule, SessionsModule, UsersModule],
  controllers: [SsoConnectionsController],
  providers: [
    { provide: SSO_CONFIG, useFactory: ssoConfig },
    {
      provide: CLIENT_SECRET_SEAL,
      useFactory: () => sealOfClientSecrets(keyringOf(readConfig(encryptionConfig))),
    },
    DomainClaims,
    DomainProofs,
    DomainRecheck,
    NameServerPlaces,
    OrganizationTenants,
    ProviderPlaces,
    Providers,
    SsoArrivals,
    SsoConnectionsService,
    SsoReach,
    SsoRequests,
    SsoSignIn,
    retentionOf(OLD_SSO_REQUESTS),
  ],
  exports: [SsoSignIn],
})
export class SsoConnectionsModule {}
