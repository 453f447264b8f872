import { Module } from '@nestjs/common';
import { ApiKeysModule } from '../api-keys/api-keys.module.js';
import { RolesModule } from '../roles/roles.module.js';
import { InternalRetentionController } from './internal-retention.controller.js';
import { OrganizationFounding } from './organization.founding.js';
import { OrganizationsController } from './organizations.controller.js';
import { OrganizationsService } from './organizations.service.js';

/** Organizations as a tree. */
@Module({
  imports: [ApiKeysModule, RolesModule],
  controllers: [InternalRetentionController, OrganizationsController],
  providers: [OrganizationFounding, OrganizationsService],
})
export class OrganizationsModule {}
