/**
 * `TEST_POSTGRES_URL=… TEST_KAFKA_BROKERS=… node infra/load/event-bus.bench.ts` (after `npm run build`)
 *
 * Prints what the event bus carries on this machine: the producer's and the consumers' records per second, the
 * outbox with its relay, and domain events through empty handlers. Needs a Postgres superuser and a broker.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { onConnection } from '@customer-platform/kit/databases.ts';
import { percentile } from '@customer-platform/kit/percentile.ts';
import { Controller, type INestApplication, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  consumerPositionsTable,
  Database,
  DatabaseModule,
  parkedProofs,
  platformTables,
  provisionDatabase,
} from '@customer-platform/database';
import type { DomainEvent } from '@customer-platform/events';
import {
  connectEventBus,
  EventBusModule,
  type NewDomainEvent,
  OnEvent,
  Outbox,
  RecordConsumers,
  RecordProducer,
} from '@customer-platform/event-bus';
import { serviceKeys } from '@customer-platform/testing';

const RECORDS = 100_000;
const EVENTS = 50_000;
const organizationId = randomUUID();

let handled = 0;

class EmptyHandler {
  take(events: DomainEvent<'core.event.recorded.v1'>[]): Promise<void> {
    handled += events.length;
    return Promise.resolve();
  }
}
const method = Object.getOwnPropertyDescriptor(EmptyHandler.prototype, 'take') ?? {};
OnEvent('core.event.recorded.v1')(EmptyHandler.prototype, 'take', method);
Object.defineProperty(EmptyHandler.prototype, 'take', method);
Controller()(EmptyHandler);

function environment(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

async function prepareDatabase(): Promise<() => Promise<void>> {
  const adminUrl = environment('TEST_POSTGRES_URL');
  const database = `bench_${randomBytes(6).toString('hex')}`;
  const password = 'bench';
  const { url, ownerUrl } = await provisionDatabase({
    adminUrl,
    module: 'busbench',
    database,
    ownerPassword: password,
    appPassword: password,
  });
  await onConnection(ownerUrl, async (owner) => {
    await owner.query(
      'ALTER DEFAULT PRIVILEGES GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO busbench_app',
    );
    for (const statement of [...platformTables(), ...consumerPositionsTable(), ...parkedProofs()])
      await owner.query(statement);
  });
  process.env['DATABASE_URL'] = url;
  return async () => {
    await onConnection(adminUrl, (admin) => admin.query(`DROP DATABASE ${database} WITH (FORCE)`));
  };
}

async function app(role: 'api' | 'worker'): Promise<INestApplication> {
  process.env['PROCESS_ROLE'] = role;
  class Root {}
  Module({
    imports: [
      DatabaseModule.forRoot({ module: 'core', entities: [], migrations: [] }),
      EventBusModule.forRoot({ module: 'core' }),
    ],
    controllers: [EmptyHandler],
  })(Root);
  const started = await NestFactory.create(Root, { logger: false });
  await started.init();
  await connectEventBus(started);
  return started;
}

async function until(done: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await done())) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Runs it and prints how many a second that was, and what each cost in processor time of this process. */
async function measured(what: string, count: number, run: () => Promise<void>): Promise<void> {
  const before = process.cpuUsage();
  const began = performance.now();
  await run();
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(before);
  const rate = Math.round(count / seconds).toLocaleString('en');
  console.log(
    `${what.padEnd(52)} ${rate.padStart(9)} /s   ${((user + system) / count).toFixed(1)} µs CPU each`,
  );
}

async function produce(producer: RecordProducer, topic: string): Promise<void> {
  const value = randomBytes(150).toString('hex');
  let open = 0;
  for (let at = 0; at < RECORDS; at += 1) {
    open += 1;
    void producer.send(topic, { key: `key-${at % 1_000}`, value }).finally(() => (open -= 1));
    if (open >= 4_000) await until(() => open < 2_000);
  }
  await until(() => open === 0);
}

async function oneByOne(producer: RecordProducer, topic: string): Promise<void> {
  const times: number[] = [];
  for (let at = 0; at < 300; at += 1) {
    const began = performance.now();
    await producer.send(topic, { key: 'a', value: 'b' });
    times.push(performance.now() - began);
  }
  const at = (share: number): string => percentile(times, share).toFixed(1);
  console.log(
    `${'one record after the other, acknowledged'.padEnd(52)} p50 ${at(0.5)} ms, p95 ${at(0.95)} ms`,
  );
}

function anEvent(at: number): NewDomainEvent {
  const contactId = `018f2a7e-0000-7000-8000-${String(at % 5_000).padStart(12, '0')}`;
  const now = new Date().toISOString();
  return {
    type: 'core.event.recorded.v1',
    organizationId,
    key: contactId,
    subject: `contacts/${contactId}`,
    correlationId: randomUUID(),
    data: {
      event_id: randomUUID(),
      contact_id: contactId,
      external_id: `c-${at}`,
      event: 'invoice_paid',
      occurred_at: now,
      received_at: now,
      properties: { amount: 12_990, currency: 'CLP', invoice_id: `F-${at}` },
    },
  };
}

async function append(server: INestApplication): Promise<void> {
  for (let at = 0; at < EVENTS; at += 500) {
    const events = Array.from({ length: 500 }, (_, offset) => anEvent(at + offset));
    await server
      .get(Database)
      .inOrganization({ organizationId }, (tx) => server.get(Outbox).append(tx, events));
  }
}

async function outboxIsEmpty(server: INestApplication): Promise<boolean> {
  const rows = await server
    .get(Database)
    .inOrganization({ organizationId }, (tx) => tx.query('SELECT FROM outbox LIMIT 1'));
  return rows.length === 0;
}

process.env['PLATFORM_MODE'] = 'local';
Object.assign(process.env, serviceKeys('core'));
process.env['KAFKA_BROKERS'] = environment('TEST_KAFKA_BROKERS');
process.env['KAFKA_TOPIC_PREFIX'] = `bench${randomBytes(4).toString('hex')}.`;
const drop = await prepareDatabase();
const server = await app('api');
const producer = server.get(RecordProducer);
await producer.prepare(['records', 'lone', 'core.domain-events']);

await oneByOne(producer, 'lone');
await measured(`producer: ${RECORDS} records of 300 bytes, acks all`, RECORDS, () =>
  produce(producer, 'records'),
);

let consumed = 0;
await measured('consumer of raw records, empty, from the start', RECORDS, async () => {
  server.get(RecordConsumers).consume({
    topic: 'records',
    group: 'records',
    eachChunk: (records) => {
      consumed += records.length;
      return Promise.resolve();
    },
  });
  await until(() => consumed >= RECORDS);
});

await measured('outbox: events appended, 500 a transaction', EVENTS, () => append(server));
const worker = await app('worker');
await measured('relay and empty handlers, until both are through', EVENTS, async () => {
  await until(async () => handled >= EVENTS && (await outboxIsEmpty(server)));
});
await worker.close();
await server.close();
await drop();
process.exit(0); // kafkajs leaves timers of connections it has given up
