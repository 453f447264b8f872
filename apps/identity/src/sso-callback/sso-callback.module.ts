import { Module } from '@nestjs/common';
import { SignInModule } from '../sign-in/sign-in.module.js';
import { SsoConnectionsModule } from '../sso-connections/sso-connections.module.js';
import { SsoCallbackController } from './sso-callback.controller.js';

/** The way back from a provider into the sign-in that is under way. */
@Module({
  imports: [SignInModule, SsoConnectionsModule],
  controllers: [SsoCallbackController],
})
export class SsoCallbackModule {}
