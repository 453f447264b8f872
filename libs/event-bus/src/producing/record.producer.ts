import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { log } from '@customer-platform/http';
import { type PartitionMetadata, Partitioners, type TopicMessages } from 'kafkajs';
import { QueueUnavailable } from '../errors.js';
import { KafkaClient } from '../kafka/kafka.client.js';
import { protocolErrorType } from '../kafka/protocol-error.js';
import { Topics } from '../kafka/topics.js';
import { ProducerLine } from './producer.line.js';
import { pause, within } from '../within.js';
import { type BufferedRecord, RecordBuffer } from './record.buffer.js';

/** A record to be sent; the key decides the partition. */
export interface OutgoingRecord {
  readonly key: string;
  readonly value: Buffer | string;
  readonly headers?: Record<string, string>;
}

/** What is answered within: a waiter is told `QueueUnavailable` at the latest this long after it came. */
const PATIENCE_MS = 850;
/**
 * How long a request may take before its connection is given up. Longer than the patience of those who wait: a broker
 * that is merely slow is not helped by new connections.
 */
const REQUEST_MS = 5_000;
/** How long a lone record waits for company. */
const LINGER_MS = 1;
/** Below the 1 MiB that the broker takes, with room for key and headers. */
const RECORD_BYTES = 1_000_000;
/** Pause between two attempts at a broker that is away. */
const RETRY_MS = 100;

const partitioner = Partitioners.DefaultPartitioner();
const metadataBySize = new Map<number, PartitionMetadata[]>();

/** As many partitions as that: of a record with a key the partitioner looks at their number only. */
function metadataOf(partitions: number): PartitionMetadata[] {
  const known = metadataBySize.get(partitions);
  if (known) return known;
  const fresh = Array.from({ length: partitions }, (_, partitionId) => ({
    partitionErrorCode: 0,
    partitionId,
    leader: 0,
    replicas: [],
    isr: [],
  }));
  metadataBySize.set(partitions, fresh);
  return fresh;
}

/**
 * Sends records and resolves each when the broker has acknowledged it on all replicas. Records are gathered for 1 ms
 * or until 500 of them wait, then sent as one request; one request is in flight.
 *
 * While the broker is away, records wait for it up to 0.85 s, then are refused; once it has been away that long, new
 * ones are refused at once, until a probe reaches it again. What waits is bounded (32 MiB).
 */
@Injectable()
export class RecordProducer implements OnApplicationShutdown {
  private readonly line: ProducerLine;
  private readonly buffer = new RecordBuffer();
  private awaySince: number | undefined;
  private pumping = false;
  private closed = false;

  constructor(
    client: KafkaClient,
    private readonly topics: Topics,
  ) {
    this.line = new ProducerLine(() => client.producer());
    this.named = (topic) => client.named(topic);
  }

  private readonly named: (topic: string) => string;

  /** How many records are not settled yet. */
  get waiting(): number {
    return this.buffer.unsettled;
  }

  /** Which partition of the topic records with this key go to (murmur2, as every Kafka client). */
  partitionOf(topic: string, key: string): number {
    const partitionMetadata = metadataOf(this.topics.partitionsOf(topic));
    return partitioner({
      topic,
      partitionMetadata,
      message: { key, value: null },
    });
  }

  /**
   * Resolves when the record is on all replicas.
   * @throws QueueUnavailable within 1 s when the broker did not acknowledge; it may have been written all the same
   * @throws RangeError when the value is larger than 1,000,000 bytes
   */
  send(topic: string, record: OutgoingRecord): Promise<void> {
    return this.enqueue({ topic, ...record });
  }

  /** As `send`, to a partition of one's choice; for records that gather several keys of one partition. */
  sendToPartition(topic: string, partition: number, value: Buffer | string, key?: string): Promise<void> {
    return this.enqueue({ topic, partition, value, key });
  }

  /** Makes the topics known, and connects, before the first record comes. Throws when the broker is away. */
  async prepare(topics: readonly string[]): Promise<void> {
    await this.topics.ensure(topics);
    await this.line.connect();
  }

  async onApplicationShutdown(): Promise<void> {
    this.closed = true;
    await this.buffer.drained(PATIENCE_MS);
    await this.line.close();
  }

  private enqueue(record: BufferedRecord): Promise<void> {
    if (Buffer.byteLength(record.value) > RECORD_BYTES) {
      return Promise.reject(new RangeError('The record is larger than the broker takes'));
    }
    const away = this.awaySince !== undefined && Date.now() - this.awaySince > PATIENCE_MS;
    if (this.closed || away || this.buffer.full) return Promise.reject(new QueueUnavailable());
    const settled = this.buffer.add(record);
    if (!this.pumping) void this.pump();
    return settled;
  }

  /** Sends what waits, one request after the other, until nothing does; while the broker is away it keeps probing. */
  private async pump(): Promise<void> {
    this.pumping = true;
    const sweep = setInterval(() => {
      this.refuseLate();
    }, 50);
    try {
      while (!this.closed || this.buffer.size > 0) {
        if (this.awaySince !== undefined) await this.probe();
        else if (this.buffer.size > 0) await this.sendNext();
        else break;
      }
    } finally {
      clearInterval(sweep);
      this.pumping = false;
    }
  }

  /** Who has waited too long is told, and that the broker does not answer is remembered. */
  private refuseLate(): void {
    if (this.buffer.refuseOlderThan(PATIENCE_MS) > 0) this.awaySince ??= Date.now();
  }

  private async sendNext(): Promise<void> {
    await this.buffer.gathered(LINGER_MS);
    this.refuseLate();
    const batch = this.buffer.take();
    if (batch.length === 0) return;
    try {
      await within(REQUEST_MS, this.topics.ensure([...new Set(batch.map(({ topic }) => topic))]));
      await this.line.send(this.grouped(batch), REQUEST_MS);
      this.awaySince = undefined;
      this.buffer.landed();
    } catch (error) {
      this.failed(batch, error);
    }
  }

  /** What the broker refuses is told; what it could not be asked goes back to the head and waits for it. */
  private failed(batch: readonly BufferedRecord[], error: unknown): void {
    const refusal = refusalIn(error);
    if (refusal && batch.length === 1) this.buffer.refused(refusal);
    else if (refusal) this.buffer.putBack(1);
    else {
      log.warn({ err: error, records: batch.length }, 'Kafka did not acknowledge');
      this.awaySince ??= Date.now();
      this.topics.forget(batch.map(({ topic }) => topic));
      this.buffer.putBack();
    }
  }

  private async probe(): Promise<void> {
    try {
      await this.line.connect();
      this.awaySince = undefined;
    } catch {
      // Said once, when the outage began; the pause keeps a refused connection from spinning.
      await pause(RETRY_MS);
    }
  }

  private grouped(batch: readonly BufferedRecord[]): TopicMessages[] {
    const byTopic = new Map<string, TopicMessages>();
    for (const { topic, partition, key, value, headers } of batch) {
      const entry = byTopic.get(topic) ?? { topic: this.named(topic), messages: [] };
      byTopic.set(topic, entry);
      const chosen = partition ?? this.partitionOf(topic, key ?? '');
      entry.messages.push({ partition: chosen, key: key ?? null, value, headers });
    }
    return [...byTopic.values()];
  }
}

const REFUSALS = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_RECORD',
  'INVALID_TIMESTAMP',
]);

/** The broker's answer that this very record will never be taken, if that is what the error is. */
function refusalIn(error: unknown): Error | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (REFUSALS.has(protocolErrorType(at) ?? '')) return at;
  }
  return undefined;
}
