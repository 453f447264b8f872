import { ConfigError } from '@customer-platform/config';
import type { MarkedPlace } from '@customer-platform/database';
import { log } from '@customer-platform/http';
import type { Publisher } from '@customer-platform/events';
import type { Admin } from 'kafkajs';
import type { KafkaClient } from './kafka.client.js';
import { isOnlyOf } from './protocol-error.js';
import { NOT_ALLOWED } from './topic.settings.js';

/** What brokers answer that let nobody, or not this client, make or delete a mark. */
const REFUSALS: ReadonlySet<string> = new Set([...NOT_ALLOWED, 'TOPIC_DELETION_DISABLED']);

/** The brokers leave another installation's mark where it is; whoever runs them has to take it away. */
export class MarkRefused extends ConfigError {
  constructor(own: string, others: readonly string[], cause: unknown) {
    super(
      `The brokers do not let this client make the topic ${own} or delete ${others.join(', ')}. Have whoever runs them ` +
        `make the first, with one partition, and delete the others, then run this again; or allow the client what ` +
        `"platform kafka acls" prints.`,
    );
    this.cause = cause;
  }
}

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
      await this.make(id);
    } catch (error) {
      this.tellIfRefused(id, error);
    }
  }

  /**
   * Brokers that do not allow a mark, and have no other's, are used without one.
   * @throws MarkRefused when another's mark would stay
   */
  async replace(id: string): Promise<void> {
    const marks = await this.marks();
    const others = marks.filter((mark) => mark !== id).map((mark) => this.topic(mark));
    try {
      // First ours: whoever is interrupted between the two finds two marks, and is refused rather than let in.
      if (!marks.includes(id)) await this.make(id);
      if (others.length > 0) await this.admin.deleteTopics({ topics: others });
    } catch (error) {
      this.tellIfRefused(id, error);
      if (others.length > 0) throw new MarkRefused(this.topic(id), others, error);
    }
  }

  private async make(id: string): Promise<void> {
    await this.admin.createTopics({ topics: [{ topic: this.topic(id), numPartitions: 1 }] });
  }

  private tellIfRefused(id: string, error: unknown): void {
    if (!isOnlyOf(error, REFUSALS)) throw error;
    log.error(
      { err: error, topic: this.topic(id) },
      'This client may not make the topic that marks the installation, or delete another; see "platform kafka acls"',
    );
  }

  private topic(id: string): string {
    return this.client.named(`${markOf(this.module)}${id}`);
  }
}
