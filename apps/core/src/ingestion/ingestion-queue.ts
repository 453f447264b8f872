import { Injectable } from '@nestjs/common';
import { RecordProducer, RecordTooLarge, Topics } from '@customer-platform/event-bus';
import { metrics } from '@customer-platform/http';
import { Counter } from 'prom-client';
import { encodeFrame, encodeRecord, type QueuedEvent } from './event-frame.js';

/** The topic between the API and the worker. */
export const INGESTION_TOPIC = 'core.ingestion';

/** A record is closed at this size; the broker takes 1 MiB, and one event is at most 32 KiB. */
const RECORD_BYTES = 512 * 1024;

/** How long the first event of a record waits for others: fewer, larger records cost all of their readers less. */
const GATHER_MS = 4;

/**
 * How long it waits at most while a request is in flight that the record would have to wait for anyway. What is left
 * of the second within which an event is answered is the producer's.
 */
const LONGEST_GATHER_MS = 100;

const recordsCounter = new Counter({
  name: 'ingestion_records_total',
  help: 'Kafka records that accepted events were gathered in; events a record are events over records',
  registers: [metrics],
});
const eventsCounter = new Counter({
  name: 'ingestion_record_events_total',
  help: 'Events in the Kafka records of ingestion',
  registers: [metrics],
});

/** An accepted event and the identifier whose order must be kept. */
export interface EventToQueue extends QueuedEvent {
  readonly externalId: string;
}

/** A record in the making: the frames of one partition, and whoever waits for them. */
interface OpenRecord {
  readonly since: number;
  frames: Buffer[];
  bytes: number;
  readonly sent: PromiseWithResolvers<void>;
}

/**
 * Queues accepted events: several in one Kafka record, since a record costs each of its producers and consumers more
 * than the events in it. The events of one contact go to one partition, in the order in which they came.
 *
 * A record is open for 4 ms, and beyond that while a request to Kafka is in flight: closed, it would only wait in the
 * producer for that request to be over.
 */
@Injectable()
export class IngestionQueue {
  private readonly open = new Map<number, OpenRecord>();
  private timer: NodeJS.Timeout | undefined;
  /** Whether the records are open for nothing but the request in flight. */
  private held = false;
  private recordBytes = RECORD_BYTES;

  constructor(
    private readonly producer: RecordProducer,
    private readonly topics: Topics,
  ) {
    producer.onRequestOver(() => {
      if (this.held) this.flush();
    });
  }

  /**
   * Resolves when the broker has acknowledged every one of the events on all replicas.
   * @throws QueueUnavailable within 1 s otherwise; some of them may have been queued all the same
   */
  async add(events: readonly EventToQueue[]): Promise<void> {
    const records = new Set<OpenRecord>();
    for (const event of events) records.add(this.place(event));
    this.timer ??= setTimeout(() => this.gathered(), GATHER_MS);
    await Promise.all([...records].map(({ sent }) => sent.promise));
  }

  private place(event: EventToQueue): OpenRecord {
    const key = `${event.organizationId}:${event.externalId}`;
    const partition = hashOf(key) % this.topics.partitionsOf(INGESTION_TOPIC);
    const frame = encodeFrame(event);
    const current = this.open.get(partition);
    if (current && current.bytes + frame.length > this.recordBytes) this.close(partition, current);
    let record = this.open.get(partition);
    if (!record) {
      record = { since: Date.now(), frames: [], bytes: 0, sent: Promise.withResolvers<void>() };
      this.open.set(partition, record);
    }
    record.frames.push(frame);
    record.bytes += frame.length;
    return record;
  }

  private gathered(): void {
    if (!this.producer.busy) {
      this.flush();
      return;
    }
    this.held = true;
    this.timer = setTimeout(() => this.flush(), LONGEST_GATHER_MS - GATHER_MS);
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.held = false;
    for (const [partition, record] of this.open) this.close(partition, record);
  }

  private close(partition: number, record: OpenRecord): void {
    this.open.delete(partition);
    this.send(partition, record.frames, record.since).then(record.sent.resolve, record.sent.reject);
  }

  /** A record that the broker refuses for its size was not written: its halves go instead, and later ones are smaller. */
  private async send(partition: number, frames: readonly Buffer[], since: number): Promise<void> {
    try {
      await this.producer.sendToPartition(INGESTION_TOPIC, partition, encodeRecord(frames), { since });
      recordsCounter.inc();
      eventsCounter.inc(frames.length);
    } catch (error) {
      if (!(error instanceof RecordTooLarge) || frames.length === 1) throw error;
      const middle = Math.ceil(frames.length / 2);
      this.recordBytes = Math.min(this.recordBytes, Math.ceil(encodeRecord(frames).length / 2));
      await this.send(partition, frames.slice(0, middle), since);
      await this.send(partition, frames.slice(middle), since);
    }
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
