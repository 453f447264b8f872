import { Module } from '@nestjs/common';
import { SignInModule } from '../sign-in/sign-in.module.js';
import { SsoConnectionsModule } from '../sso-connections/sso-connections.module.js';
import { SSO_CONFIG, ssoConfig } from '../sso-connections/sso.config.js';
import { SsoCallbackController } from './sso-callback.controller.js';

/** The way back from a provider into the sign-in that is under way. */
@Module({
  imports: [SignInModule, SsoConnectionsModule],
  controllers: [SsoCallbackController],
  providers: [{ provide: SSO_CONFIG, useFactory: ssoConfig }],
})
export class SsoCallbackModule {}
