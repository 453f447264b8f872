import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { log, turns } from '@customer-platform/http';
import type { Admin, Consumer } from 'kafkajs';
import { EVENT_BUS_OPTIONS, type EventBusOptions } from '../event-bus.options.js';
import { KafkaClient } from '../kafka/kafka.client.js';
import { passingGroupOf } from '../kafka/module-access.js';
import { protocolErrorType } from '../kafka/protocol-error.js';
import { Topics } from '../kafka/topics.js';
import { within } from '../within.js';

const READ_WITHIN_MS = 120_000;
/** A topic that was made a moment ago is led by nobody yet, or not known to every broker. */
const NEW_TOPIC = new Set(['UNKNOWN_TOPIC_OR_PARTITION', 'LEADER_NOT_AVAILABLE', 'NOT_LEADER_FOR_PARTITION']);
const LED_WITHIN_MS = 15_000;
const LOOK_EVERY_MS = 100;

/** Nobody leads some partitions of a topic, or who does gives no answer. */
class PartitionsUnanswered extends Error {
  constructor(topic: string, partitions: number) {
    super(`${topic}: the ends of ${String(partitions)} partitions are not known`);
    this.name = 'PartitionsUnanswered';
  }
}

/** Reads a topic once, from its beginning to where it ends when asked: for commands, not for consuming. */
@Injectable()
export class TopicReader {
  constructor(
    private readonly client: KafkaClient,
    private readonly topics: Topics,
    @Inject(EVENT_BUS_OPTIONS) private readonly options: Pick<EventBusOptions, 'module'>,
  ) {}

  /**
   * The values of all records there are, those of one key in their order. A topic that is not there is made, and empty.
   * @throws the client's error when the broker is away, or an error when reading takes longer than two minutes
   */
  async readAll(topic: string): Promise<string[]> {
    await this.topics.ensure([topic]);
    return this.topics.withAdmin(async (admin) => {
      const missing = await endsOf(admin, this.client.named(topic), this.topics.partitionsOf(topic));
      if (missing.size === 0) return [];
      const group = `${passingGroupOf(this.options.module)}${randomUUID()}`;
      const consumer = this.client.consumer(group);
      try {
        return await within(READ_WITHIN_MS, this.readWith(consumer, topic, missing));
      } finally {
        await consumer.disconnect();
        // A group of its own would stand among the broker's groups for days; it hurts nobody if it does.
        await admin.deleteGroups([this.client.named(group)]).catch((error: unknown) => {
          log.debug({ err: error }, 'The group of a reader stays until the broker forgets it');
        });
      }
    });
  }

  private async readWith(consumer: Consumer, topic: string, missing: Map<number, bigint>): Promise<string[]> {
    const values: string[] = [];
    await consumer.connect();
    await consumer.subscribe({ topics: [this.client.named(topic)], fromBeginning: true });
    await new Promise<void>((resolve, reject) => {
      consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
      // eslint-disable-next-line house/registered-work -- read once, to its end
      consumer
        .run({
          autoCommit: false,
          eachBatch: ({ batch }) => {
            const end = missing.get(batch.partition);
            for (const { offset, value } of batch.messages) {
              if (end !== undefined && BigInt(offset) < end) values.push(value?.toString('utf8') ?? '');
            }
            if (end !== undefined && BigInt(batch.lastOffset()) >= end - 1n) missing.delete(batch.partition);
            if (missing.size === 0) resolve();
            return Promise.resolve();
          },
        })
        .catch(reject);
    });
    return values;
  }
}

/** Where each partition that holds anything ends. */
async function endsOf(admin: Admin, topic: string, partitions: number): Promise<Map<number, bigint>> {
  const offsets = await offsetsOf(admin, topic, partitions);
  return new Map(
    offsets
      .filter(({ low, high }) => BigInt(high) > BigInt(low))
      .map(({ partition, high }) => [partition, BigInt(high)]),
  );
}

/** Of all partitions: what is read without one of them is not the topic. */
async function offsetsOf(
  admin: Admin,
  topic: string,
  partitions: number,
): ReturnType<Admin['fetchTopicOffsets']> {
  for await (const { isLast } of turns({ forMs: LED_WITHIN_MS, pauseMs: LOOK_EVERY_MS })) {
    try {
      const offsets = await admin.fetchTopicOffsets(topic);
      if (offsets.length < partitions) throw new PartitionsUnanswered(topic, partitions - offsets.length);
      return offsets;
    } catch (error) {
      if (!isOfNewTopic(error) || isLast) throw error;
    }
  }
  throw new PartitionsUnanswered(topic, partitions);
}

/** The client gives up after some tries of its own, and tells the broker's answer as the cause. */
function isOfNewTopic(error: unknown): boolean {
  if (error instanceof PartitionsUnanswered) return true;
  for (let at = error; at instanceof Error; at = at.cause) {
    if (NEW_TOPIC.has(protocolErrorType(at) ?? '')) return true;
  }
  return false;
}
