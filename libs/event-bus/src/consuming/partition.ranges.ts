import type { Admin } from 'kafkajs';
import type { KafkaClient } from '../kafka/kafka.client.js';
import type { PartitionRange } from './positions.js';

/**
 * What each partition of a topic holds, and where Kafka's own offset of the group stands; `unanswered` are those that
 * nobody leads, or whose leader does not answer.
 */
export async function rangesOfTopic(
  admin: Admin,
  client: KafkaClient,
  group: string,
  topic: string,
): Promise<{ answered: PartitionRange[]; unanswered: number[] }> {
  const name = client.named(topic);
  const groups = await admin.fetchOffsets({ groupId: client.named(group), topics: [name] });
  const committed = groups.flatMap(({ partitions }) => partitions);
  const ends = new Map((await admin.fetchTopicOffsets(name)).map((end) => [end.partition, end]));
  const answered = committed.flatMap(({ partition, offset }): PartitionRange[] => {
    const end = ends.get(partition);
    if (!end) return [];
    // Below zero are Kafka's names for "none", "the end" and "the beginning".
    const known = offset.startsWith('-') ? undefined : BigInt(offset);
    return [{ topic, partition, low: BigInt(end.low), high: BigInt(end.high), committed: known }];
  });
  const unanswered = committed.map(({ partition }) => partition).filter((partition) => !ends.has(partition));
  return { answered, unanswered };
}
