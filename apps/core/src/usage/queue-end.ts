import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import { Topics } from '@customer-platform/event-bus';
import { log } from '@customer-platform/http';
import { INGESTION_TOPIC } from '../ingestion/ingestion-queue.js';
import { QueuePositions } from '../processing/queue-positions.js';
import { AcceptanceCounter } from './acceptance-counter.js';

const LOOK_EVERY_MS = 15;
/** Beyond it the answer is of a moment ago, and as exact. */
const PATIENCE_MS = 700;

/** Knows whether everything that was accepted so far has been counted. */
@Injectable()
export class QueueEnd {
  constructor(
    private readonly topics: Topics,
    private readonly database: Database,
    private readonly positions: QueuePositions,
    private readonly counter: AcceptanceCounter,
  ) {}

  /** Resolves when all events answered 202 before the call are counted, or soon after if that takes long. */
  async counted(): Promise<void> {
    const giveUpAt = Date.now() + PATIENCE_MS;
    const ends = await Promise.race([this.ends(), pause(PATIENCE_MS, undefined, { ref: false })]);
    if (!ends) return;
    while (Date.now() < giveUpAt) {
      this.counter.hurry();
      const furthest = await this.database.acrossOrganizations((tx) =>
        this.positions.furthest(tx, INGESTION_TOPIC),
      );
      if (ends.every(({ partition, end }) => (furthest.get(partition) ?? 0n) >= end)) return;
      await pause(LOOK_EVERY_MS);
    }
  }

  /** The end of each partition that holds anything; undefined while the broker is away. */
  private async ends(): Promise<{ partition: number; end: bigint }[] | undefined> {
    try {
      const offsets = await this.topics.withAdmin((admin) =>
        admin.fetchTopicOffsets(this.positions.named(INGESTION_TOPIC)),
      );
      return offsets.map(({ partition, high }) => ({ partition, end: BigInt(high) }));
    } catch (error) {
      log.debug({ err: error }, 'The end of the queue is not known');
      return undefined;
    }
  }
}
