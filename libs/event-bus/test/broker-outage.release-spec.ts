import { randomUUID } from 'node:crypto';
import { Controller, type INestApplication } from '@nestjs/common';
import type { DomainEvent } from '@customer-platform/events';
import { aBus, aDatabase, anIsolatedKafka, eventually, inOrganization, recordedOf } from './a-bus.js';
import { OwnBroker } from './own-broker.js';
import { LagWatchdog } from '../src/consuming/lag.watchdog.js';
import { RecordConsumers } from '../src/consuming/record.consumers.js';
import { QueueUnavailable } from '../src/errors.js';
import { OnEvent } from '../src/on-event.decorator.js';
import { Outbox } from '../src/outbox/outbox.js';
import { RecordProducer } from '../src/producing/record.producer.js';

const organizationId = randomUUID();
const handled = new Map<string, string[]>();

@Controller()
class Follower {
  @OnEvent('core.event.recorded.v1')
  follow(events: DomainEvent<'core.event.recorded.v1'>[]): Promise<void> {
    for (const { data } of events) {
      const names = handled.get(data.contact_id) ?? [];
      if (!names.includes(data.event)) names.push(data.event);
      handled.set(data.contact_id, names);
    }
    return Promise.resolve();
  }
}

let database: Awaited<ReturnType<typeof aDatabase>>;
let broker: OwnBroker;
let app: INestApplication;
let producer: RecordProducer;
const consumed = new Set<string>();

beforeAll(async () => {
  database = await aDatabase();
  broker = await OwnBroker.prepare();
  anIsolatedKafka(broker.address);
  app = await aBus([Follower]);
  producer = app.get(RecordProducer);
  app.get(RecordConsumers).consume({
    topic: 'spec.records',
    group: 'spec.records',
    eachChunk: (records) => {
      for (const { value } of records) consumed.add(value.toString());
      return Promise.resolve();
    },
  });
}, 60_000);
afterAll(async () => {
  await app.close();
  await broker.remove();
  await database.drop();
}, 30_000);

/** Sends until told to stop; returns what was acknowledged, and how many were refused. */
function sender(prefix: string): { stop: () => Promise<{ acknowledged: string[]; refused: number }> } {
  let going = true;
  const acknowledged: string[] = [];
  let refused = 0;
  const sending = (async () => {
    for (let number = 0; going; number += 1) {
      const value = `${prefix}-${String(number)}`;
      producer.send('spec.records', { key: value, value }).then(
        () => acknowledged.push(value),
        (error: unknown) => {
          if (!(error instanceof QueueUnavailable)) throw error;
          refused += 1;
        },
      );
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
  })();
  return {
    stop: async () => {
      going = false;
      await sending;
      await eventually(() => {
        expect(producer.waiting).toBe(0);
      });
      return { acknowledged, refused };
    },
  };
}

/** Appends numbered events for some keys through the outbox, all the time, until told to stop. */
function writer(keys: readonly string[]): { stop: () => Promise<number> } {
  let going = true;
  let number = 0;
  const writing = (async () => {
    for (; going; number += 1) {
      await inOrganization(app, organizationId, (tx) =>
        app.get(Outbox).append(
          tx,
          keys.map((key) => recordedOf(organizationId, key, String(number))),
        ),
      );
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  })();
  return {
    stop: async () => {
      going = false;
      await writing;
      return number;
    },
  };
}

async function expectAllHandled(keys: readonly string[], count: number): Promise<void> {
  const expected = Array.from({ length: count }, (_, number) => String(number));
  await eventually(() => {
    for (const key of keys) expect(handled.get(key)).toEqual(expected);
  }, 60_000);
}

describe('a broker that is away', () => {
  it('at the start: records are refused as queue_unavailable, what is in the outbox waits, and its consumers are away', async () => {
    await expect(producer.send('spec.records', { key: 'a', value: 'early' })).rejects.toMatchObject({
      code: 'queue_unavailable',
      status: 503,
      headers: { 'Retry-After': '1' },
    });
    const key = randomUUID();
    await inOrganization(app, organizationId, (tx) =>
      app.get(Outbox).append(tx, recordedOf(organizationId, key, 'waiting')),
    );
    const away = (): number[] =>
      app
        .get(LagWatchdog)
        .away(Date.now() + 20_000)
        .map(([, seconds]) => seconds);
    expect(Math.min(...away())).toBeGreaterThan(15);

    await broker.start();

    await eventually(() => {
      expect(handled.get(key)).toEqual(['waiting']);
    }, 60_000);
    await eventually(() => producer.send('spec.records', { key: 'a', value: 'late' }));
    await eventually(() => {
      expect(consumed.has('late')).toBe(true);
      expect(new Set(away())).toEqual(new Set([0]));
    });
  }, 120_000);

  it('killed -9 in the middle, twice: nothing acknowledged is lost, the order of every key holds', async () => {
    const keys = Array.from({ length: 10 }, () => randomUUID());
    const records = sender('killed');
    const events = writer(keys);
    let refusedSoFar = 0;
    for (let kills = 0; kills < 2; kills += 1) {
      await eventually(() => {
        expect(consumed.size).toBeGreaterThan(100);
      });
      await broker.kill();
      await eventually(async () => {
        refusedSoFar += await producer.send('spec.records', { key: 'x', value: 'x' }).then(
          () => 0,
          () => 1,
        );
        expect(refusedSoFar).toBeGreaterThan(0);
      });
      await broker.start();
      await eventually(() => producer.send('spec.records', { key: 'x', value: 'x' }), 60_000);
      consumed.delete('x');
    }
    const written = await events.stop();
    const { acknowledged, refused } = await records.stop();
    expect(refused).toBeGreaterThan(0);
    await expectAllHandled(keys, written);
    await eventually(() => {
      expect(acknowledged.filter((value) => !consumed.has(value))).toEqual([]);
    }, 60_000);
  }, 240_000);

  it('frozen, with its sockets open: waiters are told, and it goes on when it thaws', async () => {
    const keys = [randomUUID()];
    const events = writer(keys);
    await eventually(() => producer.send('spec.records', { key: 'a', value: 'before the frost' }));
    broker.freeze();
    const results = await Promise.allSettled(
      Array.from({ length: 200 }, (_, at) =>
        producer.send('spec.records', { key: String(at), value: 'frost' }),
      ),
    );
    broker.thaw();
    for (const result of results) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'queue_unavailable' } });
    }
    await eventually(() => producer.send('spec.records', { key: 'a', value: 'after the frost' }), 60_000);
    await eventually(() => {
      expect(consumed.has('after the frost')).toBe(true);
    }, 60_000);
    await expectAllHandled(keys, await events.stop());
  }, 180_000);
});
