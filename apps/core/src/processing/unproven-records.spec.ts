import { RecordProducer, TopicEnds } from '@customer-platform/event-bus';
import { metrics } from '@customer-platform/http';
import {
  eventually,
  proofBy,
  startTestApp,
  testDatabase,
  TestRegistry,
  type TestApp,
  type TestDatabase,
} from '@customer-platform/testing';
import { coreApp } from '../core.app.js';
import { START_MS } from '../core.fixture.js';
import { INGESTION_TOPIC } from '../ingestion/ingestion-queue.js';
import { CORE_MIGRATIONS } from '../migrations/core.migrations.js';

/** What loyalty signs, which does not write there. */
const FOREIGN = { topic: INGESTION_TOPIC, key: 'foreign', value: 'written by somebody else' };

interface Reader {
  reader: string;
  next_offset: string;
}

interface Kept {
  value: Buffer;
}

let registry: TestRegistry;
let database: TestDatabase;
let app: TestApp;
beforeAll(async () => {
  registry = await TestRegistry.start();
  database = await testDatabase('core', CORE_MIGRATIONS);
  app = await start();
}, START_MS);
afterAll(async () => {
  await app.close();
  await registry.close();
  await database.drop();
});

const start = () => startTestApp({ ...coreApp(), database, registry });

/** Sent again where the broker was slow: it may stand there twice then. */
async function aForeignRecord(): Promise<number> {
  const producer = app.app.get(RecordProducer, { strict: false });
  await eventually(() =>
    producer.send(INGESTION_TOPIC, { ...FOREIGN, headers: proofBy('loyalty', FOREIGN) }),
  );
  return producer.partitionOf(INGESTION_TOPIC, FOREIGN.key);
}

/** Both readers have come to the end of the partition; the worker to join its group takes seconds. */
async function untilBehind(partition: number): Promise<void> {
  const ends = await app.app.get(TopicEnds, { strict: false }).of(INGESTION_TOPIC);
  const next_offset = String(ends.get(partition));
  await eventually(
    async () => {
      const readers = await database.query<Reader>(
        'SELECT reader, next_offset::text FROM queue_positions WHERE partition = $1 ORDER BY reader',
        [partition],
      );
      expect(readers).toEqual(['counter', 'worker'].map((reader) => ({ reader, next_offset })));
    },
    { within: START_MS - 30_000 },
  );
}

const kept = () => database.query<Kept>('SELECT value FROM unreadable_records');

async function counted(): Promise<number> {
  const counts = await metrics.getSingleMetric('unreadable_records_total')?.get();
  return (counts?.values ?? []).reduce((sum, { value }) => sum + value, 0);
}

describe('a record that none of its writers has proven', () => {
  it(
    'is behind the positions of both readers, though it is the last, and set aside once',
    async () => {
      await untilBehind(await aForeignRecord());
      const [first] = await kept();
      expect(first?.value.toString()).toBe(FOREIGN.value);
      await app.close();
      app = await start();
      await untilBehind(await aForeignRecord());
      expect(await counted()).toBe((await kept()).length);
    },
    START_MS,
  );
});
