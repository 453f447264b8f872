import { Module } from '@nestjs/common';
import { SessionsModule } from '../sessions/sessions.module.js';
import { Administrators } from './administrators.js';
import { InternalMembershipsController } from './internal-memberships.controller.js';
import { InternalMembershipsService } from './internal-memberships.service.js';
import { MembershipsController } from './memberships.controller.js';
import { MembershipsService } from './memberships.service.js';

/** Who belongs to an organization. */
@Module({
  imports: [SessionsModule],
  controllers: [InternalMembershipsController, MembershipsController],
  providers: [Administrators, InternalMembershipsService, MembershipsService],
  exports: [Administrators, MembershipsService],
})
export class MembershipsModule {}
