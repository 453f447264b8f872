import type { INestApplication } from '@nestjs/common';
import { jest } from '@jest/globals';
import type { Admin } from 'kafkajs';
import { aBus, aDatabase, anIsolatedKafka } from '../../test/a-bus.js';
import { KafkaClient } from './kafka.client.js';
import { TopicEnds } from './topic.ends.js';
import { Topics } from './topics.js';

describe('TopicEnds', () => {
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

  const write = async (topic: string, partition: number): Promise<void> => {
    const client = app.get(KafkaClient);
    const producer = client.producer();
    await producer.connect();
    await producer.send({ topic: client.named(topic), messages: [{ partition, value: 'x' }] });
    await producer.disconnect();
  };

  it('tells by one connection where each partition ends now', async () => {
    await app.get(Topics).ensure(['spec.ends']);
    const connected = jest.spyOn(app.get(KafkaClient), 'admin');
    const ends = app.get(TopicEnds);
    const before = await ends.of('spec.ends');
    expect([...before.values()].every((end) => end === 0n)).toBe(true);
    for (let records = 1n; records <= 3n; records += 1n) {
      await write('spec.ends', 0);
      expect((await ends.of('spec.ends')).get(0)).toBe(records);
    }
    expect(connected).toHaveBeenCalledTimes(1);
    connected.mockRestore();
  });

  it('knows of a partition as soon as there is one', async () => {
    await app.get(Topics).ensure(['spec.growing']);
    const ends = app.get(TopicEnds);
    const { size } = await ends.of('spec.growing');
    const topic = app.get(KafkaClient).named('spec.growing');
    await app
      .get(Topics)
      .withAdmin((admin) => admin.createPartitions({ topicPartitions: [{ topic, count: size + 1 }] }));
    await write('spec.growing', size);
    expect((await ends.of('spec.growing')).get(size)).toBe(1n);
  });
});

describe('a question that is on its way', () => {
  /** A broker whose answers wait until they are let go, each saying one more than the last. */
  function aBroker() {
    const waiting: PromiseWithResolvers<void>[] = [];
    let asked = 0;
    let connections = 0;
    const admin = {
      connect: () => Promise.resolve(),
      disconnect: () => Promise.resolve(),
      fetchTopicMetadata: () => Promise.resolve({ topics: [{ name: 'topic', partitions: [{}] }] }),
      fetchTopicOffsets: async () => {
        asked += 1;
        const end = String(asked);
        const gate = Promise.withResolvers<void>();
        waiting.push(gate);
        await gate.promise;
        return [{ partition: 0, offset: end, high: end, low: '0' }];
      },
    } as unknown as Admin;
    const client = {
      named: (name: string) => name,
      admin: () => {
        connections += 1;
        return admin;
      },
    } as unknown as KafkaClient;
    const next = async (): Promise<PromiseWithResolvers<void>> => {
      for (;;) {
        const gate = waiting.shift();
        if (gate) return gate;
        await new Promise(setImmediate);
      }
    };
    return { ends: new TopicEnds(client), next, asked: () => asked, connections: () => connections };
  }

  it('answers nobody who came after it: they share the next', async () => {
    const { ends, next, asked } = aBroker();
    const first = ends.of('topic');
    const gate = await next();
    const later = [ends.of('topic'), ends.of('topic'), ends.of('topic')];
    gate.resolve();
    expect((await first).get(0)).toBe(1n);
    (await next()).resolve();
    expect((await Promise.all(later)).map((each) => each.get(0))).toEqual([2n, 2n, 2n]);
    expect(asked()).toBe(2);
    ends.onModuleDestroy();
  });

  it('is asked again by a connection of its own where the one that was kept is of no use', async () => {
    const { ends, next, connections } = aBroker();
    const first = ends.of('topic');
    (await next()).resolve();
    await first;
    const second = ends.of('topic');
    (await next()).reject(new Error('The connection was closed'));
    (await next()).resolve();
    expect((await second).get(0)).toBe(3n);
    expect(connections()).toBe(2);
    const third = ends.of('topic');
    (await next()).reject(new Error('The connection was closed'));
    (await next()).reject(new Error('Nobody is there'));
    await expect(third).rejects.toThrow('Nobody is there');
    ends.onModuleDestroy();
  });
});
