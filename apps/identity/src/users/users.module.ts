import { Module } from '@nestjs/common';
import { TenantTallies } from '@customer-platform/database';
import { MembershipsModule } from '../memberships/memberships.module.js';
import { MfaModule } from '../mfa/mfa.module.js';
import { RolesModule } from '../roles/roles.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { AddressProbes } from './address-probes.js';
import { UserArrivals } from './user-arrivals.js';
import { UsersController } from './users.controller.js';
import { UsersService } from './users.service.js';

/** People. */
@Module({
  imports: [MembershipsModule, MfaModule, RolesModule, SessionsModule],
  controllers: [UsersController],
  providers: [AddressProbes, TenantTallies, UserArrivals, UsersService],
  exports: [UserArrivals, UsersService],
})
export class UsersModule {}
