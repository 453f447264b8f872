import { Module } from '@nestjs/common';
import { FollowingModule } from '../segments/following/following.module.js';
import { SuggestionsModule } from '../contacts/suggestions/suggestions.module.js';
import { CarefulProcessor } from './careful-processor.js';
import { ChunkProcessor } from './chunk-processor.js';
import { Confirmation } from './confirmation.js';
import { IngestionWorker } from './ingestion.worker.js';
import { QueuePositions } from './queue-positions.js';
import { UnreadableRecords } from './unreadable-records.js';

/** Gives accepted events their effect. */
@Module({
  imports: [FollowingModule, SuggestionsModule],
  providers: [
    CarefulProcessor,
    ChunkProcessor,
    Confirmation,
    IngestionWorker,
    QueuePositions,
    UnreadableRecords,
  ],
  exports: [CarefulProcessor, QueuePositions, UnreadableRecords],
})
export class ProcessingModule {}
