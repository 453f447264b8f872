import { Module } from '@nestjs/common';
import { MembershipsModule } from '../memberships/memberships.module.js';
import { PasswordsModule } from '../passwords/passwords.module.js';
import { RoleAssignmentsModule } from '../role-assignments/role-assignments.module.js';
import { RolesModule } from '../roles/roles.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { SsoConnectionsModule } from '../sso-connections/sso-connections.module.js';
import { UsersModule } from '../users/users.module.js';
import { InvitationAcceptance } from './invitation-acceptance.js';
import { InvitationJournal } from './invitation-journal.js';
import { InvitationLinks } from './invitation-links.js';
import { InvitationLinksController } from './invitation-links.controller.js';
import { InvitationTokens } from './invitation-tokens.js';
import { InvitationsController } from './invitations.controller.js';
import { InvitationsService } from './invitations.service.js';

/** How people come into an organization. */
@Module({
  imports: [
    MembershipsModule,
    PasswordsModule,
    RoleAssignmentsModule,
    RolesModule,
    SessionsModule,
    SsoConnectionsModule,
    UsersModule,
  ],
  controllers: [InvitationLinksController, InvitationsController],
  providers: [InvitationAcceptance, InvitationJournal, InvitationLinks, InvitationsService, InvitationTokens],
  exports: [InvitationAcceptance],
})
export class InvitationsModule {}
