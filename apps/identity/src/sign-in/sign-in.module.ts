import { Module } from '@nestjs/common';
import { retentionOf } from '@customer-platform/database';
import { InvitationsModule } from '../invitations/invitations.module.js';
import { MfaModule } from '../mfa/mfa.module.js';
import { OAuthModule } from '../oauth/oauth.module.js';
import { PasswordResetsModule } from '../password-resets/password-resets.module.js';
import { PasswordsModule } from '../passwords/passwords.module.js';
import { SsoConnectionsModule } from '../sso-connections/sso-connections.module.js';
import { InteractionSteps } from './interaction-steps.js';
import { InteractionsController } from './interactions.controller.js';
import { KnownBrowsers } from './known-browsers.js';
import { PasswordSignIn } from './password-sign-in.js';
import { PasswordResetPagesController } from './password-reset-pages.controller.js';
import { OLD_SIGN_INS, SignInProgress } from './sign-in-progress.js';
import { SsoCallbackController } from './sso-callback.controller.js';

/** How people sign in: by pages that are rendered here and need no script. */
@Module({
  imports: [
    InvitationsModule,
    MfaModule,
    OAuthModule,
    PasswordResetsModule,
    PasswordsModule,
    SsoConnectionsModule,
  ],
  controllers: [InteractionsController, PasswordResetPagesController, SsoCallbackController],
  providers: [InteractionSteps, KnownBrowsers, PasswordSignIn, SignInProgress, retentionOf(OLD_SIGN_INS)],
})
export class SignInModule {}
