import type { TopicMessages } from 'kafkajs';
import type { KafkaClient } from '../kafka/kafka.client.js';
import { RecordTooLarge } from '../errors.js';
import { createErrorFromCode, protocolErrorType } from '../kafka/protocol-error.js';
import type { Topics } from '../kafka/topics.js';
import { PROOF_HEADER, type RecordProofs } from '../proof/record-proofs.js';
import type { Delivery, ProducerLine } from './producer.line.js';
import { partitionOfKey } from './partition-of-key.js';
import type { BufferedRecord } from './record.buffer.js';

/** Records of one partition, in their order. */
interface Place {
  readonly topic: string;
  readonly partition: number;
  readonly records: BufferedRecord[];
}

/** What became of the records of a partition. */
export interface Outcome {
  readonly place: Place;
  /** Why they were not written; undefined when they were. */
  readonly error?: unknown;
  /** Whether it is the broker's word on this partition, and not that it could not be asked. */
  readonly answered: boolean;
}

/** The broker says that nobody leads the partition. */
class Leaderless extends Error {
  constructor({ topic, partition }: Place) {
    super(`${topic}/${String(partition)} has no leader`);
    this.name = 'Leaderless';
  }
}

/** The client dropped the records in silence: it knows no such partition. */
class UnknownPartition extends Error {
  constructor({ topic, partition }: Place) {
    super(`${topic}/${String(partition)} is not known to the client`);
    this.name = 'UnknownPartition';
  }
}

/** The name of a partition among those of all topics. */
export function placeName(topic: string, partition: number): string {
  return `${topic}/${String(partition)}`;
}

/** Sends batches, a request for each leader, and tells of each partition what became of its records. */
export class RecordSending {
  /** The partition that was asked for last. */
  private latest:
    (Required<Pick<BufferedRecord, 'topic' | 'key' | 'partition'>> & { partitions: number }) | undefined;

  constructor(
    private readonly client: KafkaClient,
    private readonly topics: Topics,
    private readonly line: ProducerLine,
    private readonly proofs: RecordProofs,
  ) {}

  /** @throws when no connection to any broker is to be had: nothing was sent then */
  async send(batch: readonly BufferedRecord[], timeoutMs: number): Promise<Outcome[]> {
    const leaders = this.byLeader(batch);
    const led = [...leaders].filter(([leader]) => leader !== -1).map(([, places]) => places);
    const deliveries =
      led.length === 0
        ? []
        : await this.line.send(
            led.map((places) => this.requestOf(places)),
            timeoutMs,
          );
    return [
      ...(leaders.get(-1) ?? []).map((place) => ({ place, error: new Leaderless(place), answered: true })),
      ...led.flatMap((places, at) => places.map((place) => this.outcomeOf(place, deliveries[at]))),
    ];
  }

  /** The partition of a record; its topic must be known. What is told of one thing comes together, by one key. */
  partitionOf(record: BufferedRecord): number {
    if (record.partition !== undefined) return record.partition;
    const { topic, key = '' } = record;
    const partitions = this.topics.partitionsOf(topic);
    const { latest } = this;
    const isSame = latest?.key === key && latest.topic === topic && latest.partitions === partitions;
    const partition = isSame ? latest.partition : partitionOfKey(key, partitions);
    this.latest = { topic, key, partitions, partition };
    record.partition = partition;
    return partition;
  }

  private byLeader(batch: readonly BufferedRecord[]): Map<number, Place[]> {
    const places = new Map<string, Place>();
    for (const record of batch) {
      const partition = this.partitionOf(record);
      const name = placeName(record.topic, partition);
      const place = places.get(name);
      if (place) place.records.push(record);
      else places.set(name, { topic: record.topic, partition, records: [record] });
    }
    const leaders = new Map<number, Place[]>();
    for (const place of places.values()) {
      const leader = this.topics.leaderOf(place.topic, place.partition);
      const led = leaders.get(leader);
      if (led) led.push(place);
      else leaders.set(leader, [place]);
    }
    return leaders;
  }

  /** Every record that leaves the module passes here, and takes its proof along. */
  private requestOf(places: readonly Place[]): TopicMessages[] {
    const headers = this.headersOf(places.flatMap(({ records }) => records));
    const byTopic = new Map<string, TopicMessages>();
    for (const { topic, partition, records } of places) {
      const entry = byTopic.get(topic) ?? { topic: this.client.named(topic), messages: [] };
      byTopic.set(topic, entry);
      for (const record of records) {
        const { key, value } = record;
        entry.messages.push({ partition, key: key ?? null, value, headers: headers.get(record) });
      }
    }
    return [...byTopic.values()];
  }

  private headersOf(records: readonly BufferedRecord[]): Map<BufferedRecord, BufferedRecord['headers']> {
    const proofs = this.proofs.prove(records.map(({ topic, key, value }) => ({ topic, key, value })));
    return new Map(
      records.map((record, at) => {
        const proof = proofs[at];
        return [record, proof ? { [PROOF_HEADER]: proof, ...record.headers } : record.headers];
      }),
    );
  }

  private outcomeOf(place: Place, delivery: Delivery | undefined): Outcome {
    if (!delivery || 'error' in delivery) return { place, error: delivery?.error, answered: false };
    const name = this.client.named(place.topic);
    const answer = delivery.answers.find(
      ({ topicName, partition }) => topicName === name && partition === place.partition,
    );
    if (answer?.errorCode === 0) return { place, answered: true };
    const error = answer ? createErrorFromCode(answer.errorCode) : new UnknownPartition(place);
    return { place, error, answered: true };
  }
}

const TOO_LARGE = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE']);
const INVALID = new Set(['INVALID_RECORD', 'INVALID_TIMESTAMP']);

/** The broker's answer that this very record will never be taken, if that is what the error is. */
export function refusalIn(error: unknown): Error | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const type = protocolErrorType(at) ?? '';
    if (TOO_LARGE.has(type)) return new RecordTooLarge(at);
    if (INVALID.has(type)) return at;
  }
  return undefined;
}
