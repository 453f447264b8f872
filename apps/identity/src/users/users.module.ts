import { Module } from '@nestjs/common';
import { MfaModule } from '../mfa/mfa.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { AddressProbes } from './address-probes.js';
import { UserArrivals } from './user-arrivals.js';
import { UsersController } from './users.controller.js';
import { UsersService } from './users.service.js';

/** People. */
@Module({
  imports: [MfaModule, SessionsModule],
  controllers: [UsersController],
  providers: [AddressProbes, UserArrivals, UsersService],
  exports: [UserArrivals],
})
export class UsersModule {}
