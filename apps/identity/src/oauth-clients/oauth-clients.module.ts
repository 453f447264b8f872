import { Module } from '@nestjs/common';
import { RolesModule } from '../roles/roles.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { ClientReach } from './client-reach.js';
import { OAuthClientsController } from './oauth-clients.controller.js';
import { OAuthClientsService } from './oauth-clients.service.js';

/** The clients of the OAuth provider. */
@Module({
  imports: [RolesModule, SessionsModule],
  controllers: [OAuthClientsController],
  providers: [ClientReach, OAuthClientsService],
})
export class OAuthClientsModule {}
