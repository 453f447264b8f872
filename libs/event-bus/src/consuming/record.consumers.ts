import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { KafkaClient } from '../kafka/kafka.client.js';
import { Topics } from '../kafka/topics.js';
import { Consumers } from './consumers.js';
import { KeptPositions } from './kept.positions.js';
import type { Positions } from './positions.js';
import type { SupervisedConsumer } from './supervised.consumer.js';

/** A record as it was read. */
export interface IncomingRecord {
  readonly partition: number;
  /** Its place in the partition: a 64-bit number as text. */
  readonly offset: string;
  readonly key: string | undefined;
  readonly value: Buffer;
  /** When the broker wrote it, in milliseconds. */
  readonly timestamp: number;
}

/** What a consumer of raw records is. */
interface RecordConsumption {
  readonly topic: string;
  readonly group: string;
  /** Records given to `eachChunk` at once, at most; default 500. */
  readonly chunkSize?: number;
  /** Partitions worked on at once; default 3. */
  readonly concurrency?: number;
  /**
   * Where the consumer's effects stand in the database, which is where it reads from; `kept` has the event bus keep
   * them, for effects that may be repeated. Without, it reads from Kafka's own offsets.
   */
  readonly positions?: Positions | 'kept';
  /**
   * Takes records of one partition in order. The offset is committed after it resolves. A throw is tried again with
   * growing pauses, for ever: a record that can never be processed must be set aside by the consumer itself.
   * `heartbeat` may be called in long work; heartbeats also go on beside it.
   */
  eachChunk(records: readonly IncomingRecord[], heartbeat: () => Promise<void>): Promise<void>;
}

/** A running consumer of raw records. */
export interface RecordConsumer {
  /** Finishes the chunks in hand, commits, leaves the group. Also done when the app shuts down. */
  stop(): Promise<void>;
}

/** Starts supervised consumers of raw records: for topics that carry no domain events. */
@Injectable()
export class RecordConsumers implements OnModuleDestroy {
  private readonly started: SupervisedConsumer[] = [];

  constructor(
    private readonly client: KafkaClient,
    private readonly topics: Topics,
    private readonly consumers: Consumers,
    private readonly kept: KeptPositions,
  ) {}

  /** Starts consuming, whether the broker is there yet or not; the topic is made if it is missing. */
  consume(consumption: RecordConsumption): RecordConsumer {
    const consumer = this.consumers.start(this.client, this.topics, {
      group: consumption.group,
      topics: [consumption.topic],
      concurrency: consumption.concurrency ?? 3,
      chunkSize: consumption.chunkSize ?? 500,
      positions: consumption.positions === 'kept' ? this.kept : consumption.positions,
      process: (chunk) =>
        consumption.eachChunk(
          chunk.messages.map((message) => ({
            partition: chunk.partition,
            offset: message.offset,
            key: message.key?.toString('utf8'),
            value: message.value ?? Buffer.alloc(0),
            timestamp: Number(message.timestamp),
          })),
          () => chunk.heartbeat(),
        ),
    });
    this.started.push(consumer);
    return { stop: () => consumer.stop() };
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all(this.started.map((consumer) => consumer.stop()));
  }
}
