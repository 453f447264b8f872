import { Injectable } from '@nestjs/common';
import { RecordProducer, Topics } from '@customer-platform/event-bus';
import { encodeFrame, encodeRecord, type QueuedEvent } from './event-frame.js';

/** The topic between the API and the worker. */
export const INGESTION_TOPIC = 'core.ingestion';

/** A record is closed at this size; the broker takes 1 MiB, and one event is at most 32 KiB. */
const RECORD_BYTES = 512 * 1024;

/** How long the first event of a record waits for others: fewer, larger records cost all of their readers less. */
const GATHER_MS = 4;

/** An accepted event and the identifier whose order must be kept. */
export interface EventToQueue extends QueuedEvent {
  readonly externalId: string;
}

/** A record in the making: the frames of one partition, and whoever waits for them. */
interface OpenRecord {
  frames: Buffer[];
  bytes: number;
  readonly sent: PromiseWithResolvers<void>;
}

/**
 * Queues accepted events: several in one Kafka record, since a record costs each of its producers and consumers more
 * than the events in it. The events of one contact go to one partition, in the order in which they came.
 */
@Injectable()
export class IngestionQueue {
  private readonly open = new Map<number, OpenRecord>();
  private flushing = false;

  constructor(
    private readonly producer: RecordProducer,
    private readonly topics: Topics,
  ) {}

  /**
   * Resolves when the broker has acknowledged every one of the events on all replicas.
   * @throws QueueUnavailable within 1 s otherwise; some of them may have been queued all the same
   */
  async add(events: readonly EventToQueue[]): Promise<void> {
    const records = new Set<OpenRecord>();
    for (const event of events) records.add(this.place(event));
    if (!this.flushing) {
      this.flushing = true;
      setTimeout(() => this.flush(), GATHER_MS);
    }
    await Promise.all([...records].map(({ sent }) => sent.promise));
  }

  private place(event: EventToQueue): OpenRecord {
    const key = `${event.organizationId}:${event.externalId}`;
    const partition = hashOf(key) % this.topics.partitionsOf(INGESTION_TOPIC);
    const frame = encodeFrame(event);
    const current = this.open.get(partition);
    if (current && current.bytes + frame.length > RECORD_BYTES) this.send(partition, current);
    let record = this.open.get(partition);
    if (!record) {
      record = { frames: [], bytes: 0, sent: Promise.withResolvers<void>() };
      this.open.set(partition, record);
    }
    record.frames.push(frame);
    record.bytes += frame.length;
    return record;
  }

  private flush(): void {
    this.flushing = false;
    for (const [partition, record] of this.open) this.send(partition, record);
  }

  private send(partition: number, record: OpenRecord): void {
    this.open.delete(partition);
    this.producer
      .sendToPartition(INGESTION_TOPIC, partition, encodeRecord(record.frames))
      .then(record.sent.resolve, record.sent.reject);
  }
}

/**
 * FNV-1a over UTF-16 units, folded. Nobody else writes to the topic, so nothing hangs on Kafka's own hash, which
 * kafkajs computes in 64-bit steps (3 % of the handler's time, measured).
 */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 16)) >>> 0;
}
