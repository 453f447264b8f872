import { Module } from '@nestjs/common';
import { MembershipsModule } from '../memberships/memberships.module.js';
import { RolesModule } from '../roles/roles.module.js';
import { RoleAssignmentsController } from './role-assignments.controller.js';
import { RoleAssignmentsService } from './role-assignments.service.js';

/** Which roles members have. */
@Module({
  imports: [MembershipsModule, RolesModule],
  controllers: [RoleAssignmentsController],
  providers: [RoleAssignmentsService],
  exports: [RoleAssignmentsService],
})
export class RoleAssignmentsModule {}
