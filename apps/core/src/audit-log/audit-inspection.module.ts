import { Module } from '@nestjs/common';
import { DatabaseModule, SigningKeysModule } from '@customer-platform/database';
import { EventBusModule } from '@customer-platform/event-bus';
import { CORE_MIGRATIONS } from '../migrations/core.migrations.js';
import { AuditInspection } from './audit-inspection.js';
import { AuditLogRepository } from './audit-log.repository.js';
import { AuditVerifier } from './audit-verifier.js';

/** What the command that verifies audit logs needs: nothing that listens, consumes or writes. */
@Module({
  imports: [
    DatabaseModule.forRoot({ module: 'core', entities: [], migrations: CORE_MIGRATIONS }),
    EventBusModule.forReading({ module: 'core' }),
    SigningKeysModule.forRoot({ module: 'core' }),
  ],
  providers: [AuditInspection, AuditLogRepository, AuditVerifier],
})
export class AuditInspectionModule {}
