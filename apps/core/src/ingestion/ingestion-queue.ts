import { Injectable } from '@nestjs/common';
import { Clock } from '@customer-platform/database';
import { keyHash, type Part, RecordProducer, Topics } from '@customer-platform/event-bus';
import type { RecordTopicName } from '@customer-platform/events';
import { metrics, plainIdentifier } from '@customer-platform/http';
import { Counter } from 'prom-client';
import { encodeFrame, encodeRecord, type QueuedEvent } from '../vocabulary/events/event-frame.js';

/** The topic between the API and the worker. */
export const INGESTION_TOPIC = 'core.ingestion' satisfies RecordTopicName;

/** A record is closed at this size; the broker takes 1 MiB, and one event is at most 32 KiB. */
const RECORD_BYTES = 512 * 1024;

/**
 * After the broker has refused one for its size, records are closed at half of it, and each minute at a quarter more:
 * who allowed less for a while is used to the full within the hour, who always does refuses one in some minutes.
 */
const GROWS_EVERY_MS = 60_000;
const GROWTH = 1.25;

/** How long the first event of a record waits for others: fewer, larger records cost all of their readers less. */
const LINGER_MS = 4;
/**
 * Where events keep coming, records are closed at least so far apart: a request to Kafka costs all alike, whatever is
 * in it.
 */
const APART_MS = 10;

/**
 * How long it waits at most while a request is in flight that the record would have to wait for anyway. What is left
 * of the second within which an event is answered is the producer's.
 */
const LONGEST_LINGER_MS = 100;

const recordsCounter = new Counter({
  name: 'ingestion_records_total',
  help: 'Kafka records that accepted events were batched in; events a record are events over records',
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
 * Records close 4 ms after their first event, but at least 10 ms after the ones before. While a request to Kafka is in
 * flight they stay open beyond that: closed, they would only wait in the producer for that request to be over.
 */
@Injectable()
export class IngestionQueue {
  private readonly open = new Map<number, OpenRecord>();
  private timer: NodeJS.Timeout | undefined;
  /** When records were closed last. */
  private closedAt = -Infinity;
  /** Whether the records are open for nothing but the request in flight. */
  private held = false;
  /** What size was left after the broker refused a record for it last, and when that was. */
  private narrowed: { readonly bytes: number; readonly at: number } | undefined;

  constructor(
    private readonly producer: RecordProducer,
    private readonly topics: Topics,
    private readonly clock: Clock,
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
    this.timer ??= setTimeout(() => this.closeUnlessBusy(), this.lingerMs);
    await Promise.all([...records].map(({ sent }) => sent.promise));
  }

  /** The size at which a record is closed now. */
  get recordBytes(): number {
    if (!this.narrowed) return RECORD_BYTES;
    const { bytes, at } = this.narrowed;
    const steps = Math.floor(Math.max(0, this.clock.now().getTime() - at) / GROWS_EVERY_MS);
    if (bytes * GROWTH ** steps < RECORD_BYTES) return Math.floor(bytes * GROWTH ** steps);
    this.narrowed = undefined;
    return RECORD_BYTES;
  }

  private get lingerMs(): number {
    return Math.max(LINGER_MS, this.closedAt + APART_MS - performance.now());
  }

  private place(event: EventToQueue): OpenRecord {
    // All writings of one identifier go one way, so that the events of a person keep their order.
    const key = `${event.organizationId}:${plainIdentifier(event.externalId)}`;
    const partition = keyHash(key) % this.topics.partitionsOf(INGESTION_TOPIC);
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

  private closeUnlessBusy(): void {
    if (!this.producer.busy) {
      this.flush();
      return;
    }
    this.held = true;
    this.timer = setTimeout(() => this.flush(), LONGEST_LINGER_MS - APART_MS);
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.held = false;
    this.closedAt = performance.now();
    for (const [partition, record] of this.open) this.close(partition, record);
  }

  private close(partition: number, record: OpenRecord): void {
    this.open.delete(partition);
    this.send(partition, record.frames, record.since).then(record.sent.resolve, record.sent.reject);
  }

  /**
   * Of a record that the broker refuses for its size the producer sends the halves, in its place: whatever came after it
   * for one of its contacts stays behind them.
   */
  private async send(partition: number, frames: readonly Buffer[], since: number): Promise<void> {
    let records = 1;
    const recordOf = (some: readonly Buffer[]): Part => {
      const value = encodeRecord(some);
      const parts = (): Part[] => {
        this.refused(value.length);
        records += 1;
        const middle = Math.ceil(some.length / 2);
        return [recordOf(some.slice(0, middle)), recordOf(some.slice(middle))];
      };
      return some.length === 1 ? { value } : { value, parts };
    };
    const { value, parts } = recordOf(frames);
    await this.producer.sendToPartition(INGESTION_TOPIC, partition, value, { since, parts });
    recordsCounter.inc(records);
    eventsCounter.inc(frames.length);
  }

  private refused(bytes: number): void {
    this.narrowed = {
      bytes: Math.min(this.recordBytes, Math.ceil(bytes / 2)),
      at: this.clock.now().getTime(),
    };
  }
}
