import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { type INestApplication, Module, type Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  consumerPositionsTable,
  Database,
  DatabaseModule,
  DatabaseUnavailable,
  installationTable,
  platformTables,
  provisionDatabase,
  type Transaction,
  parkedProofs,
  unpackedOutbox,
} from '@customer-platform/database';
import { topicOfModule, type EventData } from '@customer-platform/events';
import { Kafka, logLevel } from 'kafkajs';
import { Client } from 'pg';
import { connectEventBus, EventBusModule } from '../src/event-bus.module.js';
import type { NewDomainEvent } from '../src/outbox/outbox.js';

/** A value the tests cannot do without. */
export function given<T>(value: T | undefined | null, what: string): T {
  if (value === undefined || value === null) throw new Error(`${what} is not there`);
  return value;
}

/** A database of its own with the platform's tables, and the environment that points to it. */
export async function aDatabase(): Promise<{
  url: string;
  admin: () => Promise<Client>;
  drop: () => Promise<void>;
}> {
  const adminUrl = given(process.env['TEST_POSTGRES_URL'], 'TEST_POSTGRES_URL');
  const database = `bus_${randomBytes(6).toString('hex')}`;
  const password = 'bus-spec';
  const { url, ownerUrl } = await provisionDatabase({
    adminUrl,
    module: 'busspec',
    database,
    ownerPassword: password,
    appPassword: password,
  });
  const owner = new Client({ connectionString: ownerUrl });
  await owner.connect();
  await owner.query('ALTER DEFAULT PRIVILEGES GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO busspec_app');
  const statements = [
    ...platformTables(),
    ...consumerPositionsTable(),
    ...installationTable(),
    ...unpackedOutbox(),
    ...parkedProofs(),
  ];
  for (const statement of statements) await owner.query(statement);
  await owner.query(
    'CREATE TABLE counters (organization_id uuid, key text, value int, PRIMARY KEY (organization_id, key))',
  );
  await owner.end();
  process.env['DATABASE_URL'] = url;
  const admin = async (): Promise<Client> => {
    const client = new Client({ connectionString: adminUrl.replace(/\/[^/]*$/, `/${database}`) });
    await client.connect();
    return client;
  };
  return {
    url,
    admin,
    drop: async () => {
      const client = new Client({ connectionString: adminUrl });
      await client.connect();
      await client.query(`DROP DATABASE ${database} WITH (FORCE)`);
      await client.end();
    },
  };
}

/** Names of topics and groups that nobody else uses. */
export function anIsolatedKafka(
  brokers = given(process.env['TEST_KAFKA_BROKERS'], 'TEST_KAFKA_BROKERS'),
): void {
  process.env['KAFKA_BROKERS'] = brokers;
  process.env['KAFKA_TOPIC_PREFIX'] = `t${randomBytes(5).toString('hex')}.`;
  process.env['KAFKA_PARTITIONS'] = '3';
  process.env['PLATFORM_MODE'] = 'local';
  // As each process of a platform has them: without them none starts.
  process.env['SERVICE_PRIVATE_KEY'] = JSON.stringify(keyPairs.core.privateJwk);
  process.env['SERVICE_PUBLIC_KEYS'] = JSON.stringify({
    keys: Object.values(keyPairs).map(({ publicJwk }) => publicJwk),
  });
}

function aKeyPair(kid: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    privateJwk: { ...privateKey.export({ format: 'jwk' }), kid },
    publicJwk: { ...publicKey.export({ format: 'jwk' }), kid },
  };
}

/** The service keys of two modules. */
export const keyPairs = { core: aKeyPair('core'), loyalty: aKeyPair('loyalty') };

/** An app with an event bus and these controllers, started the way every app starts. */
export async function aBus(
  controllers: Type[] = [],
  options: { role?: 'api' | 'worker' | 'all'; group?: string } = {},
): Promise<INestApplication> {
  process.env['PROCESS_ROLE'] = options.role ?? 'all';
  class Root {}
  Module({
    imports: [
      DatabaseModule.forRoot({ module: 'core', entities: [], migrations: [] }),
      EventBusModule.forRoot({ module: 'core', group: options.group }),
    ],
    controllers,
  })(Root);
  const testing = await Test.createTestingModule({ imports: [Root] }).compile();
  const app = testing.createNestApplication({ logger: ['error'] });
  app.enableShutdownHooks([]);
  try {
    await app.init();
    await connectEventBus(app);
  } catch (error) {
    // A process that is refused its start ends; here its jobs would go on in the files that follow.
    await app.close();
    throw error;
  }
  return app;
}

/** A consent event of a contact; `note` tells it from its siblings. */
export function consentOf(organizationId: string, contactId: string, note: string): NewDomainEvent {
  const data: EventData<'core.consent.recorded.v1'> = {
    contact_id: contactId,
    purpose: note,
    channel: null,
    status: 'granted',
    previous: null,
  };
  return {
    type: 'core.consent.recorded.v1',
    organizationId,
    key: contactId,
    subject: `contacts/${contactId}`,
    data,
    correlationId: randomUUID(),
  };
}

/** A behavioral event of a contact; `name` tells it from its siblings. */
export function recordedOf(organizationId: string, contactId: string, name: string): NewDomainEvent {
  const now = new Date().toISOString();
  return {
    type: 'core.event.recorded.v1',
    organizationId,
    key: contactId,
    subject: `contacts/${contactId}`,
    data: {
      event_id: randomUUID(),
      contact_id: contactId,
      external_id: null,
      event: name,
      occurred_at: now,
      received_at: now,
      properties: {},
    },
    correlationId: randomUUID(),
  };
}

/** Writes a record by a producer that shares nothing with the code under test: as whoever reaches the broker does. */
export async function writing(
  topic: string,
  { key, value, headers }: { key: string; value: string; headers: Record<string, Buffer> },
): Promise<void> {
  const name = `${given(process.env['KAFKA_TOPIC_PREFIX'], 'prefix')}${topic}`;
  const brokers = given(process.env['KAFKA_BROKERS'], 'brokers').split(',');
  const producer = new Kafka({ brokers, logLevel: logLevel.NOTHING }).producer();
  await producer.connect();
  try {
    await producer.send({ topic: name, messages: [{ key, value, headers }] });
  } finally {
    await producer.disconnect();
  }
}

/** What a raw reader has read of a topic. */
export interface Reading {
  readonly messages: { key: string; value: string; partition: number; type: string | undefined }[];
  stop(): Promise<void>;
}

/** Reads a topic from its beginning, by a consumer that shares nothing with the code under test. */
export async function reading(topic = topicOfModule('core') as string): Promise<Reading> {
  const name = `${given(process.env['KAFKA_TOPIC_PREFIX'], 'prefix')}${topic}`;
  const brokers = given(process.env['KAFKA_BROKERS'], 'brokers').split(',');
  const consumer = new Kafka({ brokers, logLevel: logLevel.NOTHING }).consumer({
    groupId: `reader-${randomUUID()}`,
  });
  const messages: Reading['messages'] = [];
  await consumer.connect();
  await consumer.subscribe({ topics: [name], fromBeginning: true });
  await consumer.run({
    eachMessage: ({ message, partition }) => {
      const type = message.headers?.['ce_type']?.toString();
      messages.push({ key: String(message.key), value: String(message.value), partition, type });
      return Promise.resolve();
    },
  });
  return { messages, stop: () => consumer.disconnect() };
}

/** Waits until the assertion holds. */
export async function eventually(assertion: () => void | Promise<void>, within = 20_000): Promise<void> {
  for (const until = Date.now() + within; ;) {
    try {
      await assertion();
      return;
    } catch (error) {
      if (Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
}

/** One transaction of an organization; one that found no connection in time begins again, as a caller would. */
export async function inOrganization<T>(
  app: INestApplication,
  organizationId: string,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  for (const until = Date.now() + 20_000; ;) {
    let begun = false;
    try {
      return await app.get(Database).inOrganization({ organizationId }, (tx) => {
        begun = true;
        return work(tx);
      });
    } catch (error) {
      if (begun || !(error instanceof DatabaseUnavailable) || Date.now() > until) throw error;
    }
  }
}
