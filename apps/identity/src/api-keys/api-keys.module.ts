import { Module } from '@nestjs/common';
import { RolesModule } from '../roles/roles.module.js';
import { ApiKeyIssuing } from './api-key.issuing.js';
import { ApiKeysController } from './api-keys.controller.js';
import { ApiKeysService } from './api-keys.service.js';

/** Machines' credentials. */
@Module({
  imports: [RolesModule],
  controllers: [ApiKeysController],
  exports: [ApiKeyIssuing],
  providers: [ApiKeyIssuing, ApiKeysService],
})
export class ApiKeysModule {}
