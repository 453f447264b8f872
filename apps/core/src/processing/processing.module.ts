import { Module } from '@nestjs/common';
import { DeclaredAttributesModule } from '../attributes/declared-attributes.module.js';
import { FollowingModule } from '../segments/following/following.module.js';
import { MergesModule } from '../contacts/merge/merges.module.js';
import { SuggestionsModule } from '../contacts/suggestions/suggestions.module.js';
import { BlocklistModule } from '../subject-requests/blocklist/blocklist.module.js';
import { EnforcingModule } from '../taxonomies/enforcing/enforcing.module.js';
import { CarefulProcessor } from './careful-processor.js';
import { ChunkProcessor } from './chunk-processor.js';
import { Confirmation } from './confirmation.js';
import { ContestedIdentities } from './contested-identities.js';
import { IngestionWorker } from './ingestion.worker.js';
import { LateStages } from './late-stages.js';
import { QueuePositions } from './queue-positions.js';
import { UnreadableRecords } from './unreadable-records.js';

/** Gives accepted events their effect. */
@Module({
  imports: [
    BlocklistModule,
    DeclaredAttributesModule,
    EnforcingModule,
    FollowingModule,
    MergesModule,
    SuggestionsModule,
  ],
  providers: [
    CarefulProcessor,
    ChunkProcessor,
    Confirmation,
    ContestedIdentities,
    IngestionWorker,
    LateStages,
    QueuePositions,
    UnreadableRecords,
  ],
  exports: [CarefulProcessor, LateStages, QueuePositions, UnreadableRecords],
})
export class ProcessingModule {}
