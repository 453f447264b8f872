import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import { Controller, type INestApplication } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import type { DomainEvent } from '@customer-platform/events';
import type { KafkaMessage } from 'kafkajs';
import { aBus, aDatabase, anIsolatedKafka, consentOf, given, recordedOf } from '../../test/a-bus.js';
import { Consumers } from '../consuming/consumers.js';
import type { Chunk, Consumption, SupervisedConsumer } from '../consuming/supervised.consumer.js';
import { STALLS } from '../delivery/stalls.js';
import { ConsumptionEnded, LeftForLater } from '../errors.js';
import { OnEvent } from '../on-event.decorator.js';
import { KafkaTransport } from './kafka.transport.js';

const organizationId = randomUUID();
const runs: string[][] = [];
let failing = new Set<string>();
let slow = new Set<string>();

async function run(database: Database, names: string[]): Promise<void> {
  if (names.some((name) => failing.has(name))) throw new Error('this event is at fault');
  if (names.some((name) => slow.has(name)))
    await database.inOrganization({ organizationId }, async (tx) => {
      await tx.query('SET LOCAL statement_timeout = 20');
      await tx.query('SELECT pg_sleep(60)');
    });
  runs.push(names);
}

@Controller()
class Runs {
  constructor(private readonly database: Database) {}

  @OnEvent('core.event.recorded.v1')
  take(events: DomainEvent<'core.event.recorded.v1'>[]): Promise<void> {
    const names = events.map(({ data }) => data.event);
    return run(this.database, names);
  }
}

@Controller()
class Consents {
  constructor(private readonly database: Database) {}

  @OnEvent('core.consent.recorded.v1')
  take(events: DomainEvent<'core.consent.recorded.v1'>[]): Promise<void> {
    const names = events.map(({ data }) => data.purpose);
    return run(this.database, names);
  }
}

let database: Awaited<ReturnType<typeof aDatabase>>;
let app: INestApplication;
let consumption: Consumption;

beforeAll(async () => {
  database = await aDatabase();
  anIsolatedKafka();
  // Handed over as they are, these carry no proof.
  process.env['EVENTS_REQUIRE_PROOF'] = 'false';
  // What is consumed is handed over here, partition by partition.
  app = await aBus([Runs, Consents], { role: 'api' });
  const started = jest.spyOn(app.get(Consumers), 'start').mockReturnValue({
    stop: () => Promise.resolve(),
  } as unknown as SupervisedConsumer);
  app.connectMicroservice({ strategy: app.get(KafkaTransport) });
  await app.startAllMicroservices();
  consumption = given(started.mock.calls[0], 'a consumption')[2];
});
afterAll(async () => {
  await app.close();
  await database.drop();
});
beforeEach(() => {
  runs.length = 0;
  failing = new Set();
  slow = new Set();
});

/** What a partition brings: events of one key by these names, which say of which of the two types they are. */
function aChunk(partition: number, names: readonly string[], over = false): Chunk {
  const key = randomUUID();
  const messages = names.map((name, offset) => {
    const ofName = name.startsWith('consent') ? consentOf : recordedOf;
    const { type, subject, data, correlationId } = ofName(organizationId, key, name);
    const value = {
      specversion: '1.0',
      id: randomUUID(),
      type,
      source: 'urn:customer-platform:core',
      subject,
      time: new Date().toISOString(),
      datacontenttype: 'application/json',
      organizationid: organizationId,
      correlationid: correlationId,
      data,
    };
    return { offset: String(offset), key: Buffer.from(key), value: Buffer.from(JSON.stringify(value)) };
  });
  return {
    topic: 'core.domain-events',
    partition,
    messages: messages as KafkaMessage[],
    heartbeat: () => Promise.resolve(),
    pause: () => (over ? Promise.reject(new ConsumptionEnded()) : Promise.resolve()),
  };
}

describe('what several partitions bring at a time', () => {
  it('is one run of the handler, in which each partition keeps its order', async () => {
    await Promise.all([
      consumption.process(aChunk(0, ['a1', 'a2'])),
      consumption.process(aChunk(1, ['b1'])),
      consumption.process(aChunk(2, ['c1', 'c2'])),
    ]);
    expect(runs).toEqual([['a1', 'a2', 'b1', 'c1', 'c2']]);
  });

  it('has its effect though an event of one of them is at fault', async () => {
    failing.add('a1');
    await Promise.all([consumption.process(aChunk(0, ['a1', 'a2'])), consumption.process(aChunk(1, ['b1']))]);
    expect(runs.flat().sort()).toEqual(['a2', 'b1']);
  });

  it('goes on though one of them is lost meanwhile, and ends when all are', async () => {
    failing.add('a1');
    await Promise.all([consumption.process(aChunk(0, ['a1'], true)), consumption.process(aChunk(1, ['b1']))]);
    expect(runs).toEqual([['b1']]);
    const lost = [consumption.process(aChunk(0, ['a1'], true)), consumption.process(aChunk(1, ['b2'], true))];
    const ends = await Promise.allSettled(lost);
    expect(ends).toMatchObject([{ reason: new ConsumptionEnded() }, { reason: new ConsumptionEnded() }]);
  });

  it('has its effect though a statement of one event always runs into its time limit', async () => {
    slow.add('a2');
    const [stuck, others] = [aChunk(0, ['a1', 'a2', 'a3']), [aChunk(1, ['b1']), aChunk(2, ['c1', 'c2'])]];
    const all = await Promise.allSettled([stuck, ...others].map((chunk) => consumption.process(chunk)));
    expect(runs.flat().sort()).toEqual(['a1', 'b1', 'c1', 'c2']);
    expect(all).toMatchObject([
      { reason: expect.any(LeftForLater) as unknown },
      { status: 'fulfilled' },
      { status: 'fulfilled' },
    ]);
    // It is read again, with what else has come, until it has been proved that the fault is its own.
    for (let read = 1; ; read += 1) {
      const again = consumption.process(stuck).then(
        () => true,
        (error: unknown) => (expect(error).toBeInstanceOf(LeftForLater), false),
      );
      await consumption.process(aChunk(1, [`d${String(read)}`]));
      if (await again) break;
    }
    expect(runs.flat()).toContain('a3');
    const admin = await database.admin();
    const { rows } = await admin.query(
      `SELECT attempts FROM parked_events WHERE payload::json -> 'data' ->> 'event' = 'a2'`,
    );
    await admin.end();
    expect(rows).toHaveLength(1);
  });

  it('is no proof against an event of one subscriber where it comes again for the sake of another', async () => {
    slow = new Set(['consent', 'slow']);
    const [ofBoth, ofOne] = [aChunk(0, ['had', 'consent']), aChunk(1, ['slow'])];
    const left = (chunk: Chunk): Promise<void> =>
      expect(consumption.process(chunk)).rejects.toBeInstanceOf(LeftForLater);
    await left(ofBoth);
    for (let read = 0; read < 2 * STALLS; read += 1) {
      await left(ofOne);
      await left(ofBoth);
    }
    await consumption.process(aChunk(2, ['new']));
    await consumption.process(ofOne);
  });

  it('is asked for of all partitions at once: none waits for the others to be batched', () => {
    expect(consumption.concurrency).toBe(3);
  });
});
