import { Inject, Injectable, Optional } from '@nestjs/common';
import { Installation } from '@customer-platform/database';
import { ownerOfTopic, recordTopic } from '@customer-platform/events';
import { log, turns } from '@customer-platform/http';
import type { Admin, ITopicMetadata } from 'kafkajs';
import { TopicsMissing } from '../errors.js';
import { EVENT_BUS_OPTIONS, type EventBusOptions } from '../event-bus.options.js';
import { within } from '../within.js';
import { KafkaClient } from './kafka.client.js';
import { MarkedKafka } from './marked.kafka.js';
import { isOnlyOf } from './protocol-error.js';
import {
  MAY_BE_REFUSED,
  mustBeOurs,
  OF_ALL_TOPICS,
  REFUSED_TO_ALL,
  TopicSettings,
  type TopicAsFound,
} from './topic.settings.js';

/** How long a topic keeps a record (core.md §10: topics keep 7 days). */
const RETENTION_MS = 7 * 24 * 3_600_000;

/** How long the partitions of a topic that was just made may be without leaders. */
const LED_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 100;
/** Another process made the topic between our look and our call. */
const MADE_MEANWHILE = new Set(['TOPIC_ALREADY_EXISTS']);
/** Or some of them were made, and some refused for what they are set to. */
const REFUSED = new Set([...MADE_MEANWHILE, ...REFUSED_TO_ALL]);
/** So long is asked which partitions are led, when a leader did not answer. */
const LOOK_MS = 500;

/**
 * The topics this process needs, and which partitions they have. Those of its module it makes, or puts right; those of
 * another are that module's, or an operator's, to make.
 */
@Injectable()
export class Topics {
  /** The most partitions that the broker ever told of: what places keys must not change when less is told. */
  private readonly partitions = new Map<string, number>();
  private readonly leaders = new Map<string, readonly number[]>();
  private readonly ensured = new Set<string>();
  private readonly underway = new Map<string, Promise<void>>();
  private readonly settings = new TopicSettings();
  private brokerCount = 1;
  /** As the process was started. */
  private readonly compares = mustBeOurs();
  private isOwn = false;

  constructor(
    private readonly client: KafkaClient,
    @Inject(EVENT_BUS_OPTIONS) private readonly options: Pick<EventBusOptions, 'module' | 'readsOnly'>,
    @Optional() private readonly installation?: Installation,
  ) {}

  /**
   * Resolves when all these topics exist, those of this module as they must: 7 days of retention, or without an end, and
   * times that the broker stamps. Repeatable, and safe from many processes at once.
   * @throws TopicsMissing, of another module's, once the others are looked after
   * @throws WeakReplication and OtherInstallation in production, and the client's error when the broker is away; the caller tries again
   */
  async ensure(topics: readonly string[]): Promise<void> {
    const unknown = topics.filter((topic) => !this.ensured.has(topic));
    if (unknown.length === 0) return;
    // Callers that give up and ask again share the attempt that is underway instead of queueing behind it.
    const fresh = unknown.filter((topic) => !this.underway.has(topic));
    if (fresh.length > 0) {
      const attempt = this.withAdmin((admin) => this.create(admin, fresh)).finally(() => {
        fresh.forEach((topic) => this.underway.delete(topic));
      });
      fresh.forEach((topic) => this.underway.set(topic, attempt));
    }
    await Promise.all(unknown.map((topic) => this.underway.get(topic) ?? Promise.resolve()));
    const missing = topics.filter((topic) => !this.ensured.has(topic));
    if (missing.length > 0) throw new TopicsMissing(missing);
  }

  /**
   * Number of partitions of a topic, as the broker said last; before it has, as a new topic would get. It never goes
   * down while the process lives.
   */
  partitionsOf(topic: string): number {
    return this.partitions.get(topic) ?? this.client.partitions;
  }

  /** The number of the broker that leads a partition; -1 where none does; 0 for all of a topic not yet looked at. */
  leaderOf(topic: string, partition: number): number {
    return this.leaders.get(topic)?.[partition] ?? 0;
  }

  /** Whether there is more than one broker, and one of them says who leads what: then one leader is away, not Kafka. */
  async othersAnswer(topics: readonly string[]): Promise<boolean> {
    if (this.brokerCount < 2) return false;
    try {
      await within(LOOK_MS, this.look(topics));
      return true;
    } catch {
      return false;
    }
  }

  /** Asks anew who leads the partitions of these topics. @throws the client's error when no broker answers */
  async look(topics: readonly string[]): Promise<void> {
    await this.withAdmin((admin) => this.learn(admin, topics));
  }

  /** Looks at these topics again before they are next used: the broker said that one is not there, or nothing. */
  forget(topics: readonly string[]): void {
    topics.forEach((topic) => this.ensured.delete(topic));
  }

  /** Runs something on an administration client of its own. */
  async withAdmin<T>(work: (admin: Admin) => Promise<T>): Promise<T> {
    const admin = this.client.admin();
    try {
      await admin.connect();
      return await work(admin);
    } finally {
      admin.disconnect().catch((error: unknown) => {
        log.debug({ err: error }, 'An administration client did not disconnect');
      });
    }
  }

  private async create(admin: Admin, topics: readonly string[]): Promise<void> {
    const existing = new Set(await admin.listTopics());
    const missing = topics.filter((topic) => !existing.has(this.client.named(topic)));
    const ours = missing.filter((topic) => this.isOurs(topic));
    if (ours.length > 0) {
      if (!this.options.readsOnly) await this.settings.checkDefaults(admin);
      await this.claim(admin);
      await this.createMissing(admin, ours);
      await this.untilLed(admin, ours);
    }
    await this.claim(admin);
    const there = topics.filter((topic) => ours.includes(topic) || !missing.includes(topic));
    if (there.length === 0) return;
    const found = await this.learn(admin, there);
    if (!this.options.readsOnly)
      await this.settings.reconcile(
        admin,
        found
          .map((topic) => this.asFound(topic))
          .filter(({ name }) => this.isOurs(this.client.unnamed(name))),
      );
    found.forEach(({ name }) => this.ensured.add(this.client.unnamed(name)));
  }

  /** No topic of another installation is read or written. */
  private async claim(admin: Admin): Promise<void> {
    if (this.isOwn || this.options.readsOnly || !this.installation || !this.compares) return;
    await this.installation.claim(new MarkedKafka(this.client, admin, this.options.module));
    this.isOwn = true;
  }

  /** What nobody declared is a spec's own. */
  private isOurs(topic: string): boolean {
    const owner = ownerOfTopic(topic);
    return owner === undefined || owner === this.options.module;
  }

  /** Takes note of the partitions and leaders of those of these topics that there are. */
  private async learn(admin: Admin, topics: readonly string[]): Promise<ITopicMetadata[]> {
    const { topics: found } = await admin.fetchTopicMetadata({
      topics: topics.map((topic) => this.client.named(topic)),
    });
    for (const { name, partitions } of found) this.note(this.client.unnamed(name), partitions);
    this.brokerCount = (await admin.describeCluster()).brokers.length;
    return found;
  }

  private note(topic: string, partitions: ITopicMetadata['partitions']): void {
    const known = this.partitions.get(topic);
    if (known === undefined && partitions.length !== this.client.partitions) {
      log.warn(
        { topic, partitions: partitions.length, configured: this.client.partitions },
        'A topic has another number of partitions than KAFKA_PARTITIONS says; it is left as it is',
      );
    }
    if (known !== undefined && partitions.length < known) {
      log.error(
        { topic, partitions: partitions.length, known },
        'A topic has lost partitions; they are waited for',
      );
    }
    this.partitions.set(topic, Math.max(known ?? 0, partitions.length));
    const leaders = Array.from({ length: this.partitionsOf(topic) }, () => -1);
    for (const { partitionId, leader } of partitions) leaders[partitionId] = leader;
    this.leaders.set(topic, leaders);
  }

  private asFound(topic: ITopicMetadata): TopicAsFound {
    return { ...topic, retention: this.retentionOf(this.client.unnamed(topic.name)) };
  }

  private retentionOf(topic: string): string {
    return recordTopic(topic)?.keptForEver ? '-1' : String(RETENTION_MS);
  }

  private async createMissing(
    admin: Admin,
    topics: readonly string[],
    settings: Readonly<Record<string, string>> = OF_ALL_TOPICS,
  ): Promise<void> {
    try {
      await admin.createTopics({
        waitForLeaders: true,
        topics: topics.map((topic) => ({
          topic: this.client.named(topic),
          numPartitions: this.client.partitions,
          replicationFactor: -1,
          configEntries: [
            { name: 'retention.ms', value: this.retentionOf(topic) },
            ...Object.entries(settings).map(([name, value]) => ({ name, value })),
          ],
        })),
      });
    } catch (error) {
      if (isOnlyOf(error, MADE_MEANWHILE)) return;
      const { [MAY_BE_REFUSED]: refused, ...others } = settings;
      if (refused === undefined || !isOnlyOf(error, REFUSED)) throw error;
      log.error(
        { err: error, topics },
        `The brokers refuse topics with ${MAY_BE_REFUSED}; they are made without`,
      );
      await this.createMissing(admin, topics, others);
    }
  }

  /** What is written before a topic is led would be refused, and the first event with it. */
  private async untilLed(admin: Admin, topics: readonly string[]): Promise<void> {
    for await (const _ of turns({ forMs: LED_WITHIN_MS, pauseMs: LOOK_EVERY_MS })) {
      const { topics: found } = await admin.fetchTopicMetadata({
        topics: topics.map((topic) => this.client.named(topic)),
      });
      const led = found.every(({ partitions }) => partitions.every(({ leader }) => leader !== -1));
      if (led) return;
    }
  }
}
