import type { INestApplication } from '@nestjs/common';
import { aBus, aDatabase, anIsolatedKafka, eventually, reading } from './a-bus.js';
import { aTopicOn } from './a-topic-on.js';
import { OwnBroker } from './own-broker.js';
import { KafkaClient } from '../src/kafka/kafka.client.js';
import { Topics } from '../src/kafka/topics.js';
import { ProducerLine } from '../src/producing/producer.line.js';
import { RecordProducer } from '../src/producing/record.producer.js';

const TOPIC = 'spec.two-leaders';

let database: Awaited<ReturnType<typeof aDatabase>>;
let first: OwnBroker;
let second: OwnBroker;
let app: INestApplication;
let producer: RecordProducer;
/** Of another app, which sends nothing to the partition without a leader. */
let other: RecordProducer;
let otherApp: INestApplication;
/** Two partitions of the topic that the first broker leads, and one that the second does. */
let led: readonly number[];
let orphaned: number;
/** What was acknowledged while nobody led the one. */
const values: string[] = [];

beforeAll(async () => {
  database = await aDatabase();
  first = await OwnBroker.prepare();
  await first.start();
  second = await OwnBroker.beside(first);
  await second.start();
  anIsolatedKafka(`${first.address},${second.address}`);
  await aTopicOn(TOPIC, { 0: [1], 1: [2], 2: [1] });
  app = await aBus([], { role: 'api' });
  producer = app.get(RecordProducer);
  otherApp = await aBus([], { role: 'api' });
  other = otherApp.get(RecordProducer);
  for (const one of [producer, other]) await eventually(() => one.prepare([TOPIC]), 60_000);
  led = [0, 2];
  orphaned = 1;
}, 180_000);
afterAll(async () => {
  await Promise.all([app.close(), otherApp.close()]);
  await second.remove();
  await first.remove();
  await database.drop();
}, 60_000);

function send(partition: number, value: string): Promise<void> {
  return producer.sendToPartition(TOPIC, partition, value);
}

/** Whether the machine is too busy to say anything: the broker does not answer the other producer at once either. */
async function isBusy(): Promise<boolean> {
  const from = performance.now();
  const [sent] = await Promise.allSettled([other.sendToPartition(TOPIC, 0, 'is it busy?')]);
  return sent.status === 'rejected' || performance.now() - from > 100;
}

describe('a partition without a leader', () => {
  it('keeps no producer from beginning, also while its broker is named the controller', async () => {
    await Promise.all([...led, orphaned].map((partition) => send(partition, `before ${String(partition)}`)));
    await second.kill();
    const client = app.get(KafkaClient);
    const lines = Array.from({ length: 10 }, () => new ProducerLine(() => client.producer()));
    const begun = await Promise.allSettled(lines.map((line) => line.connect()));
    await Promise.all(lines.map((line) => line.close()));
    expect(begun.filter(({ status }) => status === 'rejected')).toEqual([]);
  }, 180_000);

  it('is refused alone: what goes to the others is acknowledged', async () => {
    // Each refusal takes its time: five wait for theirs together, and the others are acknowledged meanwhile.
    let round = 0;
    for (let judged = 0; judged < 15;) {
      const away: Promise<PromiseSettledResult<void>[]>[] = [];
      for (const before = judged; judged < before + 5; round += 1) {
        away.push(Promise.allSettled([send(orphaned, `orphaned ${String(round)}`)]));
        const healthy = led.map((partition) => `${String(partition)} in ${String(round)}`);
        const sending = healthy.map((value, index) => send(led[index] ?? NaN, value));
        const [busy, results] = await Promise.all([isBusy(), Promise.allSettled(sending)]);
        values.push(...healthy.filter((_, index) => results[index]?.status === 'fulfilled'));
        if (busy) continue;
        expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
        judged += 1;
      }
      for (const result of (await Promise.all(away)).flat())
        expect(result).toMatchObject({
          status: 'rejected',
          reason: { code: 'queue_unavailable', status: 503 },
        });
    }
    expect(app.get(Topics).partitionsOf(TOPIC)).toBe(3);
  }, 180_000);

  it('is written again, in order, once it is led; what the others acknowledged is there, once', async () => {
    await second.start();
    await eventually(() => send(orphaned, 'led again'), 60_000);
    const places = Array.from({ length: 200 }, (_, place) => `place ${String(place)}`);
    await Promise.all(places.map((value) => send(orphaned, value)));
    const topic = await reading(TOPIC);
    await eventually(() => {
      const read = topic.messages.map(({ value }) => value).filter((value) => value.startsWith('place'));
      expect(read).toEqual(places);
      const others = topic.messages.map(({ value }) => value).filter((value) => values.includes(value));
      expect(others.toSorted()).toEqual(values.toSorted());
    }, 60_000);
    await topic.stop();
  }, 180_000);
});
