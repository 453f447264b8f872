import { Module } from '@nestjs/common';
import { BuiltInPermissions } from './built-in.permissions.js';

/** Roles and what they permit. */
@Module({ providers: [BuiltInPermissions], exports: [BuiltInPermissions] })
export class RolesModule {}
