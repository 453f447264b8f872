import { Module } from '@nestjs/common';
import { BatchService } from './batch.service.js';
import { FairShares } from './fair-shares/fair-shares.js';
import { HotRoute } from './hot-route.js';
import { IngestionController } from './ingestion.controller.js';
import { IngestionQueue } from './ingestion-queue.js';
import { IngestionRequests } from './ingestion-request.js';
import { IngestionService } from './ingestion.service.js';
import { TaxonomiesModule } from '../taxonomies/taxonomies.module.js';
import { RateLimitsModule } from './rate-limits/rate-limits.module.js';
import { Refusals } from './refusals.js';

/** Takes events: validated, limited and durable before they are answered. */
@Module({
  imports: [RateLimitsModule, TaxonomiesModule],
  controllers: [IngestionController],
  providers: [
    BatchService,
    { provide: FairShares, useFactory: () => new FairShares(() => performance.now()) },
    HotRoute,
    IngestionQueue,
    IngestionRequests,
    IngestionService,
    Refusals,
  ],
  exports: [HotRoute, IngestionQueue, Refusals],
})
export class IngestionModule {}
