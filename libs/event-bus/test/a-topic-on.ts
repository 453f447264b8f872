import { Kafka, logLevel } from 'kafkajs';
import { eventually, given } from './a-bus.js';

/** Makes a topic whose partitions have these brokers as replicas, once there are two brokers. */
export async function aTopicOn(topic: string, replicas: Record<number, number[]>): Promise<void> {
  const brokers = given(process.env['KAFKA_BROKERS'], 'KAFKA_BROKERS').split(',');
  const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin();
  await eventually(async () => {
    await admin.connect();
    expect((await admin.describeCluster()).brokers).toHaveLength(2);
    await admin.createTopics({
      topics: [
        {
          topic: `${given(process.env['KAFKA_TOPIC_PREFIX'], 'KAFKA_TOPIC_PREFIX')}${topic}`,
          replicaAssignment: Object.entries(replicas).map(([partition, on]) => ({
            partition: Number(partition),
            replicas: on,
          })),
        },
      ],
    });
  }, 60_000);
  await admin.disconnect();
}
