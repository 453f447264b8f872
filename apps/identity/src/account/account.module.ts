import { Module } from '@nestjs/common';
import { PasswordsModule } from '../passwords/passwords.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { SsoConnectionsModule } from '../sso-connections/sso-connections.module.js';
import { UsersModule } from '../users/users.module.js';
import { AccountController } from './account.controller.js';
import { AccountLinks } from './account-links.js';
import { AccountLinksController } from './account-links.controller.js';
import { AccountService } from './account.service.js';
import { OwnPassword } from './own-password.js';

/** Lets people read and change their own account and password, and says where they are told what became of it. */
@Module({
  imports: [PasswordsModule, SessionsModule, SsoConnectionsModule, UsersModule],
  controllers: [AccountController, AccountLinksController],
  providers: [AccountLinks, AccountService, OwnPassword],
})
export class AccountModule {}
