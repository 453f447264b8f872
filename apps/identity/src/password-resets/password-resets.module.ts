import { Module } from '@nestjs/common';
import { retentionOf } from '@customer-platform/database';
import { PasswordsModule } from '../passwords/passwords.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { SsoConnectionsModule } from '../sso-connections/sso-connections.module.js';
import { PasswordResetIssuing } from './password-reset-issuing.js';
import { OLD_LIMITS, PasswordResetLimits } from './password-reset-limits.js';
import { PasswordResetLinks } from './password-reset-links.js';
import { PasswordResetLinksController } from './password-reset-links.controller.js';
import { PasswordResetTokens } from './password-reset-tokens.js';
import { PasswordResets } from './password-resets.js';
import { PasswordResetsController } from './password-resets.controller.js';

/** New passwords for who has forgotten theirs. */
@Module({
  imports: [PasswordsModule, SessionsModule, SsoConnectionsModule],
  controllers: [PasswordResetLinksController, PasswordResetsController],
  providers: [
    PasswordResetIssuing,
    PasswordResetLimits,
    PasswordResetLinks,
    PasswordResets,
    PasswordResetTokens,
    retentionOf(OLD_LIMITS),
  ],
  exports: [PasswordResets],
})
export class PasswordResetsModule {}
