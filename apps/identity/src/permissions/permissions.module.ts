import { Module } from '@nestjs/common';
import { PermissionExplanations } from './permission-explanations.service.js';
import { PermissionsController } from './permissions.controller.js';
import { PermissionsService } from './permissions.service.js';

/** The permission registry as a list, and who holds what of it. */
@Module({ controllers: [PermissionsController], providers: [PermissionExplanations, PermissionsService] })
export class PermissionsModule {}
