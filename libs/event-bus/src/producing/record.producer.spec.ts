import { randomBytes } from 'node:crypto';
import type { INestApplication } from '@nestjs/common';
import { aBus, aDatabase, anIsolatedKafka, eventually, reading } from '../../test/a-bus.js';
import { type IncomingRecord, RecordConsumers } from '../consuming/record.consumers.js';
import { RecordProducer } from './record.producer.js';

let database: Awaited<ReturnType<typeof aDatabase>>;
let app: INestApplication;
let producer: RecordProducer;

beforeAll(async () => {
  database = await aDatabase();
  anIsolatedKafka();
  app = await aBus([], { role: 'api' });
  producer = app.get(RecordProducer);
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

/** Sends again what was refused, as a caller does on 503: on a busy machine the broker may be slower than patience. */
async function patiently(send: () => Promise<void>): Promise<void> {
  await eventually(send);
}

describe('RecordProducer', () => {
  it('writes every record once, each key in its order, where partitionOf says', async () => {
    const keys = Array.from({ length: 40 }, (_, at) => `key-${String(at)}`);
    await producer.prepare(['spec.ordered']);
    for (let place = 0; place < 4_000; place += keys.length) {
      await Promise.all(
        keys.map((key, at) =>
          patiently(() =>
            producer.send('spec.ordered', { key, value: String(place + at), headers: { at: 'spec' } }),
          ),
        ),
      );
    }
    const topic = await reading('spec.ordered');
    await eventually(() => {
      expect(new Set(topic.messages.map(({ value }) => value)).size).toBe(4_000);
    });
    await topic.stop();
    for (const key of keys) {
      const own = topic.messages.filter((message) => message.key === key);
      // What was refused may have been written all the same, and then comes twice: the first one counts.
      const places = [...new Set(own.map(({ value }) => Number(value)))];
      expect(places).toEqual([...places].sort((a, b) => a - b));
      expect(new Set(own.map(({ partition }) => partition))).toEqual(
        new Set([producer.partitionOf('spec.ordered', key)]),
      );
    }
  });

  it('makes a topic that is not there when the first record comes', async () => {
    await patiently(() => producer.send('spec.unprepared', { key: 'a', value: 'b' }));
    const topic = await reading('spec.unprepared');
    await eventually(() => {
      expect(topic.messages).toEqual([expect.objectContaining({ key: 'a', value: 'b' })]);
    });
    await topic.stop();
  });

  it('refuses a record that is too large, alone', async () => {
    const values = ['small', randomBytes(1_200_000), 'small too'];
    await eventually(async () => {
      const sends = values.map((value) => producer.send('spec.large', { key: 'a', value }));
      const results = await Promise.allSettled(sends);
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect((results[1] as PromiseRejectedResult).reason).toBeInstanceOf(RangeError);
    });
  });

  it('refuses more than it may hold instead of growing', async () => {
    const sends = Array.from({ length: 60 }, () =>
      producer.send('spec.full', { key: 'a', value: randomBytes(800_000) }),
    );
    const results = await Promise.allSettled(sends);
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused.length).toBeGreaterThan(10);
    for (const { reason } of refused)
      expect(reason).toMatchObject({ code: 'queue_unavailable', status: 503 });
    await patiently(() => producer.send('spec.full', { key: 'a', value: 'room again' }));
  });
});

describe('RecordConsumers', () => {
  it('give records of a partition in order, chunk by chunk, and try a chunk that failed again', async () => {
    const chunks: IncomingRecord[][] = [];
    let failures = 2;
    await producer.prepare(['spec.consumed']);
    const fill = async (partition: number): Promise<void> => {
      for (let place = partition; place < 1_000; place += 3) {
        await patiently(() => producer.sendToPartition('spec.consumed', partition, String(place)));
      }
    };
    await Promise.all([0, 1, 2].map(fill));
    const consumer = app.get(RecordConsumers).consume({
      topic: 'spec.consumed',
      group: 'spec.consumed',
      chunkSize: 100,
      eachChunk: async (records, heartbeat) => {
        await heartbeat();
        failures -= 1;
        if (failures >= 0) throw new Error('not yet');
        chunks.push([...records]);
      },
    });
    await eventually(() => {
      expect(new Set(chunks.flat().map(({ value }) => Number(value))).size).toBe(1_000);
    });
    await consumer.stop();
    expect(Math.max(...chunks.map((chunk) => chunk.length))).toBeLessThanOrEqual(100);
    for (const partition of [0, 1, 2]) {
      const own = chunks.flat().filter((record) => record.partition === partition);
      const places = [...new Set(own.map(({ value }) => Number(value)))];
      expect(places).toEqual([...places].sort((a, b) => a - b));
    }
    expect(chunks.flat()[0]).toMatchObject({ key: undefined, offset: '0' });
  });
});
