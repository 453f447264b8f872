import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { log } from '@customer-platform/http';
import { QueueUnavailable, RecordTooLarge } from '../errors.js';
import { KafkaClient } from '../kafka/kafka.client.js';
import { Topics } from '../kafka/topics.js';
import { RecordProofs } from '../proof/record-proofs.js';
import { UnwritablePartitions } from './unwritable.partitions.js';
import { ProducerLine } from './producer.line.js';
import { PATIENCE_MS, REQUEST_MS, RETRY_MS } from './produce-timeouts.js';
import { pause, within } from '../within.js';
import { type BufferedRecord, RecordBuffer } from './record.buffer.js';
import { partitionOfKey } from './partition-of-key.js';
import { RecordSending, refusalIn, type Outcome } from './record.sending.js';

/** A record to be sent; the key decides the partition. */
interface OutgoingRecord {
  readonly key: string;
  readonly value: Buffer | string;
  readonly headers?: Record<string, Buffer | string>;
}

/** How long a lone record waits for company. */
const LINGER_MS = 1;
/** Below the 1 MiB that the broker takes, with room for key and headers. */
const RECORD_BYTES = 1_000_000;

/**
 * Sends records and resolves each when the broker has acknowledged it on all replicas. Records are batched for 1 ms
 * or until 500 of them wait, then sent as one request to each leader; one batch is in flight. What is written is
 * settled by partition: one that has no leader, or whose leader refuses, is set apart and holds no other back.
 *
 * While the broker is away, records wait for it up to 0.85 s, then are refused; once it has been away that long, new
 * ones are refused at once, until a probe reaches it again. What waits is bounded (32 MiB).
 */
@Injectable()
export class RecordProducer implements OnApplicationShutdown {
  private readonly line: ProducerLine;
  private readonly sending: RecordSending;
  private readonly buffer = new RecordBuffer();
  private readonly ailing: UnwritablePartitions;
  private awaySince: number | undefined;
  private pumping = false;
  private requesting = false;
  private readonly gatherers: (() => void)[] = [];
  private closed = false;

  constructor(
    client: KafkaClient,
    private readonly topics: Topics,
    proofs: RecordProofs,
  ) {
    this.line = new ProducerLine(() => client.producer());
    this.sending = new RecordSending(client, topics, this.line, proofs);
    this.ailing = new UnwritablePartitions(client, topics, proofs);
  }

  /** How many records are not settled yet. */
  get waiting(): number {
    return this.buffer.unsettled + this.ailing.unsettled;
  }

  /** Whether a request is in flight: what is handed over now waits until it is over. */
  get busy(): boolean {
    return this.requesting;
  }

  /** Calls back each time a request is over, before the next one is made up: for who gathers records until then. */
  onRequestOver(gatherer: () => void): void {
    this.gatherers.push(gatherer);
  }

  /** Which partition of the topic records with this key go to (murmur2, as every Kafka client). */
  partitionOf(topic: string, key: string): number {
    return partitionOfKey(key, this.topics.partitionsOf(topic));
  }

  /**
   * Resolves when the record is on all replicas.
   * @throws QueueUnavailable within 1 s when the broker did not acknowledge; it may have been written all the same
   * @throws RecordTooLarge when the value is larger than 1,000,000 bytes, or than the broker takes: it is not written
   */
  send(topic: string, record: OutgoingRecord): Promise<void> {
    return this.enqueue({ topic, ...record });
  }

  /**
   * As `send`, to a partition of one's choice; for records that gather several keys of one partition. One that was
   * batched before says since when: that is part of the second within which it is settled. One that knows its parts is
   * sent in parts where the broker refuses it for its size, before all that came after it.
   */
  sendToPartition(
    topic: string,
    partition: number,
    value: Buffer | string,
    { key, since, parts }: Pick<BufferedRecord, 'key' | 'since' | 'parts'> = {},
  ): Promise<void> {
    return this.enqueue({ topic, partition, value, key, since, parts });
  }

  /** Makes the topics known, and connects, before the first record comes. Throws when the broker is away. */
  async prepare(topics: readonly string[]): Promise<void> {
    await this.topics.ensure(topics);
    await this.line.connect();
  }

  async onApplicationShutdown(): Promise<void> {
    this.closed = true;
    await Promise.all([this.buffer.drained(PATIENCE_MS), this.ailing.close()]);
    await this.line.close();
  }

  private enqueue(record: BufferedRecord): Promise<void> {
    if (Buffer.byteLength(record.value) > RECORD_BYTES) {
      return Promise.reject(new RecordTooLarge());
    }
    const away = this.awaySince !== undefined && Date.now() - this.awaySince > PATIENCE_MS;
    if (this.closed || away || this.buffer.full) return Promise.reject(new QueueUnavailable());
    if (this.ailing.any && this.ailing.holds(record)) return this.ailing.add(record);
    const settled = this.buffer.add(record);
    if (!this.pumping) void this.pump();
    return settled;
  }

  /** Sends what waits, one request after the other, until nothing does; while the broker is away it keeps probing. */
  private async pump(): Promise<void> {
    this.pumping = true;
    // eslint-disable-next-line house/registered-work -- refuses what has waited in memory for too long
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
    await this.buffer.filled(LINGER_MS);
    this.refuseLate();
    const batch = this.buffer.take();
    if (batch.length === 0) return;
    this.requesting = true;
    try {
      await within(REQUEST_MS, this.topics.ensure(topicsOf(batch)));
      await this.settle(batch, await this.sending.send(batch, REQUEST_MS));
    } catch (error) {
      this.brokerAway(batch, error);
    }
    this.requesting = false;
    for (const gatherer of this.gatherers) gatherer();
  }

  /** Tells what was written, sets partitions that ail apart, and puts the rest back to the head. */
  private async settle(batch: readonly BufferedRecord[], outcomes: readonly Outcome[]): Promise<void> {
    const failed = outcomes.filter(({ error, answered }) => error !== undefined || !answered);
    const written = outcomes.filter((outcome) => !failed.includes(outcome));
    if (failed.length > 0) this.setFree(written);
    else this.buffer.landed(batch);
    if (written.length > 0 || outcomes.some(({ answered }) => answered)) this.awaySince = undefined;
    if (failed.length === 0) return;
    const refused = failed.filter(({ error }) => refusalIn(error));
    const unanswered = failed.filter(({ answered }) => !answered);
    for (const { place, error } of refused) {
      const refusal = refusalIn(error);
      if (refusal && place.records.length === 1) this.buffer.refused(place.records, refusal);
    }
    if (unanswered.length > 0 && !(await this.topics.othersAnswer(topicsOf(batch)))) {
      this.brokerAway(batch, unanswered[0]?.error);
      return;
    }
    for (const outcome of failed) if (!refused.includes(outcome)) this.ailing.admit(outcome, this.buffer);
    this.buffer.putBack(refused.length > 0 ? 1 : undefined);
  }

  private setFree(written: readonly Outcome[]): void {
    for (const { place } of written) this.buffer.landed(place.records);
  }

  private brokerAway(batch: readonly BufferedRecord[], error: unknown): void {
    log.warn({ err: error, records: batch.length }, 'Kafka did not acknowledge');
    this.awaySince ??= Date.now();
    this.topics.forget(batch.map(({ topic }) => topic));
    this.buffer.putBack();
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
}

function topicsOf(batch: readonly BufferedRecord[]): string[] {
  return [...new Set(batch.map(({ topic }) => topic))];
}
