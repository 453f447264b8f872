import type { INestApplication } from '@nestjs/common';
import { metrics } from '@customer-platform/http';
import { Kafka, logLevel, type Admin } from 'kafkajs';
import { aBus, aDatabase, anIsolatedKafka, eventually } from './a-bus.js';
import { OwnBroker } from './own-broker.js';
import { Topics } from '../src/kafka/topics.js';
import { RecordProducer } from '../src/producing/record.producer.js';
import { LagWatchdog } from '../src/consuming/lag.watchdog.js';
import { RecordConsumers, type RecordConsumer } from '../src/consuming/record.consumers.js';

const TOPIC = 'spec.consumed-of-two-leaders';
/** The second broker has this partition alone. */
const ORPHANED = 1;

let database: Awaited<ReturnType<typeof aDatabase>>;
let first: OwnBroker;
let second: OwnBroker;
let app: INestApplication;

beforeAll(async () => {
  database = await aDatabase();
  first = await OwnBroker.prepare();
  await first.start();
  anIsolatedKafka(first.address);
  // The offsets of groups are made where there is one broker only: it coordinates every group.
  await asking(async (admin) => void (await admin.fetchOffsets({ groupId: 'any' })));
  second = await OwnBroker.beside(first);
  await second.start();
  process.env['KAFKA_BROKERS'] = `${first.address},${second.address}`;
  await asking(async (admin) => {
    expect((await admin.describeCluster()).brokers).toHaveLength(2);
    const replicaAssignment = [1, 2, 1].map((on, partition) => ({ partition, replicas: [on] }));
    const topic = `${String(process.env['KAFKA_TOPIC_PREFIX'])}${TOPIC}`;
    await admin.createTopics({ topics: [{ topic, replicaAssignment }] });
  });
  app = await aBus([], { role: 'api' });
  await eventually(() => app.get(RecordProducer).prepare([TOPIC]), 60_000);
}, 180_000);
afterAll(async () => {
  await app.close();
  await second.remove();
  await first.remove();
  await database.drop();
}, 60_000);

async function asking(work: (admin: Admin) => Promise<void>): Promise<void> {
  const brokers = String(process.env['KAFKA_BROKERS']).split(',');
  const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin();
  await eventually(async () => {
    await admin.connect();
    await work(admin);
  }, 60_000);
  await admin.disconnect();
}

function consuming(group: string): { seen: string[]; consumer: RecordConsumer } {
  const seen: string[] = [];
  const consumer = app.get(RecordConsumers).consume({
    topic: TOPIC,
    group,
    positions: 'kept',
    eachChunk: (records) => {
      seen.push(...records.map(({ value }) => value.toString()));
      return Promise.resolve();
    },
  });
  return { seen, consumer };
}

async function write(partition: number, value: string): Promise<void> {
  await eventually(() => app.get(RecordProducer).sendToPartition(TOPIC, partition, value), 60_000);
}

async function valueOf(metric: string, ...labels: string[]): Promise<number> {
  const text = await metrics.getSingleMetricAsString(metric);
  const line = text.split('\n').find((each) => labels.every((label) => each.includes(label)));
  return Number(line?.split(' ').at(-1));
}

const of = (metric: string, group: string, partition: number): Promise<number> =>
  valueOf(metric, `group="${group}"`, `partition="${String(partition)}"`);

describe('the consumers of a topic with a partition that nobody leads', () => {
  it('begin the others, be their positions kept or new, and that one once it is led', async () => {
    for (const partition of [0, 1, 2]) await write(partition, `before ${String(partition)}`);
    const before = consuming('spec.known');
    await eventually(() => {
      expect(before.seen).toHaveLength(3);
    }, 60_000);
    await before.consumer.stop();
    await write(ORPHANED, 'unread');
    await second.kill();
    await eventually(async () => {
      await app.get(Topics).look([TOPIC]);
      expect(app.get(Topics).leaderOf(TOPIC, ORPHANED)).toBe(-1);
    }, 60_000);
    await write(0, 'meanwhile 0');
    await write(2, 'meanwhile 2');

    const known = consuming('spec.known');
    const fresh = consuming('spec.fresh');
    await eventually(() => {
      expect(known.seen.toSorted()).toEqual(['meanwhile 0', 'meanwhile 2']);
      expect(fresh.seen.toSorted()).toEqual(['before 0', 'before 2', 'meanwhile 0', 'meanwhile 2']);
    }, 60_000);

    await expectMeasured();

    await second.start();
    await eventually(() => {
      expect(known.seen.slice(2)).toEqual(['unread']);
      expect(fresh.seen.slice(4)).toEqual(['before 1', 'unread']);
    }, 90_000);
    await known.consumer.stop();
    await fresh.consumer.stop();
  }, 300_000);
});

/** Kafka answers, the led partitions are measured, the other one counts as standing still. */
async function expectMeasured(): Promise<void> {
  const watchdog = app.get(LagWatchdog);
  await eventually(async () => {
    await watchdog.look(Date.now());
    await watchdog.look(Date.now() + 300_000);
    for (const group of ['spec.known', 'spec.fresh']) {
      for (const partition of [0, 2]) {
        expect(await of('event_consumer_lag', group, partition)).toBe(0);
        expect(await of('event_consumer_stuck_seconds', group, partition)).toBe(0);
      }
      expect(await of('event_consumer_stuck_seconds', group, ORPHANED)).toBeGreaterThan(250);
    }
    expect(await valueOf('dependency_up', 'dependency="kafka"')).toBe(1);
  }, 60_000);
}
