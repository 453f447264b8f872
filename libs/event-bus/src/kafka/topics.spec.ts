import type { INestApplication } from '@nestjs/common';
import type { Admin, ConfigEntries } from 'kafkajs';
import { aBus, aDatabase, anIsolatedKafka, eventually } from '../../test/a-bus.js';
import { refusing } from '../../test/refusing-admin.js';
import { KafkaClient } from './kafka.client.js';
import { MarkedKafka } from './marked.kafka.js';
import { Topics } from './topics.js';

const TOPIC = 2;

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
  process.env['PLATFORM_MODE'] = 'local';
  for (const allowed of ['WEAK_REPLICATION', 'UNAUTHENTICATED'])
    Reflect.deleteProperty(process.env, `KAFKA_ALLOW_${allowed}`);
});

function withAdmin<T>(work: (admin: Admin) => Promise<T>): Promise<T> {
  return app.get(Topics).withAdmin(work);
}

async function settingsOf(topic: string): Promise<(name: string) => string | undefined> {
  const name = app.get(KafkaClient).named(topic);
  const { resources } = await withAdmin((admin) =>
    admin.describeConfigs({ includeSynonyms: false, resources: [{ type: TOPIC, name }] }),
  );
  const entries: ConfigEntries[] = resources.flatMap(({ configEntries }) => configEntries);
  return (setting) => entries.find(({ configName }) => configName === setting)?.configValue;
}

/** Resolves once a broker tells what was altered, which it does when it has applied it: that may be after the answer. */
async function settingsAltered(topic: string): ReturnType<typeof settingsOf> {
  const expected = String(7 * 24 * 3_600_000);
  await eventually(async () => expect((await settingsOf(topic))('retention.ms')).toBe(expected));
  return settingsOf(topic);
}

describe('Topics', () => {
  it('makes a topic whose times the broker stamps', async () => {
    await app.get(Topics).ensure(['spec.made', 'audit.checkpoints']);
    const made = await settingsOf('spec.made');
    expect(made('message.timestamp.type')).toBe('LogAppendTime');
    expect(made('compression.type')).toBe('uncompressed');
    expect(made('retention.ms')).toBe(String(7 * 24 * 3_600_000));
    expect((await settingsOf('audit.checkpoints'))('retention.ms')).toBe('-1');
  });

  it('puts right what an existing topic is set to, keeps what an operator added, and leaves its partitions', async () => {
    const name = app.get(KafkaClient).named('spec.old');
    await withAdmin((admin) =>
      admin.createTopics({
        topics: [
          {
            topic: name,
            numPartitions: 5,
            configEntries: [
              { name: 'retention.ms', value: '3600000' },
              { name: 'message.timestamp.type', value: 'CreateTime' },
              { name: 'cleanup.policy', value: 'compact' },
              { name: 'compression.type', value: 'zstd' },
              { name: 'segment.bytes', value: '1048576' },
            ],
          },
        ],
      }),
    );
    await app.get(Topics).ensure(['spec.old']);
    const settings = await settingsAltered('spec.old');
    expect(settings('message.timestamp.type')).toBe('LogAppendTime');
    expect(settings('cleanup.policy')).toBe('delete');
    expect(settings('compression.type')).toBe('uncompressed');
    expect(settings('segment.bytes')).toBe('1048576');
    expect(app.get(Topics).partitionsOf('spec.old')).toBe(5);
  });

  it('leaves a retention that is longer than needed', async () => {
    const name = app.get(KafkaClient).named('spec.longer');
    const configEntries = [{ name: 'retention.ms', value: '-1' }];
    await withAdmin((admin) => admin.createTopics({ topics: [{ topic: name, configEntries }] }));
    await app.get(Topics).ensure(['spec.longer']);
    expect((await settingsOf('spec.longer'))('retention.ms')).toBe('-1');
  });

  it('makes and alters no topic of another module: whoever needs it waits until it is there', async () => {
    const [theirs, ours] = ['loyalty.domain-events', 'spec.ours'];
    const topics = app.get(Topics);
    await expect(topics.ensure([theirs, ours])).rejects.toThrow(/^loyalty.domain-events: not there yet, or/);
    const name = app.get(KafkaClient).named(theirs);
    const made = await withAdmin((admin) => admin.listTopics());
    expect(made).toContain(app.get(KafkaClient).named(ours));
    expect(made).not.toContain(name);
    const configEntries = [{ name: 'retention.ms', value: '3600000' }];
    await withAdmin((admin) => admin.createTopics({ topics: [{ topic: name, configEntries }] }));
    await topics.ensure([theirs, ours]);
    expect((await settingsOf(theirs))('retention.ms')).toBe('3600000');
  });

  it('remembers how many partitions a topic has while the broker is not asked again', async () => {
    const topics = app.get(Topics);
    const name = app.get(KafkaClient).named('spec.known');
    await withAdmin((admin) => admin.createTopics({ topics: [{ topic: name, numPartitions: 7 }] }));
    await topics.ensure(['spec.known']);
    topics.forget(['spec.known']);
    expect(topics.partitionsOf('spec.known')).toBe(7);
  });
});

describe.each([
  ['POLICY_VIOLATION', 44],
  ['INVALID_CONFIG', 40],
  ['INVALID_REQUEST', 42],
])('brokers that answer %s to what their owner does not let be set', (_, code) => {
  function topicsThere(): Topics {
    const client = app.get(KafkaClient);
    const theirs = Object.create(client, {
      admin: { value: () => refusing(client.admin(), code, (said) => said.includes('compression.type')) },
    }) as KafkaClient;
    return new Topics(theirs, { module: 'core' });
  }

  it('makes topics without what is refused', async () => {
    const topic = `spec.refused-${String(code)}`;
    await topicsThere().ensure([topic]);
    const made = await settingsOf(topic);
    expect(made('message.timestamp.type')).toBe('LogAppendTime');
    expect(made('compression.type')).toBe('producer');
    expect(made('retention.ms')).toBe(String(7 * 24 * 3_600_000));
  });

  it('puts right the rest of a topic, and leaves what is refused', async () => {
    const topic = `spec.refused-old-${String(code)}`;
    const name = app.get(KafkaClient).named(topic);
    const configEntries = [{ name: 'retention.ms', value: '3600000' }];
    await withAdmin((admin) => admin.createTopics({ topics: [{ topic: name, configEntries }] }));
    await topicsThere().ensure([topic]);
    const settings = await settingsAltered(topic);
    expect(settings('compression.type')).toBe('producer');
  });

  it('goes on unmarked where no mark may be made', async () => {
    const client = app.get(KafkaClient);
    await withAdmin((admin) =>
      new MarkedKafka(
        client,
        refusing(admin, code, (said) => said.includes('installation')),
        'core',
      ).mark(`of-${String(code)}`),
    );
    expect(await withAdmin((admin) => new MarkedKafka(client, admin, 'core').marks())).toEqual([]);
  });
});

describe('production', () => {
  beforeEach(() => {
    process.env['KAFKA_ALLOW_UNAUTHENTICATED'] = 'true';
  });

  it('refuses to start where one machine may lose events, and says what to set', async () => {
    process.env['PLATFORM_MODE'] = 'production';
    await expect(aBus([], { role: 'api' })).rejects.toThrow(
      /replication.factor=1 and min.insync.replicas=1; production needs .* KAFKA_ALLOW_WEAK_REPLICATION=true/,
    );
  });

  it('refuses to start with brokers that do not ask who writes', async () => {
    process.env['PLATFORM_MODE'] = 'production';
    process.env['KAFKA_ALLOW_UNAUTHENTICATED'] = 'false';
    await expect(aBus([], { role: 'api' })).rejects.toThrow(
      /^Production needs a Kafka that knows who writes/,
    );
  });

  it('starts where that was allowed', async () => {
    process.env['PLATFORM_MODE'] = 'production';
    process.env['KAFKA_ALLOW_WEAK_REPLICATION'] = 'true';
    const allowed = await aBus([], { role: 'api' });
    await allowed.close();
  });
});
