import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { INestApplication } from '@nestjs/common';
import { metrics } from '@customer-platform/http';
import { aBus, aDatabase, anIsolatedKafka, eventually } from '../../test/a-bus.js';
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

interface Consuming {
  readonly seen: string[];
  readonly consumer: RecordConsumer;
}

/** A consumer whose positions are kept; topic and group have one name. */
function consuming(topic: string): Consuming {
  const seen: string[] = [];
  const consumer = app.get(RecordConsumers).consume({
    topic,
    group: topic,
    positions: 'kept',
    eachChunk: (records) => {
      seen.push(...records.map(({ partition, value }) => `${String(partition)}:${value.toString()}`));
      return Promise.resolve();
    },
  });
  return { seen, consumer };
}

async function write(topic: string, partition: number, values: readonly string[]): Promise<void> {
  for (const value of values) {
    await eventually(() => app.get(RecordProducer).sendToPartition(topic, partition, value));
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
