import { Module } from '@nestjs/common';
import { CarefulProcessor } from './careful-processor.js';
import { ChunkProcessor } from './chunk-processor.js';
import { Confirmation } from './confirmation.js';
import { IngestionWorker } from './ingestion.worker.js';
import { QueuePositions } from './queue-positions.js';

/** Gives accepted events their effect. */
@Module({
  providers: [CarefulProcessor, ChunkProcessor, Confirmation, IngestionWorker, QueuePositions],
  exports: [CarefulProcessor, QueuePositions],
})
export class ProcessingModule {}
