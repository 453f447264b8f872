import { kafkaConfig, readConfig } from '@customer-platform/config';
import { log, metrics } from '@customer-platform/http';
import type { Admin, Consumer, KafkaMessage } from 'kafkajs';
import { Gauge } from 'prom-client';
import type { KafkaClient } from '../kafka/kafka.client.js';
import type { Topics } from '../kafka/topics.js';
import { pause } from '../within.js';
import type { PartitionRange, Position, Positions } from './positions.js';

const TRY_AGAIN_MS = 500;
/** What is waited for is told when it begins and then about every half minute. */
const SAY_EVERY = 60;

const gapGauge = new Gauge({
  name: 'event_consumer_gap',
  help: 'Records between the position of a consumer and the oldest one that Kafka still holds; the partition stands still',
  labelNames: ['group', 'topic', 'partition'],
  registers: [metrics],
});

interface Assigned {
  /** As the broker calls it. */
  readonly topic: string;
  readonly partitions: readonly number[];
}

/**
 * Makes a member of a group begin where its database stands. Every partition it is assigned is held until its position
 * is known, and then begun there. What the database has not seen and Kafka no longer holds is a gap: such a partition
 * is not consumed until an operator names the gap in KAFKA_ACCEPT_GAPS.
 */
export class AssignedPositions {
  private readonly accepted = new Set(
    readConfig(kafkaConfig.pick({ KAFKA_ACCEPT_GAPS: true })).KAFKA_ACCEPT_GAPS,
  );
  /** Where each partition goes on. */
  private readonly expected = new Map<string, bigint>();
  /** When the youngest record of each partition that had its effect was written. */
  private readonly latest = new Map<string, number>();
  private generation = 0;

  constructor(
    private readonly client: KafkaClient,
    private readonly topics: Topics,
    private readonly group: string,
    private readonly positions: Positions,
  ) {}

  /** To be called when the member has joined, before anything is fetched; returns at once. */
  joined(consumer: Consumer, assignment: Record<string, number[]>): void {
    this.expected.clear();
    this.latest.clear();
    this.generation += 1;
    const assigned = Object.entries(assignment).map(([topic, partitions]) => ({ topic, partitions }));
    if (assigned.every(({ partitions }) => partitions.length === 0)) return;
    void this.begin(consumer, assigned, this.generation, true);
  }

  /** To be called when the member is no more: what is still being asked for is not used. */
  left(): void {
    this.generation += 1;
  }

  /**
   * Whether a batch follows on what came before. If not, records were deleted while they waited, and the partition is
   * begun anew, or refused.
   */
  follows(consumer: Consumer, topic: string, partition: number, first: string): boolean {
    const expected = this.expected.get(`${topic}/${String(partition)}`);
    if (expected === undefined || BigInt(first) <= expected) return true;
    // Told once: where nothing is missing (an offset that no record ever had), the next batch is taken as it comes.
    this.expected.delete(`${topic}/${String(partition)}`);
    void this.begin(consumer, [{ topic, partitions: [partition] }], this.generation, false);
    return false;
  }

  /** These records of the partition had their effect. */
  processed(topic: string, partition: number, messages: readonly KafkaMessage[]): void {
    const last = messages.at(-1);
    if (!last) return;
    const name = `${topic}/${String(partition)}`;
    const next = BigInt(last.offset) + 1n;
    const times = messages.map(({ timestamp }) => Number(timestamp));
    const latest = Math.max(this.latest.get(name) ?? 0, ...times);
    this.expected.set(name, next);
    this.latest.set(name, latest);
    this.positions.moved?.(this.group, this.client.unnamed(topic), partition, { next, latest });
  }

  private async begin(
    consumer: Consumer,
    assigned: readonly Assigned[],
    generation: number,
    strict: boolean,
  ): Promise<void> {
    const current = (): boolean => generation === this.generation;
    consumer.pause(assigned.map(({ topic, partitions }) => ({ topic, partitions: [...partitions] })));
    for (let tried = 0; current(); tried += 1) {
      try {
        const starts = await this.startsOf(assigned);
        if (!current()) return;
        for (const { topic, partition, start } of starts) {
          if (start === undefined) continue;
          if (strict) this.expected.set(`${topic}/${String(partition)}`, start);
          consumer.seek({ topic, partition, offset: start.toString() });
          consumer.resume([{ topic, partitions: [partition] }]);
        }
        return;
      } catch (error) {
        const context = { err: error, group: this.group, tried };
        if (tried % SAY_EVERY === 0) log.warn(context, 'Where a consumer stands is not known yet');
        await pause(TRY_AGAIN_MS);
      }
    }
  }

  private startsOf(
    assigned: readonly Assigned[],
  ): Promise<{ topic: string; partition: number; start: bigint | undefined }[]> {
    return this.topics.withAdmin(async (admin) => {
      const ranges = await this.rangesOf(admin, assigned);
      const positions = await this.positions.read(this.group, ranges);
      return Promise.all(
        ranges.map(async (range, at) => {
          const topic = this.client.named(range.topic);
          const position = positions[at];
          this.latest.set(`${topic}/${String(range.partition)}`, position?.latest ?? 0);
          return { topic, partition: range.partition, start: await this.startOf(admin, range, position) };
        }),
      );
    });
  }

  private async rangesOf(admin: Admin, assigned: readonly Assigned[]): Promise<PartitionRange[]> {
    const groupId = this.client.named(this.group);
    const topics = assigned.filter(({ partitions }) => partitions.length > 0);
    const committed = await admin.fetchOffsets({ groupId, topics: topics.map(({ topic }) => topic) });
    const ranges = await Promise.all(
      topics.map(async ({ topic, partitions }) => {
        const offsets = await admin.fetchTopicOffsets(topic);
        const own = committed.find((each) => each.topic === topic)?.partitions ?? [];
        return offsets
          .filter(({ partition }) => partitions.includes(partition))
          .map(({ partition, low, high }): PartitionRange => {
            const offset = own.find((each) => each.partition === partition)?.offset ?? '-1';
            // Below zero are Kafka's names for "none", "the end" and "the beginning".
            const known = offset.startsWith('-') ? undefined : BigInt(offset);
            return {
              topic: this.client.unnamed(topic),
              partition,
              low: BigInt(low),
              high: BigInt(high),
              committed: known,
            };
          });
      }),
    );
    return ranges.flat();
  }

  /** Where reading begins; undefined where it must not, for a gap that nobody has accepted. */
  private async startOf(
    admin: Admin,
    range: PartitionRange,
    position: Position | undefined,
  ): Promise<bigint | undefined> {
    const { topic, partition, low, high } = range;
    if (!position) return low;
    const labels = { group: this.group, topic, partition };
    gapGauge.remove(labels);
    const anew = await this.begunAnew(admin, range, position);
    if (anew !== undefined) {
      log.warn({ ...labels, from: anew.toString() }, 'The topic was made anew: its offsets begin again');
      return anew;
    }
    if (position.next >= low) return position.next;
    const name = `${this.group}/${topic}/${String(partition)}@${position.next.toString()}`;
    const missing = (low - position.next).toString();
    if (this.accepted.has(name)) {
      log.warn({ ...labels, missing, high: high.toString() }, 'A gap is passed over, as was said');
      return low;
    }
    gapGauge.set(labels, Number(low - position.next));
    log.error(
      { ...labels, position: position.next.toString(), oldest: low.toString(), missing },
      `Kafka no longer holds records that the database has not seen; the partition stands still. To go on without them, set KAFKA_ACCEPT_GAPS=${name}`,
    );
    return undefined;
  }

  /**
   * Where the records of a topic begin that was lost and made again. No record that had its effect is younger than the
   * youngest that had (the broker stamps their times), so a younger one below the position is of another topic.
   */
  private async begunAnew(
    admin: Admin,
    { topic, partition, low, high }: PartitionRange,
    { next, latest }: Position,
  ): Promise<bigint | undefined> {
    if (latest === undefined) return next > high ? low : undefined;
    if (next === low && next === high) return undefined;
    const offsets = await admin.fetchTopicOffsetsByTimestamp(this.client.named(topic), latest + 1);
    const younger = BigInt(offsets.find((each) => each.partition === partition)?.offset ?? high);
    return younger < next ? younger : undefined;
  }
}
