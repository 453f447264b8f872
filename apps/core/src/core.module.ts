import { Module } from '@nestjs/common';
import { AuthorizationModule } from '@customer-platform/authorization';
import { DatabaseModule } from '@customer-platform/database';
import { EventBusModule } from '@customer-platform/event-bus';
import { IngestionModule } from './ingestion/ingestion.module.js';
import { CORE_MIGRATIONS } from './migrations/index.js';
import { ProcessingModule } from './processing/processing.module.js';

/** Core: contacts, and the events that are about them. */
@Module({
  imports: [
    DatabaseModule.forRoot({ module: 'core', entities: [], migrations: CORE_MIGRATIONS }),
    EventBusModule.forRoot({ module: 'core' }),
    AuthorizationModule.forRoot({ module: 'core' }),
    IngestionModule,
    ProcessingModule,
  ],
})
export class CoreModule {}
