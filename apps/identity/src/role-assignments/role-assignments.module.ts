import { Module } from '@nestjs/common';
import { RolesModule } from '../roles/roles.module.js';
import { RoleAssignmentsController } from './role-assignments.controller.js';
import { RoleAssignmentsService } from './role-assignments.service.js';

/** Which roles members have. */
@Module({
  imports: [RolesModule],
  controllers: [RoleAssignmentsController],
  providers: [RoleAssignmentsService],
  exports: [RoleAssignmentsService],
})
export class RoleAssignmentsModule {}
