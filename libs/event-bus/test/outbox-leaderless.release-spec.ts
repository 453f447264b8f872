import { randomUUID } from 'node:crypto';
import type { INestApplication } from '@nestjs/common';
import { metrics } from '@customer-platform/http';
import { aBus, aDatabase, anIsolatedKafka, eventually, inOrganization, reading } from './a-bus.js';
import { OwnBroker } from './own-broker.js';
import { aTopicOn } from './a-topic-on.js';
import { partitionOfKey } from '../src/producing/partition-of-key.js';
import { Outbox } from '../src/outbox/outbox.js';
import { shardOf } from '../src/outbox/shards.js';

const TOPIC = 'spec.outbox-two-leaders';
const PARTITIONS = 3;
/** The partition that the second broker leads. */
const ORPHANED = 1;
const organizationId = randomUUID();
const orphan = keyIn((partition) => partition === ORPHANED);
/** Of the same shard, for another partition: the two share rows. */
const neighbour = keyIn((partition, shard) => partition !== ORPHANED && shard === shardOf(orphan));
const stranger = keyIn((partition, shard) => partition !== ORPHANED && shard !== shardOf(orphan));

let database: Awaited<ReturnType<typeof aDatabase>>;
let first: OwnBroker;
let second: OwnBroker;
let app: INestApplication;

beforeAll(async () => {
  database = await aDatabase();
  first = await OwnBroker.prepare();
  await first.start();
  second = await OwnBroker.beside(first);
  await second.start();
  anIsolatedKafka(`${first.address},${second.address}`);
  await aTopicOn(TOPIC, { 0: [1], [ORPHANED]: [2], 2: [1] });
  app = await aBus();
  await append([orphan, neighbour, stranger], 'before');
  await eventually(async () => {
    expect(await waiting()).toEqual([]);
  }, 60_000);
}, 180_000);
afterAll(async () => {
  await app.close();
  await second.remove();
  await first.remove();
  await database.drop();
}, 60_000);

function keyIn(fits: (partition: number, shard: number) => boolean): string {
  for (;;) {
    const key = randomUUID();
    if (fits(partitionOfKey(key, PARTITIONS), shardOf(key))) return key;
  }
}

/** One transaction with a message of each key, in this order. */
function append(keys: readonly string[], value: string): Promise<void> {
  const messages = keys.map((key) => ({ organizationId, topic: TOPIC, key, value }));
  return inOrganization(app, organizationId, (tx) => app.get(Outbox).appendMessages(tx, messages));
}

/** The messages in the outbox. */
async function waiting(): Promise<{ key: string; value: string }[]> {
  const rows = await inOrganization(app, organizationId, (tx) =>
    tx.query<{ messages: [string, string][] }>('SELECT messages FROM outbox ORDER BY id'),
  );
  return rows.flatMap(({ messages }) => messages.map(([key, value]) => ({ key, value })));
}

async function ageOfOldest(): Promise<number> {
  const line = await metrics.getSingleMetricAsString('outbox_oldest_age_seconds');
  return Number(/^outbox_oldest_age_seconds (.*)$/m.exec(line)?.[1]);
}

/** Appends, waits until only what goes to the orphaned partition waits, and then until it is led and nothing does. */
async function outage(name: string, begin: () => unknown, end: () => unknown): Promise<void> {
  await begin();
  const values = Array.from({ length: 8 }, (_, at) => `${name} ${String(at)}`);
  for (const value of values) await append([orphan, neighbour, stranger], value);
  await eventually(async () => {
    expect(await waiting()).toEqual(values.map((value) => ({ key: orphan, value })));
  }, 60_000);
  // More than a relay takes of a shard at once: it must see what is behind.
  const large = Array.from({ length: 6 }, (_, at) => `${name} large ${String(at)} ${'x'.repeat(100_000)}`);
  for (const value of large) await append([orphan], value);
  await append([neighbour, stranger], `${name} behind`);
  await eventually(async () => {
    expect(await waiting()).toEqual([...values, ...large].map((value) => ({ key: orphan, value })));
  }, 60_000);
  expect(await ageOfOldest()).toBeGreaterThan(0);

  await end();
  await eventually(async () => {
    expect(await waiting()).toEqual([]);
  }, 90_000);
  expect(await ageOfOldest()).toBe(0);
  const topic = await reading(TOPIC);
  const valuesOf = (key: string): string[] =>
    topic.messages
      .filter((message) => message.key === key && message.value.startsWith(name))
      .map(({ value }) => value);
  await eventually(() => {
    expect([...new Set(valuesOf(orphan))]).toEqual([...values, ...large]);
    expect(valuesOf(neighbour)).toEqual([...values, `${name} behind`]);
    expect(valuesOf(stranger)).toEqual([...values, `${name} behind`]);
  }, 60_000);
  await topic.stop();
}

describe('a partition that cannot be written', () => {
  it('holds back its own messages alone, in their order, while nobody leads it', async () => {
    await outage(
      'killed',
      () => second.kill(),
      () => second.start(),
    );
  }, 240_000);

  it('lets the others be published once while its leader hangs', async () => {
    await outage(
      'frozen',
      () => second.freeze(),
      () => second.thaw(),
    );
  }, 240_000);
});
