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
const PROOF = proofBy('loyalty', FOREIGN);

interface Reader {
  reader: string;
  next_offset: string;
}

interface Kept {
  value: Buffer;
  key: string | null;
  proof: string | null;
}

let registry: TestRegistry;
let database: TestDatabase;
let app: TestApp;
/** Counts of other files of the process. */
let before: Record<string, number>;
beforeAll(async () => {
  before = await counted();
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
  await eventually(() => producer.send(INGESTION_TOPIC, { ...FOREIGN, headers: PROOF }));
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

const kept = () => database.query<Kept>('SELECT value, key, proof FROM unreadable_records');

/** By cause, each of which is there before the first record is: an alert is told of a rise, not of a beginning. */
async function counted(): Promise<Record<string, number>> {
  const counts = await metrics.getSingleMetric('unreadable_records_total')?.get();
  const own = (counts?.values ?? []).filter(({ labels }) => labels['topic'] === INGESTION_TOPIC);
  return Object.fromEntries(own.map(({ labels, value }) => [String(labels['cause']), value]));
}

describe('a record that none of its writers has proven', () => {
  it('has been counted by its cause before the first of them is there', () => {
    expect(Object.keys(before).sort()).toEqual(['unproven', 'unreadable']);
  });

  it(
    'is behind the positions of both readers, though it is the last, and set aside once with its key and proof',
    async () => {
      await untilBehind(await aForeignRecord());
      const [first] = await kept();
      expect(first).toMatchObject({
        value: Buffer.from(FOREIGN.value),
        key: FOREIGN.key,
        proof: PROOF['proof']?.toString('base64'),
      });
      await app.close();
      app = await start();
      await untilBehind(await aForeignRecord());
      const { unproven = 0, unreadable } = before;
      expect(await counted()).toEqual({ unproven: unproven + (await kept()).length, unreadable });
    },
    START_MS,
  );
});
