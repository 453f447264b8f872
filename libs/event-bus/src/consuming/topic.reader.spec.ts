import type { INestApplication } from '@nestjs/common';
import kafkajs from 'kafkajs';
import { aBus, aDatabase, anIsolatedKafka, eventually } from '../../test/a-bus.js';
import { Topics } from '../kafka/topics.js';
import { RecordProducer } from '../producing/record.producer.js';
import { TopicReader } from './topic.reader.js';

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

const send = (topic: string, key: string, value: string): Promise<void> =>
  eventually(() => app.get(RecordProducer).send(topic, { key, value }));

async function retentionOf(topic: string): Promise<string | undefined> {
  const name = `${process.env['KAFKA_TOPIC_PREFIX'] ?? ''}${topic}`;
  const { resources } = await app.get(Topics).withAdmin((admin) =>
    admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name, configNames: ['retention.ms'] }],
    }),
  );
  return resources[0]?.configEntries.find(({ configName }) => configName === 'retention.ms')?.configValue;
}

describe('TopicReader', () => {
  it('reads all there is, those of one key in their order', async () => {
    for (let at = 0; at < 50; at += 1) await send('audit.checkpoints', `key-${String(at % 7)}`, String(at));
    const values = await app.get(TopicReader).readAll('audit.checkpoints');
    expect([...new Set(values)].sort((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: 50 }, (_, at) => String(at)),
    );
    for (let key = 0; key < 7; key += 1) {
      const own = values.map(Number).filter((value) => value % 7 === key);
      expect(own).toEqual([...own].sort((a, b) => a - b));
    }
    expect(await app.get(TopicReader).readAll('audit.checkpoints')).toHaveLength(values.length);
  });

  it('reads nothing where there is nothing', async () => {
    expect(await app.get(TopicReader).readAll('spec.empty')).toEqual([]);
  });
});

describe('a topic', () => {
  it('keeps a record for 7 days, or for ever if the module says so', async () => {
    await send('audit.checkpoints', 'a', 'b');
    await send('spec.passing', 'a', 'b');
    expect(await retentionOf('audit.checkpoints')).toBe('-1');
    expect(await retentionOf('spec.passing')).toBe('604800000');
  });
});
