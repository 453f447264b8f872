import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import { Client } from 'pg';
import { aBus, aDatabase, anIsolatedKafka, eventually, recordedOf } from '../../test/a-bus.js';
import { ProducerLine } from '../producing/producer.line.js';
import { Outbox, type NewDomainEvent } from './outbox.js';
import { OutboxPublishing } from './outbox.publishing.js';

const EVENTS = 240;

/** What the relay takes to publish what waits. */
interface Cost {
  readonly rows: number;
  readonly claims: number;
  readonly requests: number;
  readonly settlements: number;
}

let database: Awaited<ReturnType<typeof aDatabase>>;
let admin: Client;
let writer: INestApplication;

beforeAll(async () => {
  database = await aDatabase();
  admin = await database.admin();
  anIsolatedKafka();
  writer = await aBus([], { role: 'api' });
  await append([eventsOf(1, 1)]);
  await relayed(); // the topic is there from now on
});
afterAll(async () => {
  await writer.close();
  await admin.end();
  await database.drop();
});

/** So many events of so many organizations, each of a contact of its own. */
function eventsOf(organizations: number, count = EVENTS): NewDomainEvent[] {
  const ids = Array.from({ length: organizations }, () => randomUUID());
  return Array.from({ length: count }, (_, at) =>
    recordedOf(ids[at % organizations] ?? '', randomUUID(), 'counted'),
  );
}

/** Each list in a transaction of its own. */
async function append(lists: readonly NewDomainEvent[][]): Promise<void> {
  for (const events of lists) {
    await writer.get(Database).acrossOrganizations((tx) => writer.get(Outbox).append(tx, events));
  }
}

/** Has a relay publish all that waits; counts what it says to Postgres and to Kafka. */
async function relayed(): Promise<Cost> {
  const rows = async (): Promise<number> => {
    const { rows: found } = await admin.query<{ count: number }>('SELECT count(*)::int AS count FROM outbox');
    return found[0]?.count ?? 0;
  };
  const waiting = await rows();
  const statements = jest.spyOn(Client.prototype, 'query');
  const requests = jest.spyOn(ProducerLine.prototype, 'send');
  const relay = await aBus([], { role: 'worker' });
  await eventually(async () => {
    expect(await rows()).toBe(0);
  });
  await relay.close();
  const texts = statements.mock.calls.map(([query]) => String((query as { text?: string }).text));
  const cost = {
    rows: waiting,
    claims: texts.filter((text) => /CROSS JOIN LATERAL/.test(text)).length,
    requests: requests.mock.calls.reduce((sum, [each]) => sum + each.length, 0),
    settlements: texts.filter((text) => /(DELETE FROM|UPDATE) outbox/.test(text)).length,
  };
  statements.mockRestore();
  requests.mockRestore();
  return cost;
}

describe('what the relay costs', () => {
  it('is the same for events of many organizations as for as many of one', async () => {
    await append([eventsOf(1)]);
    const one = await relayed();
    await append([eventsOf(200)]);
    const many = await relayed();
    expect(one).toEqual({ rows: 16, claims: 1, requests: 1, settlements: 1 });
    expect(many).toEqual(one);
  });

  it('is one statement to take, one request and one statement to settle for many transactions', async () => {
    await append(Array.from({ length: 200 }, () => eventsOf(1, 1)));
    expect(await relayed()).toEqual({ rows: 200, claims: 1, requests: 1, settlements: 1 });
  });

  it.each(['EXTERNAL', 'EXTENDED'])(
    'is bounded by the bytes of a shard, however small they were packed (storage %s)',
    async (storage) => {
      const value = JSON.stringify({ text: 'x'.repeat(120 * 1024) });
      await admin.query(`ALTER TABLE outbox ALTER COLUMN messages SET STORAGE ${storage}`);
      await admin.query(
        `INSERT INTO outbox (organization_id, shard, topic, messages)
         SELECT $1, 3, 'core.domain-events', $2 FROM generate_series(1, 20)`,
        [randomUUID(), JSON.stringify([[randomUUID(), value]])],
      );
      const published = jest.spyOn(OutboxPublishing.prototype, 'publish');
      await relayed();
      const bytes = published.mock.calls.map(([rows]) => JSON.stringify(rows).length);
      published.mockRestore();
      expect(Math.max(...bytes)).toBeLessThan(256 * 1024 + 2 * value.length);
      expect(bytes.reduce((sum, each) => sum + each, 0)).toBeGreaterThanOrEqual(20 * value.length);
    },
  );
});
