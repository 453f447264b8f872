import { Module } from '@nestjs/common';
import { FollowingModule } from '../following/following.module.js';
import { PeopleModule } from '../people/people.module.js';
import { BlocklistModule } from '../blocklist/blocklist.module.js';
import { TaxonomiesModule } from '../taxonomies/taxonomies.module.js';
import { ContestedIdentities } from './contested-identities.js';
import { EventProcessor } from './event-processor.js';
import { FailingEvents } from './failing-events.js';
import { IngestionWorker } from './ingestion.worker.js';
import { QueuePositions } from './queue-positions.js';
import { UnreadableRecords } from './unreadable-records.js';

/** Gives accepted events their effect. */
@Module({
  imports: [BlocklistModule, FollowingModule, PeopleModule, TaxonomiesModule],
  providers: [
    ContestedIdentities,
    EventProcessor,
    FailingEvents,
    IngestionWorker,
    QueuePositions,
    UnreadableRecords,
  ],
  exports: [FailingEvents, QueuePositions, UnreadableRecords],
})
export class ProcessingModule {}
