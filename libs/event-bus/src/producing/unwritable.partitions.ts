import { log, metrics } from '@customer-platform/http';
import { Gauge } from 'prom-client';
import { QueueUnavailable } from '../errors.js';
import type { KafkaClient } from '../kafka/kafka.client.js';
import type { Topics } from '../kafka/topics.js';
import type { RecordProofs } from '../proof/record-proofs.js';
import { pause, within } from '../within.js';
import { PATIENCE_MS, REQUEST_MS, RETRY_MS } from './produce-timeouts.js';
import { ProducerLine } from './producer.line.js';
import { type BufferedRecord, RecordBuffer } from './record.buffer.js';
import { placeName, RecordSending, refusalIn, type Outcome } from './record.sending.js';

const ailingGauge = new Gauge({
  name: 'event_producer_partition_unavailable',
  help: '1 while records of a partition cannot be written, though the broker answers',
  labelNames: ['topic', 'partition'],
  registers: [metrics],
});

/**
 * Partitions that cannot be written while others can: nobody leads them, too few replicas are in sync, or their leader
 * does not answer. Their records wait here and are tried on connections of their own. Once a partition has been away
 * for 0.85 s, one record of it waits at a time, as a probe, and all others are refused at once; the first that is
 * written ends it.
 */
export class UnwritablePartitions {
  private readonly since = new Map<string, number>();
  private readonly buffer = new RecordBuffer();
  private readonly line: ProducerLine;
  private readonly sending: RecordSending;
  private pumping = false;

  constructor(
    client: KafkaClient,
    private readonly topics: Topics,
    proofs: RecordProofs,
  ) {
    this.line = new ProducerLine(() => client.producer());
    this.sending = new RecordSending(client, topics, this.line, proofs);
  }

  /** Whether there is one. */
  get any(): boolean {
    return this.since.size > 0;
  }

  /** How many records are not settled yet. */
  get unsettled(): number {
    return this.buffer.unsettled;
  }

  /** Whether the record is of such a partition. */
  holds(record: BufferedRecord): boolean {
    // The partition of a key is not known before its topic is; one that ails is.
    const ofTopic = [...this.since.keys()].some((name) => name.startsWith(`${record.topic}/`));
    return ofTopic && this.since.has(placeName(record.topic, this.sending.partitionOf(record)));
  }

  /** Sets a partition apart, with those of its records that wait in the buffer. */
  admit({ place: { topic, partition }, error }: Outcome, from: RecordBuffer): void {
    const name = placeName(topic, partition);
    if (!this.since.has(name)) {
      log.warn({ err: error, topic, partition }, 'A partition cannot be written; its records are set apart');
      this.since.set(name, Date.now());
      ailingGauge.set({ topic, partition }, 1);
    }
    from.moveTo(
      this.buffer,
      (record) => record.topic === topic && this.sending.partitionOf(record) === partition,
    );
    this.goOn();
  }

  /** Adds a record of such a partition. @throws QueueUnavailable within 1 s, at once where one waits already */
  add(record: BufferedRecord): Promise<void> {
    const name = this.nameOf(record);
    const since = this.since.get(name) ?? Date.now();
    const probed =
      Date.now() - since > PATIENCE_MS && this.buffer.some((other) => this.nameOf(other) === name);
    if (probed || this.buffer.full) return Promise.reject(new QueueUnavailable());
    const settled = this.buffer.add(record);
    this.goOn();
    return settled;
  }

  async close(): Promise<void> {
    await this.buffer.drained(PATIENCE_MS);
    await this.line.close();
  }

  private goOn(): void {
    if (!this.pumping) void this.pump();
  }

  private async pump(): Promise<void> {
    this.pumping = true;
    // eslint-disable-next-line house/registered-work -- refuses what has waited in memory for too long
    const sweep = setInterval(() => void this.buffer.refuseOlderThan(PATIENCE_MS), 50);
    try {
      while (this.buffer.size > 0) if (!(await this.sendNext())) await pause(RETRY_MS);
    } finally {
      clearInterval(sweep);
      this.pumping = false;
    }
  }

  /** Whether all of what waited was written. */
  private async sendNext(): Promise<boolean> {
    const batch = this.buffer.take();
    const topics = [...new Set(batch.map(({ topic }) => topic))];
    try {
      await within(REQUEST_MS, this.topics.ensure(topics));
      await within(REQUEST_MS, this.topics.look(topics));
      const outcomes = await this.sending.send(batch, REQUEST_MS);
      return this.settle(outcomes);
    } catch (error) {
      log.debug({ err: error }, 'What ails could not be tried');
      // A topic that was deleted is made again.
      this.topics.forget(topics);
      this.buffer.putBack();
      return false;
    }
  }

  private settle(outcomes: readonly Outcome[]): boolean {
    let well = true;
    for (const { place, error, answered } of outcomes) {
      const refusal = refusalIn(error);
      if (answered && error === undefined) this.buffer.landed(place.records);
      else if (refusal && place.records.length === 1) this.buffer.refused(place.records, refusal);
      else well = false;
    }
    const tooLarge = outcomes.some(({ error }) => refusalIn(error));
    this.buffer.putBack(tooLarge ? 1 : undefined);
    for (const { place, error, answered } of outcomes) {
      if (answered && error === undefined) this.discharge(place.topic, place.partition);
    }
    return well;
  }

  /** What is still waiting here goes first: the partition is well once nothing does. */
  private discharge(topic: string, partition: number): void {
    const name = placeName(topic, partition);
    if (this.buffer.some((record) => this.nameOf(record) === name)) return;
    const since = this.since.get(name);
    if (since === undefined) return;
    this.since.delete(name);
    ailingGauge.remove({ topic, partition });
    log.info({ topic, partition, awayMs: Date.now() - since }, 'A partition can be written again');
  }

  private nameOf(record: BufferedRecord): string {
    return placeName(record.topic, this.sending.partitionOf(record));
  }
}
