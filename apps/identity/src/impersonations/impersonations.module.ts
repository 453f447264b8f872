import { Module } from '@nestjs/common';
import { retentionOf, type RetentionOptions } from '@customer-platform/database';
import { RolesModule } from '../roles/roles.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { ImpersonationsController } from './impersonations.controller.js';
import { ImpersonationsService } from './impersonations.service.js';

/** Kept as long as sessions are, among which they are shown (identity.md §5). */
const ENDED_IMPERSONATIONS: RetentionOptions = {
  name: 'impersonation-retention',
  table: 'impersonations',
  where: 'old.ended_at < $1',
  keptMs: 90 * 86_400_000,
};

/** Users who act as others. */
@Module({
  imports: [RolesModule, SessionsModule],
  controllers: [ImpersonationsController],
  providers: [ImpersonationsService, retentionOf(ENDED_IMPERSONATIONS)],
})
export class ImpersonationsModule {}
