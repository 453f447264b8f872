import { Module } from '@nestjs/common';
import { DeliverabilityController } from './deliverability.controller.js';
import { DeliverabilityCounter } from './deliverability-counter.js';
import { DeliverabilityRecount } from './deliverability-recount.js';
import { DeliverabilityService } from './deliverability.service.js';

/** What became of sends, counted. */
@Module({
  controllers: [DeliverabilityController],
  providers: [DeliverabilityCounter, DeliverabilityRecount, DeliverabilityService],
})
export class DeliverabilityModule {}
