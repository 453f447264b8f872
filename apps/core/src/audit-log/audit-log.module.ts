import { Module } from '@nestjs/common';
import { ProcessingModule } from '../processing/processing.module.js';
import { SigningKeysModule } from '@customer-platform/database';
import { AuditCheckpoints } from './audit-checkpoints.js';
import { AuditLogConsumer } from './audit-log.consumer.js';
import { AuditLogController } from './audit-log.controller.js';
import { AuditLogRepository } from './audit-log.repository.js';
import { AuditLogService } from './audit-log.service.js';
import { AuditVerification } from './audit-verification.js';
import { AuditVerifier } from './audit-verifier.js';

/** The audit log of every organization: a chain of hashes with signed checkpoints. */
@Module({
  imports: [ProcessingModule, SigningKeysModule.forRoot({ module: 'core' })],
  controllers: [AuditLogController],
  providers: [
    AuditCheckpoints,
    AuditLogConsumer,
    AuditLogRepository,
    AuditLogService,
    AuditVerification,
    AuditVerifier,
  ],
})
export class AuditLogModule {}
