import { Inject, Injectable } from '@nestjs/common';
import { log } from '@customer-platform/http';
import type { Admin, KafkaJSAggregateError } from 'kafkajs';
import { EVENT_BUS_OPTIONS, type EventBusOptions } from '../event-bus.options.js';
import { KafkaClient } from './kafka.client.js';
import { protocolErrorType } from './protocol-error.js';

/** How long a topic keeps a record (core.md §10: topics keep 7 days). */
export const RETENTION_MS = 7 * 24 * 3_600_000;

/** The topics this process needs, made if they are not there, and how many partitions each has. */
@Injectable()
export class Topics {
  private readonly partitions = new Map<string, number>();
  private readonly underway = new Map<string, Promise<void>>();

  constructor(
    private readonly client: KafkaClient,
    @Inject(EVENT_BUS_OPTIONS) private readonly options: Pick<EventBusOptions, 'keptForEver'>,
  ) {}

  /**
   * Resolves when all these topics exist, with 7 days of retention, or none, where it had to make them. Repeatable,
   * and safe from many processes at once.
   * @throws the client's error when the broker is away; the caller tries again
   */
  async ensure(topics: readonly string[]): Promise<void> {
    const unknown = topics.filter((topic) => !this.partitions.has(topic));
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
  }

  /** Number of partitions of a topic, as the broker said; before it has, as a new topic would get. */
  partitionsOf(topic: string): number {
    return this.partitions.get(topic) ?? this.client.partitions;
  }

  /** Forgets what is known of these topics: the broker said that one is not there. */
  forget(topics: readonly string[]): void {
    topics.forEach((topic) => this.partitions.delete(topic));
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
    if (missing.length > 0) await this.createMissing(admin, missing);
    const { topics: described } = await admin.fetchTopicMetadata({
      topics: topics.map((topic) => this.client.named(topic)),
    });
    for (const topic of topics) {
      const found = described.find(({ name }) => name === this.client.named(topic));
      if (found) this.partitions.set(topic, found.partitions.length);
    }
  }

  private retentionOf(topic: string): string {
    return this.options.keptForEver?.includes(topic) ? '-1' : String(RETENTION_MS);
  }

  private async createMissing(admin: Admin, topics: readonly string[]): Promise<void> {
    try {
      await admin.createTopics({
        waitForLeaders: true,
        topics: topics.map((topic) => ({
          topic: this.client.named(topic),
          numPartitions: this.client.partitions,
          replicationFactor: -1,
          configEntries: [{ name: 'retention.ms', value: this.retentionOf(topic) }],
        })),
      });
    } catch (error) {
      if (!alreadyThere(error)) throw error;
    }
  }
}

/** Another process made the topic between our look and our call. */
function alreadyThere(error: unknown): boolean {
  const aggregate = error instanceof Error && error.name === 'KafkaJSAggregateError';
  const errors: readonly unknown[] = aggregate ? (error as KafkaJSAggregateError).errors : [error];
  return errors.every((each) => protocolErrorType(each) === 'TOPIC_ALREADY_EXISTS');
}
