import type { Type } from '@nestjs/common';
import { accessOf, KafkaClient, Topics } from '@customer-platform/event-bus';
import type { Publisher } from '@customer-platform/events';
import { log } from '@customer-platform/http';

const made = new Set<string>();

/** A spec may have a broker of its own. */
const placeOf = (name: string): string => `${process.env['KAFKA_BROKERS'] ?? ''}/${name}`;

/**
 * Makes the topics that a module reads or writes and another one makes, as an operator would: the other module does not run
 * in the test. Where the broker of the environment is away they are made by nobody.
 */
export async function topicsOfOthers(module: Publisher, root: Type): Promise<void> {
  const { owns, reads, writes } = accessOf(module, root);
  const client = new KafkaClient({ module });
  const names = [...new Set([...reads, ...writes])]
    .filter((topic) => !owns.includes(topic))
    .map((topic) => client.named(topic))
    .filter((name) => !made.has(placeOf(name)));
  if (names.length === 0) return;
  const configEntries = [{ name: 'message.timestamp.type', value: 'LogAppendTime' }];
  const topics = names.map((topic) => ({ topic, numPartitions: client.partitions, configEntries }));
  try {
    await new Topics(client, { module }).withAdmin((admin) => admin.createTopics({ topics }));
    names.forEach((name) => made.add(placeOf(name)));
  } catch (error) {
    // A spec may start without its broker: what needs them waits, as it does for the broker.
    log.debug({ err: error, topics: names }, 'The topics of other modules could not be made');
  }
}
