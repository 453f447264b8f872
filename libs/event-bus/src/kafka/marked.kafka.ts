import type { MarkedPlace } from '@customer-platform/database';
import { log } from '@customer-platform/http';
import type { Publisher } from '@customer-platform/events';
import type { Admin } from 'kafkajs';
import type { KafkaClient } from './kafka.client.js';
import { isOnlyOf } from './protocol-error.js';
import { NOT_ALLOWED } from './topic.settings.js';

/** How the topics begin, but for the prefix, whose names say of which installation a module's topics are. */
export function markOf(module: Publisher): string {
  return `${module}.installation.`;
}

/**
 * A module's topics on the brokers, marked by one more, which stays empty: its name ends with the installation's id, and
 * the list that every start asks for has it.
 */
export class MarkedKafka implements MarkedPlace {
  readonly name = 'Kafka';
  readonly variables = 'KAFKA_BROKERS, KAFKA_TOPIC_PREFIX';
  readonly lasting = true;

  constructor(
    private readonly client: Pick<KafkaClient, 'named'>,
    private readonly admin: Admin,
    private readonly module: Publisher,
  ) {}

  async marks(): Promise<string[]> {
    const begin = this.topic('');
    const topics = await this.admin.listTopics();
    return topics.filter((topic) => topic.startsWith(begin)).map((topic) => topic.slice(begin.length));
  }

  /** Brokers that do not allow it are told of, and used: they allowed all that a release before needed. */
  async mark(id: string): Promise<void> {
    try {
      await this.admin.createTopics({ topics: [{ topic: this.topic(id), numPartitions: 1 }] });
    } catch (error) {
      if (!isOnlyOf(error, NOT_ALLOWED)) throw error;
      log.error(
        { topic: this.topic(id) },
        'This client may not make the topic that marks the installation; see "platform kafka acls"',
      );
    }
  }

  async replace(id: string): Promise<void> {
    const others = (await this.marks()).filter((mark) => mark !== id);
    // First ours: whoever is interrupted between the two finds two marks, and is refused rather than let in.
    await this.admin.createTopics({ topics: [{ topic: this.topic(id), numPartitions: 1 }] });
    if (others.length > 0)
      await this.admin.deleteTopics({ topics: others.map((other) => this.topic(other)) });
  }

  private topic(id: string): string {
    return this.client.named(`${markOf(this.module)}${id}`);
  }
}
