import { Module } from '@nestjs/common';
import { IngestionModule } from '../ingestion/ingestion.module.js';
import { ProcessingModule } from '../processing/processing.module.js';
import { AcceptanceCounter } from './acceptance-counter.js';
import { QueueEnd } from './queue-end.js';
import { UsageController } from './usage.controller.js';
import { UsageService } from './usage.service.js';

/** What an organization used. */
@Module({
  imports: [IngestionModule, ProcessingModule],
  controllers: [UsageController],
  providers: [AcceptanceCounter, QueueEnd, UsageService],
})
export class UsageModule {}
