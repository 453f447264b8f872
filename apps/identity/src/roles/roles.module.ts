import { Module } from '@nestjs/common';
import { BuiltInPermissions } from './built-in.permissions.js';
import { RoleGrants } from './role-grants.js';
import { RolesController } from './roles.controller.js';
import { RolesService } from './roles.service.js';

/** Roles and what they permit. */
@Module({
  controllers: [RolesController],
  providers: [BuiltInPermissions, RoleGrants, RolesService],
  exports: [BuiltInPermissions, RoleGrants],
})
export class RolesModule {}
