import { newId } from '@customer-platform/database';
import { RecordConsumers, RecordProducer } from '@customer-platform/event-bus';
import {
  type Caller,
  TcpLink,
  eventually,
  startTestApp,
  type TestApp,
  testDatabase,
  type TestDatabase,
} from '@customer-platform/testing';
import { coreApp } from '../src/core.app.js';
import { aTrack, START_MS } from '../src/core.fixture.js';
import { CORE_MIGRATIONS } from '../src/migrations/core.migrations.js';
import { ownBroker, type OwnBroker } from '../src/own-broker.fixture.js';

const STUCK_TOPIC = 'spec.stuck';

describe('who still answers', () => {
  const wire = new TcpLink();
  let broker: OwnBroker;
  let database: TestDatabase;
  let app: TestApp;
  let caller: Caller;
  beforeAll(async () => {
    broker = await ownBroker();
    await Promise.all([broker.start(), wire.open()]);
    database = await testDatabase('core', CORE_MIGRATIONS);
    const env = { DATABASE_URL: wire.through(database.url), KAFKA_BROKERS: broker.address };
    app = await startTestApp({ ...coreApp(), database, env });
    caller = app.as(newId(), ['core.events.write', 'core.contacts.read', 'core.usage.read']);
    await eventually(async () => expect(await ready()).toBe(200));
    // Under one key: what was answered 503 because its acknowledgement came late is stored, and a repeat is none.
    const first = aTrack();
    await eventually(async () => expect(await track(first)).toBe(202), { within: 60_000 });
    expect(await read()).toBe(200);
  }, START_MS);
  afterAll(async () => {
    await app.close();
    await database.drop();
    await wire.cut();
    await broker.remove();
  }, 60_000);

  const ready = async (): Promise<number> => (await fetch(`${app.url}/health/ready`)).status;
  const track = async (body = aTrack()): Promise<number> =>
    (await caller.post('/v1/core/track', body)).status;
  const read = async (): Promise<number> => (await caller.get('/v1/core/contacts')).status;
  /** The value of one line of `/metrics`; undefined where there is none. */
  async function metric(name: string, labels: Record<string, string>): Promise<number | undefined> {
    const text = await (await fetch(`${app.url}/metrics`)).text();
    const line = text
      .split('\n')
      .find(
        (each) =>
          each.startsWith(`${name}{`) &&
          Object.entries(labels).every(([label, value]) => each.includes(`${label}="${value}"`)),
      );
    return line === undefined ? undefined : Number(line.split(' ').at(-1));
  }
  const up = (dependency: string): Promise<number | undefined> => metric('dependency_up', { dependency });

  it('with the database stopped: ingestion; what reads answers 503, and all of it is ready', async () => {
    await wire.cut();
    try {
      expect([await track(), await ready(), await up('database'), await up('authorization')]).toEqual([
        202, 200, 0, 1,
      ]);
      const refused = await caller.get('/v1/core/contacts');
      expect(refused).toMatchObject({ status: 503, body: { code: 'dependency_unavailable' } });
      expect(refused.headers.get('retry-after')).toBe('1');
    } finally {
      await wire.open();
    }
    await eventually(async () => expect(await read()).toBe(200));
    await eventually(
      async () => {
        const { body } = await caller.get<{ totals: { events: Record<string, number> } }>('/v1/core/usage');
        expect(body.totals.events).toMatchObject({ stored: 2, dead_lettered: 0, pending: 0 });
      },
      { within: 60_000 },
    );
    expect(await up('database')).toBe(1);
  }, 120_000);

  it('with Kafka stopped: all that reads; ingestion answers 503, and all of it is ready', async () => {
    await broker.kill();
    try {
      const refused = await caller.post('/v1/core/track', aTrack());
      expect(refused).toMatchObject({ status: 503, body: { code: 'queue_unavailable' } });
      expect(refused.headers.get('retry-after')).toBe('1');
      expect([await read(), await ready(), await up('database')]).toEqual([200, 200, 1]);
      await eventually(async () => expect(await up('kafka')).toBe(0), { within: 60_000 });
    } finally {
      await broker.start();
    }
    await eventually(async () => expect(await track()).toBe(202), { within: 60_000 });
    await eventually(async () => expect(await up('kafka')).toBe(1), { within: 60_000 });
  }, 180_000);

  it('with one partition stuck: everybody; a metric names that partition alone', async () => {
    const held = Promise.withResolvers<void>();
    let holding = false;
    const keys = new Map<number, string>();
    const unread = new Set<string>();
    app.app.get(RecordConsumers).consume({
      topic: STUCK_TOPIC,
      group: STUCK_TOPIC,
      eachChunk: async (records) => {
        for (const { partition, key, value } of records) {
          keys.set(partition, String(key));
          unread.delete(String(value));
        }
        if (holding) await held.promise;
      },
    });
    const producer = app.app.get(RecordProducer);
    await eventually(
      async () => {
        for (let key = 0; key < 24; key += 1) {
          const value = newId();
          unread.add(value);
          await producer.send(STUCK_TOPIC, { key: String(key), value }).catch((error: unknown) => {
            unread.delete(value);
            throw error;
          });
        }
        expect([...keys.keys()].sort()).toEqual([0, 1, 2]);
      },
      { within: 60_000 },
    );
    // The lag is a sample, and may be of before the last of them; whoever is held must be the only one with work.
    await eventually(() => expect(unread.size).toBe(0), { within: 60_000 });
    const lag = (partition: number): Promise<number | undefined> =>
      metric('event_consumer_lag', { topic: STUCK_TOPIC, partition: String(partition) });
    await eventually(async () => expect([await lag(0), await lag(1), await lag(2)]).toEqual([0, 0, 0]), {
      within: 60_000,
    });
    holding = true;
    await producer.send(STUCK_TOPIC, { key: keys.get(0) ?? '', value: 'x' });
    const stuck = (partition: number): Promise<number | undefined> =>
      metric('event_consumer_stuck_seconds', { topic: STUCK_TOPIC, partition: String(partition) });
    await eventually(
      async () => {
        expect(await stuck(0)).toBeGreaterThan(0);
        expect([await stuck(1), await stuck(2)]).toEqual([0, 0]);
      },
      { within: 60_000 },
    );
    expect([await ready(), await track(), await read()]).toEqual([200, 202, 200]);
    held.resolve();
    await eventually(async () => expect(await stuck(0)).toBe(0), { within: 60_000 });
  }, 240_000);
});
