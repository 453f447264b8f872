import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { type Publisher, UnprovenEvent } from '@customer-platform/events';
import { log, yieldLoop } from '@customer-platform/http';
import { LeftForLater } from '../errors.js';
import { KafkaClient } from '../kafka/kafka.client.js';
import { Topics } from '../kafka/topics.js';
import { ParkedEvents } from '../parking/parked-events.js';
import { proofIn, RecordProofs, VERIFIED_AT_ONCE } from '../proof/record-proofs.js';
import { Consumers } from './consumers.js';
import { KeptPositions } from './kept.positions.js';
import type { Positions } from './positions.js';
import { type Chunk, pauseBefore, type SupervisedConsumer } from './supervised.consumer.js';

/** A record as it was read. */
export interface IncomingRecord {
  readonly partition: number;
  /** Its place in the partition: a 64-bit number as text. */
  readonly offset: string;
  readonly key: string | undefined;
  readonly value: Buffer;
  /** When the broker wrote it, in milliseconds. */
  readonly timestamp: number;
  /** The module that has proven to have written it; undefined where none had to. */
  readonly writer?: Publisher | undefined;
  /** Why it is not believed: none of the topic's writers has proven to have written it. It has no effect. */
  readonly unproven?: UnprovenEvent;
  /** What it came with to prove its writer. */
  readonly proof?: Buffer | undefined;
}

/** What a consumer of raw records is. */
type RecordConsumption = Consumed & (ByDefault | OwnKeeping);

interface ByDefault {
  /** `kept` has the event bus keep where the effects stand, for effects that may be repeated; without, Kafka's offsets do. */
  readonly positions?: 'kept';
  /** Takes what nobody has proven as well, to keep it as it does others; without, it is parked, as text. */
  readonly takesUnproven?: true;
}

/** Takes what nobody has proven as well: nobody else moves its position behind it. */
interface OwnKeeping {
  /** Where the consumer's effects stand in the database, which is where it reads from. */
  readonly positions: Positions;
  readonly takesUnproven: true;
}

interface Consumed {
  readonly topic: string;
  readonly group: string;
  /** Records given to `eachChunk` at once, at most; default 500. */
  readonly chunkSize?: number;
  /** Partitions worked on at once; default 3. */
  readonly concurrency?: number;
  /**
   * Takes records of one partition in order. The offset is committed after it resolves. A throw is tried again with
   * growing pauses, for ever: a record that can never be processed must be set aside by the consumer itself. Where it
   * throws `LeftForLater`, they come again after such a pause with those that have come behind them by then.
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
    private readonly proofs: RecordProofs,
    private readonly parked: ParkedEvents,
  ) {}

  /** Starts consuming, whether the broker is there yet or not; the topic is made if it is missing. */
  consume(consumption: RecordConsumption): RecordConsumer {
    /** Counts how often in a row records of a partition were left. */
    const left = new Map<number, number>();
    const consumer = this.consumers.start(this.client, this.topics, {
      group: consumption.group,
      topics: [consumption.topic],
      concurrency: consumption.concurrency ?? 3,
      chunkSize: consumption.chunkSize ?? 500,
      positions: consumption.positions === 'kept' ? this.kept : consumption.positions,
      process: async (chunk) => {
        const records = await this.read(chunk, consumption);
        if (records.length === 0) return;
        try {
          await consumption.eachChunk(records, () => chunk.heartbeat());
        } catch (error) {
          if (!(error instanceof LeftForLater)) throw error;
          const times = left.get(chunk.partition) ?? 0;
          left.set(chunk.partition, times + 1);
          log.error({ err: error, group: consumption.group, times }, 'Records stall; others go on with them');
          await chunk.pause(pauseBefore(times));
          throw error;
        }
        left.delete(chunk.partition);
      },
    });
    this.started.push(consumer);
    return { stop: () => consumer.stop() };
  }

  private async read(chunk: Chunk, consumption: RecordConsumption): Promise<IncomingRecord[]> {
    const records: IncomingRecord[] = [];
    for (const [at, message] of chunk.messages.entries()) {
      if (at > 0 && at % VERIFIED_AT_ONCE === 0) await yieldLoop();
      const record: IncomingRecord = {
        partition: chunk.partition,
        offset: message.offset,
        key: message.key?.toString('utf8'),
        value: message.value ?? Buffer.alloc(0),
        timestamp: Number(message.timestamp),
        proof: proofIn(message),
      };
      try {
        const { key, value, proof } = record;
        const writer = this.proofs.demand({ topic: consumption.topic, key, value }, proof);
        records.push({ ...record, writer });
      } catch (error) {
        if (!(error instanceof UnprovenEvent)) throw error;
        if (consumption.takesUnproven) records.push({ ...record, unproven: error });
        else await this.park(consumption, record, error);
      }
    }
    return records;
  }

  private park(
    { topic, group }: RecordConsumption,
    { partition, offset, key = '', value, proof }: IncomingRecord,
    error: UnprovenEvent,
  ): Promise<void> {
    const payload = value.toString('utf8');
    const place = { organizationId: undefined, topic, partition, offset };
    return this.parked.parkInvalid(group, { ...place, key, type: '', payload, proof, error });
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all(this.started.map((consumer) => consumer.stop()));
  }
}
