import type { Server } from 'node:http';
import { randomBytes } from 'node:crypto';
import type { INestApplication, Type } from '@nestjs/common';
import { createApp, type BootOptions } from '@customer-platform/http';
import type { Permission } from '@customer-platform/permissions';
import { Caller } from './caller.js';
import { serviceKeys } from './service-keys.js';
import { requiredVariable } from './required-variable.js';
import type { TestDatabase } from './test-database.js';
import { TestRegistry } from './test-registry.js';
import { topicsOfOthers } from './topics-of-others.js';

/** What a test starts. */
interface TestAppOptions extends Omit<BootOptions, 'module' | 'root'> {
  module: BootOptions['module'];
  root: Type;
  database?: TestDatabase;
  /** The registry to ask; one of its own unless given. */
  registry?: TestRegistry;
  /** Variables beyond the usual ones, or instead of them. */
  env?: Record<string, string>;
}

/** A running service with both listeners on free ports. */
export interface TestApp {
  url: string;
  internalUrl: string;
  /** The container, to reach a service from the inside. */
  app: INestApplication;
  registry: TestRegistry;
  /** The database that it was started on. */
  database: TestDatabase | undefined;
  /** A client whose key has these permissions in the organization. */
  as(organizationId: string, permissions: readonly Permission[], settings?: Record<string, unknown>): Caller;
  /** A client without credential, or with this one. */
  with(key?: string): Caller;
  close(): Promise<void>;
}

/** Boots a module as its own process would, on free ports, with topics of its own. */
export async function startTestApp(options: TestAppOptions): Promise<TestApp> {
  const { module, root, database, env, registry: given, ...boot } = options;
  const registry = given ?? (await TestRegistry.start());
  const running = await withEnvironment(
    { ...environmentOf(module, registry, database), ...env },
    async () => {
      await topicsOfOthers(module, root);
      return createApp({ module, root, ...boot });
    },
  );
  const server = running.app.getHttpServer() as Server;
  server.keepAliveTimeout = IDLE_MS;
  return {
    url: running.url,
    internalUrl: running.internalUrl,
    app: running.app,
    registry,
    database,
    as: (organizationId, permissions, settings) =>
      new Caller(
        running.url,
        registry.key({ organizationId, permissions, ...(settings ? { settings } : {}) }),
        () => !registry.isDown,
      ),
    with: (key) => new Caller(running.url, key, () => !registry.isDown),
    close: async () => {
      await running.close();
      if (!given) await registry.close();
    },
  };
}

/**
 * The server and its callers share a loop here. Where it was busy for longer than an idle connection is kept, one would close
 * it as the other calls on it.
 */
const IDLE_MS = 60_000;

/** One prefix per test process: the topics of one spec file are nobody else's. */
const TOPIC_PREFIX = `test-${randomBytes(5).toString('hex')}-`;

/** The environment of a module that a test runs, with ports that the system gives. */
export function environmentOf(
  module: string,
  registry: TestRegistry,
  database?: TestDatabase,
): Record<string, string> {
  const nowhere = 'http://127.0.0.1:9';
  return {
    PORT: '0',
    INTERNAL_PORT: '0',
    PLATFORM_MODE: 'local',
    PROCESS_ROLE: 'all',
    LOG_LEVEL: process.env['LOG_LEVEL'] ?? 'fatal',
    PUBLIC_URL: 'http://127.0.0.1:8080',
    ...(database ? { DATABASE_URL: database.url, DATABASE_OWNER_URL: database.ownerUrl } : {}),
    DATABASE_POOL_SIZE: '10',
    // More callers at once than connections wait for each other, on a slow machine longer than anybody else would.
    DATABASE_WAIT_MS: '30000',
    KAFKA_BROKERS: requiredVariable('TEST_KAFKA_BROKERS'),
    KAFKA_TOPIC_PREFIX: TOPIC_PREFIX,
    KAFKA_PARTITIONS: '3',
    IDENTITY_INTERNAL_URL: registry.url,
    ...Object.fromEntries(
      ['CORE', 'CRM', 'MESSAGING', 'LOYALTY'].map((name) => [`${name}_INTERNAL_URL`, nowhere]),
    ),
    ...Object.fromEntries(
      ['IDENTITY', 'CORE', 'CRM', 'MESSAGING', 'LOYALTY'].map((name) => [`${name}_URL`, nowhere]),
    ),
    ...serviceKeys(module),
    CURSOR_SECRET: 'a secret of tests, long enough for cursors',
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    ADDRESS_PEPPERS: 'a pepper of tests, long enough',
    LEDGER_KEY: 'a ledger key of tests, long enough for it',
    SMTP_URL: 'smtp://127.0.0.1:9',
    SENDER_DNS_SERVERS: '127.0.0.1:9',
  };
}

let turn: Promise<unknown> = Promise.resolve();

/** Services read their environment while they start; several in one process start one after another. */
function withEnvironment<T>(env: Record<string, string>, start: () => Promise<T>): Promise<T> {
  const run = async (): Promise<T> => {
    const before = Object.keys(env).map((name) => [name, process.env[name]] as const);
    Object.assign(process.env, env);
    try {
      return await start();
    } finally {
      for (const [name, value] of before) {
        if (value === undefined) Reflect.deleteProperty(process.env, name);
        else process.env[name] = value;
      }
    }
  };
  const next = turn.then(run, run);
  turn = next;
  return next;
}
