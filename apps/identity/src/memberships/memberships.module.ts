import { Module } from '@nestjs/common';
import { SessionsModule } from '../sessions/sessions.module.js';
import { MembershipsController } from './memberships.controller.js';
import { MembershipsService } from './memberships.service.js';

/** Who belongs to an organization. */
@Module({
  imports: [SessionsModule],
  controllers: [MembershipsController],
  providers: [MembershipsService],
  exports: [MembershipsService],
})
export class MembershipsModule {}
