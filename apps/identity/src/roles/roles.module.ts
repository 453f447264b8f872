import { Module } from '@nestjs/common';
import { BuiltInPermissions } from './built-in.permissions.js';
import { MachineRoles } from './machine-roles.js';

/** Roles and what they permit. */
@Module({ providers: [BuiltInPermissions, MachineRoles], exports: [BuiltInPermissions, MachineRoles] })
export class RolesModule {}
