import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { cacheFolder } from '../kit/cache.mjs';
import { markInUse } from '../kit/packages-in-use.mjs';
import { Guardian } from '../local/services/guardian.ts';
import { type Kafka, startKafka } from '../local/services/kafka.ts';
import { freePort } from '../kit/ports.ts';
import { PlatformService } from './platform-service.ts';
import { type Postgres, queryOnce, startPostgres } from '../local/services/postgres.ts';

/** What the teardown ends; jest runs setup and teardown in one process. */
interface TestServices {
  folder: string;
  guardian: Guardian;
  postgres: Postgres | undefined;
  kafka: Kafka | undefined;
}

declare global {
  var testServices: TestServices | undefined;
  var testPlatform: PlatformService | undefined;
}

const ROOT = resolve(import.meta.dirname, '../..');
/** Three workers, each with a few apps in one process, each app with its pool. */
const CONNECTIONS = 400;

/**
 * Gives the tests a real PostgreSQL and a real Kafka of their own, on free ports, in a temporary folder. One that
 * `TEST_POSTGRES_URL` or `TEST_KAFKA_BROKERS` names is used instead and left as it is.
 */
export default async function startTestServices(): Promise<void> {
  // New with each run, also on a server that stays: the migrations may have changed since the last one.
  process.env['TEST_TEMPLATE_PREFIX'] = `template_${randomBytes(6).toString('hex')}`;
  // Most tests' processes run code that an earlier one has run: V8 need not compile it again.
  process.env['NODE_COMPILE_CACHE'] ??= join(ROOT, '.nx/compiled');
  await markInUse(ROOT, 'npm run jest');
  globalThis.testPlatform = await PlatformService.listen();
  process.env['TEST_PLATFORM_PORT'] = String(globalThis.testPlatform.port);
  const needPostgres = !process.env['TEST_POSTGRES_URL'];
  const needKafka = !process.env['TEST_KAFKA_BROKERS'];
  if (!needPostgres && !needKafka) return;
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'customer-platform-test-')));
  const services: TestServices = { folder, guardian: new Guardian(), postgres: undefined, kafka: undefined };
  services.guardian.removeAtEnd(folder);
  globalThis.testServices = services;
  try {
    await Promise.all([needPostgres && givePostgres(services), needKafka && giveKafka(services)]);
  } catch (error) {
    await endTestServices(services);
    throw error;
  }
}

async function givePostgres(services: TestServices): Promise<void> {
  const folder = join(services.folder, 'postgres');
  mkdirSync(folder);
  services.postgres = await startPostgres({
    folder: join(folder, 'cluster'),
    port: await freePort(),
    password: 'test',
    log: join(folder, 'postgres.log'),
    guardian: services.guardian,
    durable: false,
    maxConnections: CONNECTIONS,
  });
  process.env['TEST_POSTGRES_URL'] = services.postgres.url;
}

async function giveKafka(services: TestServices): Promise<void> {
  services.kafka = await startKafka({
    folder: join(services.folder, 'kafka'),
    port: await freePort(),
    controllerPort: await freePort(),
    log: join(services.folder, 'kafka.log'),
    cache: cacheFolder(),
    guardian: services.guardian,
    brief: true,
  });
  process.env['TEST_KAFKA_BROKERS'] = services.kafka.broker;
}

/** Ends what was started and removes its folder, all of it even where one part fails. */
export async function endTestServices(services: TestServices): Promise<void> {
  const { postgres, kafka, guardian } = services;
  await Promise.allSettled([postgres?.child.stop(8_000), kafka?.child.stop(8_000)]);
  await guardian.release();
}

/** Removes the databases that this run's tests copied theirs from. */
export async function dropTemplates(): Promise<void> {
  const { TEST_POSTGRES_URL: url = '', TEST_TEMPLATE_PREFIX: prefix = '' } = process.env;
  const made = await queryOnce<{ datname: string }>(
    url,
    `SELECT datname FROM pg_database WHERE starts_with(datname, '${prefix}_')`,
  );
  for (const { datname } of made) await queryOnce(url, `DROP DATABASE ${datname} WITH (FORCE)`);
}
