import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import { type Ends, TopicEnds } from '@customer-platform/event-bus';
import { log, turns } from '@customer-platform/http';
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
    private readonly topics: TopicEnds,
    private readonly database: Database,
    private readonly positions: QueuePositions,
    private readonly counter: AcceptanceCounter,
  ) {}

  /** Resolves when all events answered 202 before the call are counted, or soon after if that takes long. */
  async counted(): Promise<void> {
    const until = performance.now() + PATIENCE_MS;
    this.counter.hurry();
    // Where the readers are is looked at meanwhile: if they are at the end by then, they are so later.
    const [ends, first] = await Promise.all([
      Promise.race([this.ends(), pause(PATIENCE_MS, undefined, { ref: false })]),
      this.furthest(),
    ]);
    if (!ends) return;
    let furthest = first;
    for await (const _ of turns({ forMs: until - performance.now(), pauseMs: LOOK_EVERY_MS })) {
      if (reaches(furthest, ends)) return;
      this.counter.hurry();
      furthest = await this.furthest();
    }
  }

  private furthest(): Promise<Map<number, bigint>> {
    return this.database.acrossOrganizations((tx) => this.positions.furthest(tx, INGESTION_TOPIC));
  }

  /** The end of each partition; undefined while the broker is away. */
  private async ends(): Promise<Ends | undefined> {
    try {
      return await this.topics.of(INGESTION_TOPIC);
    } catch (error) {
      log.debug({ err: error }, 'The end of the queue is not known');
      return undefined;
    }
  }
}

function reaches(furthest: ReadonlyMap<number, bigint>, ends: Ends): boolean {
  return [...ends].every(([partition, end]) => (furthest.get(partition) ?? 0n) >= end);
}
