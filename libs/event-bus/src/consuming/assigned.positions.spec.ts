import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { INestApplication } from '@nestjs/common';
import { metrics } from '@customer-platform/http';
import { Kafka, logLevel } from 'kafkajs';
import { aBus, aDatabase, anIsolatedKafka, eventually, given } from '../../test/a-bus.js';
import { readAny, sendCompressed } from '../../test/compressed-batch.js';
import { KafkaClient } from '../kafka/kafka.client.js';
import { Topics } from '../kafka/topics.js';
import { RecordProducer } from '../producing/record.producer.js';
import { KeptPositions } from './kept.positions.js';
import { LagWatchdog } from './lag.watchdog.js';
import { RecordConsumers, type RecordConsumer } from './record.consumers.js';

let database: Awaited<ReturnType<typeof aDatabase>>;
let app: INestApplication;

beforeAll(async () => {
  database = await aDatabase();
  anIsolatedKafka();
  app = await aBus([], { role: 'api' });
});
afterAll(async () => {
  await app.close();
  await database.drop();
});
afterEach(() => {
  delete process.env['KAFKA_ACCEPT_GAPS'];
});

/** kafkajs's `ConfigResourceTypes.TOPIC`. */
const TOPIC = 2;

interface Consuming {
  readonly seen: string[];
  readonly proofs: (string | undefined)[];
  readonly consumer: RecordConsumer;
}

/** A consumer whose positions are kept; topic and group have one name. */
function consuming(topic: string): Consuming {
  const seen: string[] = [];
  const proofs: (string | undefined)[] = [];
  const consumer = app.get(RecordConsumers).consume({
    topic,
    group: topic,
    positions: 'kept',
    eachChunk: (records) => {
      seen.push(...records.map(({ partition, value }) => `${String(partition)}:${value.toString()}`));
      proofs.push(...records.map(({ proof }) => proof?.toString('hex')));
      return Promise.resolve();
    },
  });
  return { seen, proofs, consumer };
}

/** Each once, however slow the broker is: what is sent again here would stand there twice. */
async function write(topic: string, partition: number, values: readonly string[]): Promise<void> {
  const brokers = given(process.env['KAFKA_BROKERS'], 'brokers').split(',');
  const producer = new Kafka({ brokers, logLevel: logLevel.NOTHING }).producer({ idempotent: true });
  await producer.connect();
  try {
    const messages = values.map((value) => ({ partition, value }));
    await producer.send({ topic: app.get(KafkaClient).named(topic), messages, acks: -1 });
  } finally {
    await producer.disconnect();
  }
}

/** Takes the database back to where it stood after so many records of the partition. */
async function setBack(topic: string, partition: number, next: number): Promise<void> {
  const admin = await database.admin();
  const { rowCount } = await admin.query(
    'UPDATE consumer_positions SET next_offset = $3 WHERE topic = $1 AND partition = $2',
    [app.get(KafkaClient).named(topic), partition, next],
  );
  await admin.end();
  expect(rowCount).toBe(1);
}

/** Writes, consumes all, and stops: Kafka's own offset is at the end. */
async function consumedOnce(topic: string): Promise<void> {
  await app.get(RecordProducer).prepare([topic]);
  await write(topic, 0, ['a', 'b', 'c', 'd', 'e', 'f']);
  const { seen, consumer } = consuming(topic);
  await eventually(() => {
    expect(seen).toHaveLength(6);
  });
  await consumer.stop();
}

async function gapOf(topic: string): Promise<string | undefined> {
  const text = await metrics.getSingleMetricAsString('event_consumer_gap');
  return text.split('\n').find((line) => line.includes(`group="${topic}"`));
}

/** What the watchdog says of the first partition of the topic after five more minutes. */
async function measured(topic: string): Promise<{ lag: number; stuck: number }> {
  const watchdog = app.get(LagWatchdog);
  await watchdog.look(Date.now());
  await watchdog.look(Date.now() + 300_000);
  const valueOf = async (metric: string): Promise<number> => {
    const text = await metrics.getSingleMetricAsString(metric);
    const line = text.split('\n').find((each) => each.includes(`group="${topic}"`) && each.includes('"0"'));
    return Number(line?.split(' ').at(-1));
  };
  return {
    lag: await valueOf('event_consumer_lag'),
    stuck: await valueOf('event_consumer_stuck_seconds'),
  };
}

/** Deletes the first records of the topic's first partition. */
async function deleteUpTo(topic: string, offset: number): Promise<void> {
  await app.get(Topics).withAdmin(async (admin) => {
    const name = app.get(KafkaClient).named(topic);
    await admin.fetchTopicOffsets(name); // this client must know the topic
    await admin.deleteTopicRecords({ topic: name, partitions: [{ partition: 0, offset: String(offset) }] });
  });
}

/** Sets how the topic keeps what is written to it. */
async function compressedAs(topic: string, type: 'producer' | 'uncompressed'): Promise<void> {
  const name = app.get(KafkaClient).named(topic);
  const configEntries = [
    { name: 'compression.type', value: type },
    { name: 'message.timestamp.type', value: 'LogAppendTime' },
  ];
  await app
    .get(Topics)
    .withAdmin((admin) =>
      admin.alterConfigs({ validateOnly: false, resources: [{ type: TOPIC, name, configEntries }] }),
    );
}

/** What docs/operations/restore.md gives to kafka-delete-records.sh. */
async function deleteAsThePageSays(topic: string, end: number): Promise<void> {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/operations/restore.md'), 'utf8');
  const said = /```json\n([^`]*"offset": END[^`]*)```/.exec(page)?.[1] ?? '';
  const name = app.get(KafkaClient).named(topic);
  const asked = said.replace('TOPIC', name).replace('"partition": P', '"partition": 0');
  const { partitions } = JSON.parse(asked.replace('END', String(end))) as {
    partitions: { topic: string; partition: number; offset: number }[];
  };
  expect(partitions).toEqual([{ topic: name, partition: 0, offset: end }]);
  for (const { partition, offset } of partitions) {
    expect(partition).toBe(0);
    await deleteUpTo(topic, offset);
  }
}

/** The statements of docs/operations/restore.md that have consumers begin at Kafka's own offsets. */
async function forgetPositions(group: string): Promise<void> {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/operations/restore.md'), 'utf8');
  const blocks = [...page.matchAll(/```sql\n([^`]*)```/g)].map(([, statements = '']) => statements);
  const statements = blocks.find((block) => block.includes("'GROUP'")) ?? '';
  expect(statements).not.toBe('');
  const admin = await database.admin();
  await admin.query(statements.replaceAll('GROUP', app.get(KafkaClient).named(group)));
  await admin.end();
}

describe('a consumer whose database was set back', () => {
  it('begins where the database stands, whatever Kafka has committed', async () => {
    const topic = 'spec.set-back';
    await consumedOnce(topic);
    await setBack(topic, 0, 2);
    await eventually(async () => {
      const { lag, stuck } = await measured(topic);
      expect(lag).toBe(4);
      expect(stuck).toBeGreaterThan(250);
    });
    const { seen, consumer } = consuming(topic);
    await eventually(() => {
      expect(seen).toEqual(['0:c', '0:d', '0:e', '0:f']);
    });
    await consumer.stop();
    await eventually(async () => {
      expect(await measured(topic)).toEqual({ lag: 0, stuck: 0 });
    });
  });

  it('refuses a gap: that partition stands still and says what to set, the others go on', async () => {
    const topic = 'spec.gap';
    await consumedOnce(topic);
    await setBack(topic, 0, 2);
    await deleteUpTo(topic, 5);
    const refused = consuming(topic);
    await write(topic, 1, ['of another']);
    await eventually(async () => {
      expect(refused.seen).toEqual(['1:of another']);
      expect(await gapOf(topic)).toMatch(/ 3$/);
    });
    await eventually(async () => {
      const { lag, stuck } = await measured(topic);
      expect(lag).toBe(4);
      expect(stuck).toBeGreaterThan(250);
    });
    await refused.consumer.stop();
    expect(refused.seen).toEqual(['1:of another']);
    expect(await gapOf(topic)).toBeUndefined();

    process.env['KAFKA_ACCEPT_GAPS'] = `other/other/0@2, ${topic}/${topic}/0@2`;
    const going = consuming(topic);
    await eventually(() => {
      expect(going.seen).toEqual(['0:f']);
    });
    expect(await gapOf(topic)).toBeUndefined();
    await going.consumer.stop();
  });

  it('goes on behind a batch that nobody can read, as restore.md says, with what was ours in it', async () => {
    const topic = 'spec.undecodable';
    const client = app.get(KafkaClient);
    await consumedOnce(topic);
    // Fetched together with the batch, and taken no more than it.
    await write(topic, 0, ['before']);
    await compressedAs(topic, 'producer');
    const headers = { proof: Buffer.of(0xff, 0, 0x80) };
    const inIt = ['ours', 'nobody’s'].map((value) => ({ partition: 0, key: 'k', value, headers }));
    await sendCompressed(client, topic, inIt);
    await compressedAs(topic, 'uncompressed');
    await write(topic, 0, ['behind']);
    const stands = consuming(topic);
    await eventually(async () => {
      const counted = await metrics.getSingleMetricAsString('event_consumer_undecodable_total');
      expect(counted).toContain(`{group="${topic}"}`);
    });
    const found = await readAny(client, topic, { from: 6, to: 9 });
    const ours = found.filter(({ value }) => String(value) !== 'nobody’s');
    const producer = client.producer();
    await producer.connect();
    const messages = ours.map((each) => ({ ...each, partition: 0 }));
    await producer.send({ topic: client.named(topic), messages });
    await producer.disconnect();
    await deleteAsThePageSays(topic, 9);
    await eventually(async () => expect(await gapOf(topic)).toMatch(/ 3$/));
    await stands.consumer.stop();
    expect(stands.seen).toEqual([]);

    process.env['KAFKA_ACCEPT_GAPS'] = `${topic}/${topic}/0@6`;
    const going = consuming(topic);
    await eventually(() => expect(going.seen).toEqual(['0:behind', '0:before', '0:ours']));
    expect(going.proofs.at(-1)).toBe('ff0080');
    await going.consumer.stop();
  }, 60_000);

  it('begins anew when the topic was lost and made again, though it holds more than before', async () => {
    const topic = 'spec.made-again';
    await consumedOnce(topic);
    await app
      .get(Topics)
      .withAdmin((admin) => admin.deleteTopics({ topics: [app.get(KafkaClient).named(topic)] }));
    app.get(Topics).forget([topic]);
    await eventually(() => app.get(RecordProducer).prepare([topic]));
    const values = Array.from({ length: 9 }, (_, at) => `new ${String(at)}`);
    await write(topic, 0, values);
    const { seen, consumer } = consuming(topic);
    await eventually(() => {
      expect([...new Set(seen)]).toEqual(values.map((value) => `0:${value}`));
    });
    await consumer.stop();
  });
});

describe('a consumer whose release kept no positions for a while', () => {
  it('begins at Kafka’s own offset once the stale positions are deleted', async () => {
    const topic = 'spec.stale';
    await consumedOnce(topic);
    await setBack(topic, 0, 2);
    await deleteUpTo(topic, 5);
    await forgetPositions(topic);
    await write(topic, 0, ['g']);
    const { seen, consumer } = consuming(topic);
    await eventually(() => {
      expect(seen).toEqual(['0:g']);
    });
    expect(await gapOf(topic)).toBeUndefined();
    await consumer.stop();
  });
});

describe('a kept position', () => {
  it('does not go back for who tells it late, but for a topic that was made again', async () => {
    const kept = app.get(KeptPositions, { strict: false });
    const [topic, group] = ['spec.late', 'spec.late'];
    const range = { topic, partition: 0, low: 0n, high: 500n, committed: undefined };
    const after = async (next: bigint, latest: number): Promise<unknown> => {
      kept.moved(group, topic, 0, { next, latest });
      await kept.flush();
      return (await kept.look(group, [range]))[0];
    };
    await kept.read(group, [range]);
    expect(await after(100n, 1_000)).toEqual({ next: 100n, latest: 1_000 });
    expect(await after(50n, 900)).toEqual({ next: 100n, latest: 1_000 });
    expect(await after(99n, 1_000)).toEqual({ next: 100n, latest: 1_000 });
    expect(await after(101n, 1_000)).toEqual({ next: 101n, latest: 1_000 });
    expect(await after(3n, 2_000)).toEqual({ next: 3n, latest: 2_000 });
    expect(await after(102n, 1_001)).toEqual({ next: 3n, latest: 2_000 });
  });
});
