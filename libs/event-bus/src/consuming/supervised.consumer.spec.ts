import type { INestApplication } from '@nestjs/common';
import { metrics } from '@customer-platform/http';
import kafkajs, { type Consumer, type ConsumerRunConfig } from 'kafkajs';
import { aBus, aDatabase, anIsolatedKafka, eventually } from '../../test/a-bus.js';
import { sendCompressed } from '../../test/compressed-batch.js';
import { KafkaClient } from '../kafka/kafka.client.js';
import { Topics } from '../kafka/topics.js';
import { RecordProducer } from '../producing/record.producer.js';
import { SupervisedConsumer } from './supervised.consumer.js';

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

/** A client whose consumers run as they do, save that a batch first ends as `sabotage` says. */
function sabotaged(sabotage: (of: number) => Promise<void>): { client: KafkaClient; made: () => number } {
  const client = app.get(KafkaClient);
  let made = 0;
  const consumer = (group: string): Consumer => {
    made += 1;
    const number = made;
    const real = client.consumer(group);
    const run = real.run.bind(real);
    real.run = (config?: ConsumerRunConfig): Promise<void> =>
      run({
        ...config,
        eachBatch: async (payload) => {
          await sabotage(number);
          await config?.eachBatch?.(payload);
        },
      });
    return real;
  };
  const wrapped = Object.assign(Object.create(client) as KafkaClient, { consumer });
  return { client: wrapped, made: () => made };
}

/** How many members the broker counts in a group. */
async function membersOf(group: string): Promise<number> {
  const client = app.get(KafkaClient);
  const admin = client.admin();
  await admin.connect();
  try {
    const { groups } = await admin.describeGroups([client.named(group)]);
    return groups.reduce((sum, { members }) => sum + members.length, 0);
  } finally {
    await admin.disconnect();
  }
}

async function consuming(
  topic: string,
  client: KafkaClient,
  count = 50,
): Promise<{ consumer: SupervisedConsumer; values: Set<string> }> {
  const values = new Set<string>();
  const consumer = new SupervisedConsumer(client, app.get(Topics), {
    group: topic,
    topics: [topic],
    concurrency: 1,
    chunkSize: 10,
    process: ({ messages }) => {
      for (const { value } of messages) values.add(String(value));
      return Promise.resolve();
    },
  });
  const producer = app.get(RecordProducer);
  await producer.prepare([topic]);
  await Promise.all(
    Array.from({ length: count }, (_, at) => producer.send(topic, { key: String(at), value: String(at) })),
  );
  consumer.start();
  return { consumer, values };
}

describe('SupervisedConsumer', () => {
  it('replaces a consumer that kafkajs ended for good', async () => {
    const { client, made } = sabotaged((of) =>
      of <= 2 ? Promise.reject(new kafkajs.KafkaJSNonRetriableError('the end')) : Promise.resolve(),
    );
    const { consumer, values } = await consuming('spec.crashing', client);
    await eventually(() => {
      expect(values.size).toBe(50);
    });
    expect(made()).toBe(3);
    expect(consumer.awaySince).toBeUndefined();
    await consumer.stop();
  });

  it('takes silence for death and replaces the consumer', async () => {
    let silent = true;
    const hanging = Promise.withResolvers<void>();
    const { client, made } = sabotaged(() => (silent ? hanging.promise : Promise.resolve()));
    const { consumer, values } = await consuming('spec.silent', client);
    await eventually(() => {
      expect(consumer.awaySince).toBeUndefined();
    });
    silent = false;
    consumer.watch(Date.now() + 60_000);
    await eventually(() => {
      expect(values.size).toBe(50);
    }, 40_000);
    expect(made()).toBe(2);
    // The dead one ends with its batch: until then it keeps its connections, and this process.
    hanging.resolve();
    await consumer.stop();
  }, 60_000);

  it('hands the partitions to another member when it stops, and loses nothing', async () => {
    const client = app.get(KafkaClient);
    const { consumer, values } = await consuming('spec.handover', client);
    await eventually(() => {
      expect(values.size).toBe(50);
    });
    await consumer.stop();
    const producer = app.get(RecordProducer);
    await producer.send('spec.handover', { key: 'x', value: 'after the stop' });
    const second = await consuming('spec.handover', client);
    await eventually(() => {
      expect(second.values.has('after the stop')).toBe(true);
    });
    // What the first had committed is not delivered again: only the later records are.
    expect(values.size).toBe(50);
    await second.consumer.stop();
  });

  it('has left its group once it is stopped, with the chunk in hand done and no other begun', async () => {
    const client = app.get(KafkaClient);
    const topic = 'spec.leaving';
    const chunks: string[][] = [];
    const begun = Promise.withResolvers<void>();
    const done = Promise.withResolvers<void>();
    const consumer = new SupervisedConsumer(client, app.get(Topics), {
      group: topic,
      topics: [topic],
      concurrency: 3,
      chunkSize: 10,
      process: async ({ messages }) => {
        begun.resolve();
        await done.promise;
        chunks.push(messages.map(({ value }) => String(value)));
      },
    });
    const producer = app.get(RecordProducer);
    await producer.prepare([topic]);
    for (let at = 0; at < 40; at += 1) {
      await eventually(() => producer.sendToPartition(topic, 0, String(at)));
    }
    consumer.start();
    await begun.promise;
    const stopped = consumer.stop();
    expect(await membersOf(topic)).toBe(1);
    done.resolve();
    await stopped;
    // Asked once: who only stops saying that it lives is a member until its session ends.
    expect(await membersOf(topic)).toBe(0);
    expect(chunks.length).toBe(1);
    const { consumer: next, values } = await consuming(topic, client, 0);
    await eventually(() => expect(values.size).toBeGreaterThan(0));
    await next.stop();
    expect(chunks.flat().filter((value) => values.has(value))).toEqual([]);
  });

  it('leaves no member behind when it is stopped while it joins', async () => {
    const client = app.get(KafkaClient);
    const joining = Promise.withResolvers<{ over: Promise<unknown> }>();
    const consumer = (group: string): Consumer => {
      const real = client.consumer(group);
      const run = real.run.bind(real);
      real.run = (config?: ConsumerRunConfig): Promise<void> => {
        const joined = run(config);
        joining.resolve({ over: Promise.allSettled([joined]) });
        return joined;
      };
      return real;
    };
    const wrapped = Object.assign(Object.create(client) as KafkaClient, { consumer });
    const { consumer: stopped } = await consuming('spec.hasty', wrapped);
    const joined = await joining.promise;
    await stopped.stop();
    await joined.over;
    await eventually(async () => expect(await membersOf('spec.hasty')).toBe(0));
  });

  it('goes no further when it is stopped while it connects, and disconnects what it has connected', async () => {
    const client = app.get(KafkaClient);
    const connecting = Promise.withResolvers<{ over: Promise<unknown> }>();
    const steps: string[] = [];
    const consumer = (group: string): Consumer => {
      const real = client.consumer(group);
      const connect = real.connect.bind(real);
      real.connect = (): Promise<void> => {
        const connected = connect().then(() => void steps.push('connected'));
        connecting.resolve({ over: Promise.allSettled([connected]) });
        return connected;
      };
      const disconnect = real.disconnect.bind(real);
      real.disconnect = (): Promise<void> => {
        steps.push('disconnect');
        return disconnect();
      };
      real.subscribe = () => Promise.resolve(void steps.push('subscribe'));
      real.run = () => Promise.resolve(void steps.push('run'));
      return real;
    };
    const wrapped = Object.assign(Object.create(client) as KafkaClient, { consumer });
    const { consumer: stopped } = await consuming('spec.halted', wrapped);
    const connected = await connecting.promise;
    await Promise.all([stopped.stop(), connected.over]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(steps).toEqual(['connected', 'disconnect']);
  });

  it('begins nothing when it is stopped before its topic is there', async () => {
    const { client, made } = sabotaged(() => Promise.resolve());
    const ensured = Promise.withResolvers<void>();
    const topics = Object.assign(Object.create(app.get(Topics)) as Topics, { ensure: () => ensured.promise });
    const consumer = new SupervisedConsumer(client, topics, {
      group: 'spec.early',
      topics: ['spec.early'],
      concurrency: 1,
      chunkSize: 10,
      process: () => Promise.resolve(),
    });
    consumer.start();
    const stopped = consumer.stop();
    ensured.resolve();
    await stopped;
    expect(made()).toBe(0);
  });
});

describe('a topic of another module', () => {
  it('is waited for until it is there, and holds up no other', async () => {
    const [ours, theirs] = ['spec.there', 'loyalty.domain-events'];
    const client = app.get(KafkaClient);
    const values: string[] = [];
    const consumer = new SupervisedConsumer(client, app.get(Topics), {
      group: 'spec.waiting',
      topics: [theirs, ours],
      concurrency: 2,
      chunkSize: 10,
      process: ({ messages }) => {
        values.push(...messages.map(({ value }) => String(value)));
        return Promise.resolve();
      },
    });
    consumer.start();
    try {
      const producer = app.get(RecordProducer);
      await eventually(() => producer.send(ours, { key: 'k', value: 'ours' }));
      await eventually(() => expect(values).toContain('ours'));
      const name = client.named(theirs);
      await app.get(Topics).withAdmin(async (admin) => {
        expect(await admin.listTopics()).not.toContain(name);
        await admin.createTopics({ waitForLeaders: true, topics: [{ topic: name, numPartitions: 2 }] });
      });
      await eventually(() => producer.send(theirs, { key: 'k', value: 'theirs' }));
      await eventually(() => expect(values).toContain('theirs'));
    } finally {
      await consumer.stop();
    }
  });
});

describe('a batch in a compression that nobody here knows', () => {
  it('is written by the broker as it can be read', async () => {
    const topic = 'spec.recompressed';
    await app.get(Topics).ensure([topic]);
    await sendCompressed(app.get(KafkaClient), topic);
    const { consumer, values } = await consuming(topic, app.get(KafkaClient), 1);
    await eventually(() => {
      expect([...values].sort()).toEqual(['0', 'compressed']);
    });
    await consumer.stop();
  });

  it('is counted where a topic was set otherwise, and nothing is passed over', async () => {
    const topic = 'loyalty.domain-events';
    const client = app.get(KafkaClient);
    const configEntries = [{ name: 'compression.type', value: 'producer' }];
    const name = client.named(topic);
    await app.get(Topics).withAdmin((admin) =>
      admin.createTopics({
        waitForLeaders: true,
        topics: [{ topic: name, numPartitions: 1, configEntries }],
      }),
    );
    await sendCompressed(app.get(KafkaClient), topic);
    const { consumer, values } = await consuming(topic, client, 1);
    try {
      await eventually(async () => {
        const counted = await metrics.getSingleMetricAsString('event_consumer_undecodable_total');
        expect(counted).toContain(`{group="${topic}"}`);
      });
      expect(values.size).toBe(0);
    } finally {
      await consumer.stop();
    }
  });
});
