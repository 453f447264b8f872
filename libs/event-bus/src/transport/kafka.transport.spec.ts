import { randomUUID } from 'node:crypto';
import { Controller, type INestApplication } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import type { DomainEvent } from '@customer-platform/events';
import { Kafka, logLevel } from 'kafkajs';
import {
  aBus,
  aDatabase,
  anIsolatedKafka,
  consentOf,
  eventually,
  inOrganization,
  recordedOf,
} from '../../test/a-bus.js';
import { Inbox } from '../inbox/inbox.js';
import type { EventFailure } from '../delivery/event-delivery.js';
import { OnEvent } from '../on-event.decorator.js';
import { Outbox } from '../outbox/outbox.js';
import { RecordProducer } from '../producing/record.producer.js';

const organizationId = randomUUID();

interface Taken {
  key: string;
  name: string;
  run: number;
}

/** What the handlers saw, in order, and what they are told to do. */
const seen = {
  taken: [] as Taken[],
  failed: [] as { name: string; failure: EventFailure }[],
  runs: 0,
  poison: new Set<string>(),
  away: 0,
};

function nameOf(event: DomainEvent<'core.event.recorded.v1' | 'core.consent.recorded.v1'>): string {
  return event.type === 'core.event.recorded.v1' ? event.data.event : event.data.purpose;
}

@Controller()
class Follower {
  constructor(private readonly database: Database) {}

  @OnEvent('core.event.recorded.v1', { failed: 'onFailed' })
  async onRecorded(events: DomainEvent<'core.event.recorded.v1'>[]): Promise<void> {
    await this.take(events);
  }

  @OnEvent(['core.consent.recorded.v1', 'core.consent.expired.v1'])
  async onConsent(
    events: DomainEvent<'core.consent.recorded.v1' | 'core.consent.expired.v1'>[],
  ): Promise<void> {
    await this.take(events as DomainEvent<'core.consent.recorded.v1'>[]);
  }

  onFailed(event: DomainEvent<'core.event.recorded.v1'>, failure: EventFailure): Promise<void> {
    seen.failed.push({ name: event.data.event, failure });
    return Promise.resolve();
  }

  private async take(
    events: DomainEvent<'core.event.recorded.v1' | 'core.consent.recorded.v1'>[],
  ): Promise<void> {
    if (seen.away > 0) {
      seen.away -= 1;
      throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    }
    if (events.some((event) => seen.poison.has(nameOf(event)))) throw new Error('this event is at fault');
    await this.database.ping();
    seen.runs += 1;
    seen.taken.push(
      ...events.map((event) => ({ key: event.data.contact_id, name: nameOf(event), run: seen.runs })),
    );
  }
}

/** A second subscriber of the same module: its failures are its own. */
const counted = { ids: new Map<string, number>(), effects: 0, crashes: 0 };

@Controller()
class Counter {
  constructor(
    private readonly database: Database,
    private readonly inbox: Inbox,
  ) {}

  @OnEvent('core.event.recorded.v1')
  async count(events: DomainEvent<'core.event.recorded.v1'>[]): Promise<void> {
    const mine = events.filter((event) => event.organizationid === organizationId);
    await this.database.inOrganization({ organizationId }, async (tx) => {
      const fresh = await this.inbox.claim(
        tx,
        'counter',
        mine.map((event) => event.id),
      );
      for (const event of mine) counted.ids.set(event.id, (counted.ids.get(event.id) ?? 0) + 1);
      if (counted.crashes > 0) {
        counted.crashes -= 1;
        throw Object.assign(new Error('Connection terminated unexpectedly'));
      }
      await tx.query(
        `INSERT INTO counters VALUES ($1, 'counted', $2)
         ON CONFLICT (organization_id, key) DO UPDATE SET value = counters.value + EXCLUDED.value`,
        [organizationId, fresh.size],
      );
    });
  }
}

let database: Awaited<ReturnType<typeof aDatabase>>;
let app: INestApplication;

beforeAll(async () => {
  database = await aDatabase();
  anIsolatedKafka();
  app = await aBus([Follower, Counter]);
});
afterAll(async () => {
  await app.close();
  await database.drop();
});
beforeEach(() => {
  seen.taken.length = 0;
  seen.failed.length = 0;
  seen.poison.clear();
});

/** Publishes events in one transaction. */
function publish(events: Parameters<Outbox['append']>[1]): Promise<void> {
  return inOrganization(app, organizationId, (tx) => app.get(Outbox).append(tx, events));
}

describe('handlers under @OnEvent', () => {
  it('see every event once, each key in its order across types, in runs', async () => {
    const keys = Array.from({ length: 20 }, () => randomUUID());
    const events = Array.from({ length: 600 }, (_, place) => {
      const key = keys[(place * 7) % keys.length] ?? '';
      const make = place % 5 === 0 ? consentOf : recordedOf;
      return make(organizationId, key, String(place));
    });
    await publish(events);
    await eventually(() => {
      expect(seen.taken).toHaveLength(600);
    });
    for (const key of keys) {
      const places = seen.taken.filter((each) => each.key === key).map(({ name }) => Number(name));
      expect(places).toEqual([...places].sort((a, b) => a - b));
    }
    expect(new Set(seen.taken.map(({ run }) => run)).size).toBeLessThan(300);
  });

  it('an event at fault goes to the failed method after three tries; all others have their effect', async () => {
    const keys = Array.from({ length: 50 }, () => randomUUID());
    seen.poison.add('poison');
    const events = keys.flatMap((key, at) => [
      recordedOf(organizationId, key, at === 25 ? 'poison' : 'good'),
      recordedOf(organizationId, key, 'later'),
    ]);
    await publish(events);
    await eventually(() => {
      expect(seen.taken).toHaveLength(99);
      expect(seen.failed).toHaveLength(1);
    });
    const [failed] = seen.failed;
    expect(failed).toMatchObject({
      name: 'poison',
      failure: { attempts: 3, error: new Error('this event is at fault') },
    });
    expect(seen.taken.filter((each) => each.key === keys[25]).map(({ name }) => name)).toEqual(['later']);
  });

  it('without a failed method the event is parked, whole, and what comes later goes on', async () => {
    const key = randomUUID();
    seen.poison.add('broken');
    const event = { ...consentOf(organizationId, key, 'broken'), id: randomUUID() };
    await publish([event, consentOf(organizationId, key, 'after')]);
    await eventually(async () => {
      expect(seen.taken.map(({ name }) => name)).toEqual(['after']);
      const [parked] = await inOrganization(app, organizationId, (tx) =>
        tx.query('SELECT * FROM parked_events WHERE event_id = $1', [event.id]),
      );
      expect(parked).toMatchObject({
        consumer: 'core.domain-events/Follower',
        topic: 'core.domain-events',
        key,
        event_type: 'core.consent.recorded.v1',
        correlation_id: event.correlationId,
        attempts: 3,
        error: 'Error: this event is at fault',
      });
      expect(JSON.parse(String(parked?.['payload']))).toMatchObject({ id: event.id, data: event.data });
    });
  });

  it('an infrastructure error blames no event: it is tried until it passes', async () => {
    seen.away = 6;
    const key = randomUUID();
    await publish([recordedOf(organizationId, key, 'patient'), consentOf(organizationId, key, 'too')]);
    await eventually(() => {
      expect(seen.taken.map(({ name }) => name)).toEqual(['patient', 'too']);
    });
    expect(seen.failed).toHaveLength(0);
    expect(seen.away).toBe(0);
  });

  it('a message that is no domain event is parked, one of an unknown type passed over, and neither stops the topic', async () => {
    const producer = app.get(RecordProducer);
    const partition = producer.partitionOf('core.domain-events', 'k');
    const unknown = { ...JSON.parse(envelopeOf('core.event.recorded.v7')), data: {} } as object;
    await producer.sendToPartition('core.domain-events', partition, 'no json \u0000', { key: 'k' });
    await producer.sendToPartition('core.domain-events', partition, JSON.stringify(unknown), { key: 'k' });
    await producer.sendToPartition('core.domain-events', partition, '', { key: 'k' });
    const nul = JSON.stringify({ type: 'core.event.recorded\u0000.v1' });
    await producer.sendToPartition('core.domain-events', partition, nul, { key: 'k' });
    await producer.sendToPartition('core.domain-events', partition, 'no json', { key: 'k\u0000' });
    await publish(recordedOf(organizationId, randomUUID(), 'after the noise'));
    await eventually(async () => {
      expect(seen.taken.map(({ name }) => name)).toEqual(['after the noise']);
      const admin = await database.admin();
      const { rows } = await admin.query<{ event_type: string; key: string; error: string }>(
        `SELECT event_type, key, error FROM parked_events
          WHERE event_type IN ('', 'core.event.recorded\uFFFD.v1') ORDER BY id`,
      );
      await admin.end();
      const notJson = { event_type: '', key: 'k', error: 'InvalidDomainEvent: not JSON' };
      expect(rows).toEqual([
        notJson,
        notJson,
        expect.objectContaining({ event_type: 'core.event.recorded\uFFFD.v1', key: 'k' }),
        { ...notJson, key: 'k\uFFFD' },
      ]);
    });
  });
});

describe('the header with the type', () => {
  it('lets what nobody takes be passed over unread; without it the value is read', async () => {
    const producer = app.get(RecordProducer);
    const key = randomUUID();
    const send = (value: string, type?: string): Promise<void> =>
      producer.send('core.domain-events', { key, value, ...(type && { headers: { ce_type: type } }) });
    const event = (name: string): string =>
      envelopeOf('core.event.recorded.v1', recordedOf(organizationId, key, name));
    await send('not even json', 'core.segment.entered.v1');
    await send('not even json', 'core.something.newer.v1');
    await send(event('of an older publisher'));
    await send(event('with its type'), 'core.event.recorded.v1');
    await send(`unreadable ${key}`, 'core.event.recorded.v1');
    await publish(recordedOf(organizationId, key, 'from the outbox'));
    await eventually(async () => {
      const names = seen.taken.filter((each) => each.key === key).map(({ name }) => name);
      expect(names).toEqual(['of an older publisher', 'with its type', 'from the outbox']);
      const admin = await database.admin();
      const { rows } = await admin.query('SELECT payload FROM parked_events WHERE key = $1', [key]);
      await admin.end();
      expect(rows).toEqual([{ payload: `unreadable ${key}` }]);
    });
  });
});

describe('Inbox.claim', () => {
  it('lets an effect happen once, though every event is delivered twice and runs fail in between', async () => {
    await eventually(async () => {
      expect(await countedEffects()).toBe(counted.ids.size);
    });
    const events = Array.from({ length: 200 }, (_, place) =>
      recordedOf(organizationId, randomUUID(), String(place)),
    );
    counted.crashes = 3;
    await publish(events);
    await eventually(() => {
      expect(seen.taken).toHaveLength(200);
    });
    await rewind();
    await eventually(async () => {
      expect([...counted.ids.values()].filter((times) => times > 1).length).toBeGreaterThanOrEqual(200);
      expect(await countedEffects()).toBe(counted.ids.size);
    });
  });

  it('lets an effect that a restore of the database undid happen again, and no other', async () => {
    const publishSome = (): Promise<void> =>
      publish(
        Array.from({ length: 100 }, (_, place) => recordedOf(organizationId, randomUUID(), String(place))),
      );
    const allCounted = (): Promise<void> =>
      eventually(async () => {
        expect(await countedEffects()).toBe(counted.ids.size);
      });
    const events = counted.ids.size;
    await publishSome();
    const tables = ['inbox', 'counters', 'consumer_positions'];
    const admin = await database.admin();
    const copies = tables.map((table) => `CREATE TABLE backup.${table} AS TABLE ${table}`);
    await admin.query('CREATE SCHEMA backup');
    await admin.query(`BEGIN ISOLATION LEVEL REPEATABLE READ; ${copies.join('; ')}; COMMIT`);
    await publishSome();
    await eventually(() => {
      expect(counted.ids.size).toBe(events + 200);
    });
    await allCounted();
    await app.close();
    const restores = tables.map((table) => `TRUNCATE ${table}; INSERT INTO ${table} TABLE backup.${table}`);
    await admin.query(`BEGIN; ${restores.join('; ')}; COMMIT`);
    const { rows } = await admin.query<{ value: number }>(`SELECT value FROM counters WHERE key = 'counted'`);
    await admin.end();
    expect(rows[0]?.value).toBeLessThan(events + 200);
    app = await aBus([Follower, Counter]);
    await allCounted();
  });
});

async function countedEffects(): Promise<number> {
  const [row] = await inOrganization(app, organizationId, (tx) =>
    tx.query<{ value: number }>(`SELECT value FROM counters WHERE key = 'counted'`),
  );
  return row?.value ?? 0;
}

/** Sets the group and its positions back to the beginning of the topic and starts the app anew: everything is delivered again. */
async function rewind(): Promise<void> {
  await app.close();
  const client = await database.admin();
  await client.query('DELETE FROM consumer_positions');
  await client.end();
  const brokers = String(process.env['KAFKA_BROKERS']).split(',');
  const prefix = String(process.env['KAFKA_TOPIC_PREFIX']);
  const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  await admin.resetOffsets({
    groupId: `${prefix}core.domain-events`,
    topic: `${prefix}core.domain-events`,
    earliest: true,
  });
  await admin.disconnect();
  app = await aBus([Follower, Counter]);
}

function envelopeOf(type: string, { data }: { data?: unknown } = {}): string {
  return JSON.stringify({
    data,
    specversion: '1.0',
    id: randomUUID(),
    type,
    source: 'urn:customer-platform:core',
    subject: 'x',
    time: new Date().toISOString(),
    datacontenttype: 'application/json',
    organizationid: organizationId,
    correlationid: randomUUID(),
  });
}
