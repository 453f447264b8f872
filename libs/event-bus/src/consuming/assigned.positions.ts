import { kafkaConfig, readConfig } from '@customer-platform/config';
import { log, metrics } from '@customer-platform/http';
import type { Admin, Consumer, KafkaMessage } from 'kafkajs';
import { Gauge } from 'prom-client';
import type { KafkaClient } from '../kafka/kafka.client.js';
import type { Topics } from '../kafka/topics.js';
import { pause } from '../within.js';
import { rangesOfTopic } from './partition.ranges.js';
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
  readonly partition: number;
}

/** What was found out about a partition. */
interface Decision extends Assigned {
  readonly latest: number;
  /** Where reading begins; undefined where it must not, for a gap that nobody has accepted. */
  readonly start: bigint | undefined;
  /** How many records the gap is of. */
  readonly missing: bigint;
}

/** Nobody leads these partitions, or who does gives no answer. */
class Undecided extends Error {
  constructor(places: readonly Assigned[]) {
    super(`No leader tells what there is of ${places.map(nameOf).join(', ')}`);
    this.name = 'Undecided';
  }
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
  /** The partitions that stand still for a gap, as their metric names them. */
  private readonly gaps = new Map<string, { group: string; topic: string; partition: number }>();
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
    this.left();
    const assigned = Object.entries(assignment).flatMap(([topic, partitions]) =>
      partitions.map((partition) => ({ topic, partition })),
    );
    void this.begin(consumer, assigned, this.generation, true);
  }

  /** To be called when the member is no more: what is still being asked for is not used, its gaps are another's. */
  left(): void {
    this.generation += 1;
    for (const labels of this.gaps.values()) gapGauge.remove(labels);
    this.gaps.clear();
  }

  /**
   * Whether a batch follows on what came before. If not, records were deleted while they waited, and the partition is
   * begun anew, or refused.
   */
  follows(consumer: Consumer, topic: string, partition: number, first: string): boolean {
    const expected = this.expected.get(placeName(topic, partition));
    if (expected === undefined || BigInt(first) <= expected) return true;
    // Told once: where nothing is missing (an offset that no record ever had), the next batch is taken as it comes.
    this.expected.delete(placeName(topic, partition));
    void this.begin(consumer, [{ topic, partition }], this.generation, false);
    return false;
  }

  /** These records of the partition had their effect. */
  processed(topic: string, partition: number, messages: readonly KafkaMessage[]): void {
    const last = messages.at(-1);
    if (!last) return;
    const name = placeName(topic, partition);
    const next = BigInt(last.offset) + 1n;
    const times = messages.map(({ timestamp }) => Number(timestamp));
    const latest = Math.max(this.latest.get(name) ?? 0, ...times);
    this.expected.set(name, next);
    this.latest.set(name, latest);
    this.positions.moved?.(this.group, this.client.unnamed(topic), partition, { next, latest });
  }

  /** Each partition begins as soon as it can; what cannot be decided yet is asked for again, alone. */
  private async begin(
    consumer: Consumer,
    assigned: readonly Assigned[],
    generation: number,
    strict: boolean,
  ): Promise<void> {
    const current = (): boolean => generation === this.generation;
    consumer.pause(assigned.map(({ topic, partition }) => ({ topic, partitions: [partition] })));
    let waiting = assigned;
    for (let tried = 0; current() && waiting.length > 0; tried += 1) {
      try {
        const decisions = await this.decide(waiting);
        if (!current()) return;
        for (const decision of decisions) this.settle(consumer, decision, strict);
        const decided = new Set(decisions.map(nameOf));
        waiting = waiting.filter((each) => !decided.has(nameOf(each)));
        if (waiting.length > 0) throw new Undecided(waiting);
      } catch (error) {
        const context = { err: error, group: this.group, tried };
        if (tried % SAY_EVERY === 0) log.warn(context, 'Where a consumer stands is not known yet');
        await pause(TRY_AGAIN_MS);
      }
    }
  }

  private settle(
    consumer: Consumer,
    { topic, partition, start, latest, missing }: Decision,
    strict: boolean,
  ): void {
    const name = placeName(topic, partition);
    this.latest.set(name, latest);
    const labels = this.gaps.get(name) ?? { group: this.group, topic: this.client.unnamed(topic), partition };
    if (start === undefined) {
      this.gaps.set(name, labels);
      gapGauge.set(labels, Number(missing));
      return;
    }
    if (this.gaps.delete(name)) gapGauge.remove(labels);
    if (strict) this.expected.set(name, start);
    consumer.seek({ topic, partition, offset: start.toString() });
    consumer.resume([{ topic, partitions: [partition] }]);
  }

  /** What can be said now: nothing of a partition that nobody leads, or whose leader does not answer. */
  private decide(assigned: readonly Assigned[]): Promise<Decision[]> {
    return this.topics.withAdmin(async (admin) => {
      const ranges = await this.rangesOf(admin, assigned);
      const positions = ranges.length === 0 ? [] : await this.positions.read(this.group, ranges);
      const decisions = await Promise.all(
        ranges.map((range, at) =>
          this.decisionOn(admin, range, positions[at]).catch((error: unknown) => {
            log.debug({ err: error, group: this.group }, 'Where a partition begins is not known yet');
            return undefined;
          }),
        ),
      );
      return decisions.filter((each) => each !== undefined);
    });
  }

  private async rangesOf(admin: Admin, assigned: readonly Assigned[]): Promise<PartitionRange[]> {
    const topics = [...new Set(assigned.map(({ topic }) => topic))];
    const names = new Set(assigned.map(nameOf));
    const results = await Promise.allSettled(
      topics.map((topic) => rangesOfTopic(admin, this.client, this.group, this.client.unnamed(topic))),
    );
    const failure = results.find((result) => result.status === 'rejected');
    if (failure && results.every(({ status }) => status === 'rejected')) throw failure.reason;
    return results
      .flatMap((result) => (result.status === 'fulfilled' ? result.value.answered : []))
      .filter(({ topic, partition }) => names.has(placeName(this.client.named(topic), partition)));
  }

  private async decisionOn(
    admin: Admin,
    range: PartitionRange,
    position: Position | undefined,
  ): Promise<Decision> {
    const { topic, partition, low, high } = range;
    const decision = {
      topic: this.client.named(topic),
      partition,
      latest: position?.latest ?? 0,
      missing: 0n,
    };
    if (!position) return { ...decision, start: low };
    const labels = { group: this.group, topic, partition };
    const anew = await this.begunAnew(admin, range, position);
    if (anew !== undefined) {
      log.warn({ ...labels, from: anew.toString() }, 'The topic was made anew: its offsets begin again');
      return { ...decision, start: anew };
    }
    if (position.next >= low) return { ...decision, start: position.next };
    const name = `${this.group}/${placeName(topic, partition)}@${position.next.toString()}`;
    const missing = low - position.next;
    const context = { ...labels, missing: missing.toString() };
    if (this.accepted.has(name)) {
      log.warn({ ...context, high: high.toString() }, 'A gap is passed over, as was said');
      return { ...decision, start: low };
    }
    log.error(
      { ...context, position: position.next.toString(), oldest: low.toString() },
      `Kafka no longer holds records that the database has not seen; the partition stands still. To go on without them, set KAFKA_ACCEPT_GAPS=${name}`,
    );
    return { ...decision, start: undefined, missing };
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
    const found = offsets.find((each) => each.partition === partition);
    if (!found) throw new Undecided([{ topic, partition }]);
    const younger = BigInt(found.offset);
    return younger < next ? younger : undefined;
  }
}

function placeName(topic: string, partition: number): string {
  return `${topic}/${String(partition)}`;
}

function nameOf({ topic, partition }: Assigned): string {
  return placeName(topic, partition);
}
