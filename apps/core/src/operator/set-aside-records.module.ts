import { Module } from '@nestjs/common';
import { DatabaseModule } from '@customer-platform/database';
import { EventBusModule } from '@customer-platform/event-bus';
import { AuditLogRepository } from '../audit-log/audit-log.repository.js';
import { CORE_MIGRATIONS } from '../migrations/core.migrations.js';
import { SetAsideRecords } from './set-aside-records.js';

/** What the commands on records that were set aside need: nothing that listens or consumes. */
@Module({
  imports: [
    DatabaseModule.forRoot({ module: 'core', entities: [], migrations: CORE_MIGRATIONS }),
    EventBusModule.forWriting({ module: 'core' }),
  ],
  providers: [AuditLogRepository, SetAsideRecords],
})
export class SetAsideRecordsModule {}
