/** The whole platform on this machine, under Node 24; `start.mjs` comes before and makes that Node available. */
import { existsSync } from 'node:fs';
import { markInUse } from '@customer-platform/kit/packages-in-use.mjs';
import { fullDiskSentence, requireDisk } from './requirements.mjs';
import { baseUrl, consoleUrl, coreUrl, mailUrl } from './platform/app-environment.ts';
import { build } from './platform/build.ts';
import { DataFolder } from './platform/data-folder.ts';
import { prepareDatabases, requireServer, serverOf } from './platform/databases.ts';
import { boundLogs } from './platform/log-files.ts';
import { ROOT } from './platform/modules.ts';
import { HELP, type StartOptions, readOptions } from './platform/options.ts';
import { Platform, requireBrokers } from './platform/platform.ts';
import { type TakenPort, planPorts } from './platform/port-plan.ts';
import { Progress } from './platform/progress.ts';
import { endLeftovers } from './platform/running-processes.ts';
import { loadSecrets } from './platform/secrets.ts';
import { type KeptDemo, seedDemo } from './platform/seed.ts';
import { takeFolder } from './platform/single-instance.ts';
import { type DemoFacts, summary } from './platform/summary.ts';

/** PostgreSQL's first 40 MB, its log, Kafka's segments, and room to work. */
const NEEDED_FIRST_MB = 1_024;
const NEEDED_LATER_MB = 200;
const PARENT_CHECKED_EVERY_MS = 500;

const progress = new Progress();
let platform: Platform | undefined;
let giveBackFolder: (() => void) | undefined;
let stopping: Promise<void> | undefined;

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (options.help) {
    process.stdout.write(HELP);
    return;
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(signal));
  watchParent();
  const data = new DataFolder(options.data);
  await markInUse(ROOT, 'npm start');
  giveBackFolder = await takeFolder(data);
  try {
    await start(data, options);
  } catch (error) {
    if (stopping) return; // ended while it was starting
    process.stderr.write(`\n${fullDiskSentence(error) ?? (error as Error).message}\n`);
    process.exitCode = 1;
    await stop();
  }
}

async function start(data: DataFolder, options: StartOptions): Promise<void> {
  progress.say('Customer Platform, local');
  await step('clean-up', async (detail) => {
    const ended = await endLeftovers(data);
    if (options.reset) data.reset();
    const done = [
      ended.length > 0 && `ended ${ended.join(', ')} of a former start`,
      options.reset && `emptied ${data.path}`,
    ].filter(Boolean);
    detail(done.join('; ') || 'nothing to do');
  });
  requireDisk(data.path, existsSync(data.file('postgres', 'cluster')) ? NEEDED_LATER_MB : NEEDED_FIRST_MB);
  const secrets = loadSecrets(data);
  const { plan: ports, taken } = await planPorts(data, {
    gateway: options.port,
    mailPage: options.mailPort,
    smtp: options.smtpPort,
  });
  sayTaken(taken);
  platform = new Platform({ data, options, secrets, ports, progress });
  boundLogs(data.file('logs'));
  await startAll(platform, data, options);
  const facts = await seed(platform, data);
  platform.releaseMemory();
  platform.prepareNextStart();
  for (const line of summary(facts, progress.elapsed())) progress.say(line);
}

async function startAll(running: Platform, data: DataFolder, options: StartOptions): Promise<void> {
  const { databaseUrl, brokers } = options;
  const { ports, secrets } = running.wiring;
  const postgres = databaseUrl
    ? step('PostgreSQL', async (detail) => {
        await requireServer(databaseUrl);
        detail(`${serverOf(databaseUrl)}, of PLATFORM_DATABASE_URL`);
      })
    : step('PostgreSQL', async (detail) => {
        await running.startPostgres();
        detail(`127.0.0.1:${ports.postgres}`);
      });
  const kafka = brokers
    ? step('Kafka', async (detail) => {
        await requireBrokers(brokers);
        detail(`${brokers}, of PLATFORM_KAFKA_BROKERS`);
      })
    : step('Kafka', async (detail) => {
        await running.startKafka();
        detail(`127.0.0.1:${ports.kafka}`);
      });
  const mail = step('mail catcher', async (detail) => {
    await running.startMailCatcher();
    detail(`${mailUrl(ports)}, SMTP on port ${ports.smtp}`);
  });
  const built = step('build', async (detail) => detail((await build()) ? '' : 'nothing has changed'));
  const databases = Promise.all([postgres, built]).then(() =>
    step('databases', async (detail) => {
      const server = { adminUrl: running.adminUrl, embedded: databaseUrl === undefined };
      detail((await prepareDatabases(server, secrets, data)) ? 'migrated' : 'nothing to migrate');
    }),
  );
  await Promise.all([kafka, mail, databases]);
  await step('apps', async (detail) => {
    await running.startApps();
    detail(baseUrl(ports));
  });
}

async function seed({ wiring, adminUrl }: Platform, data: DataFolder): Promise<DemoFacts> {
  const { ports, databases, brokers } = wiring;
  return step('demo organization', async (detail) => {
    const people = { mailUrl: mailUrl(ports), consoleUrl: consoleUrl(ports) };
    const target = { baseUrl: baseUrl(ports), identityDatabaseUrl: databases.identity.url, people };
    const demo = await seedDemo(target, data.readJson<KeptDemo>('demo.json'));
    const facts: DemoFacts = {
      ...demo, // first: what was kept from an earlier start holds that start's addresses too
      base_url: baseUrl(ports),
      console_url: `${consoleUrl(ports)}/console/`,
      core_url: coreUrl(ports),
      mail_url: mailUrl(ports),
      kafka_brokers: brokers,
      database_urls: Object.fromEntries(Object.entries(databases).map(([module, { url }]) => [module, url])),
      postgres_url: adminUrl,
    };
    data.writeJson('demo.json', facts);
    detail(data.file('demo.json'));
    return facts;
  });
}

function step<T>(name: string, work: (detail: (text: string) => void) => Promise<T>): Promise<T> {
  if (stopping) return Promise.reject(new Error('It was stopped while starting.'));
  return progress.step(name, work);
}

function sayTaken(taken: TakenPort[]): void {
  const names = { gateway: 'the API', mailPage: 'the mail page', smtp: 'SMTP' };
  for (const { use, preferred, taken: port } of taken)
    progress.say(`  ! port ${preferred} is another program's: ${names[use]} takes ${port}`);
}

/** Ends everything; a second signal changes nothing, as it takes less than ten seconds. */
function stop(signal?: string): Promise<void> {
  stopping ??= (async () => {
    progress.stop();
    if (signal !== undefined) progress.say(`\nStopping (${signal}) …`);
    await platform?.stop();
    giveBackFolder?.();
    if (signal !== undefined) progress.say('Everything is down.');
    process.exit();
  })();
  return stopping;
}

/** Whoever passes Ctrl-C on, npm or the launcher, may be killed; nobody could stop the platform then. */
function watchParent(): void {
  const parent = process.ppid;
  if (process.env['npm_lifecycle_event'] === undefined && process.env['PLATFORM_LAUNCHER'] !== String(parent))
    return;
  setInterval(() => {
    if (process.ppid !== parent) void stop('the process that started this is gone');
  }, PARENT_CHECKED_EVERY_MS).unref();
}

await main();
