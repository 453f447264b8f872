import pg from 'pg';
import { cacheFolder } from '@customer-platform/kit/cache.mjs';
import { Guardian } from '../services/guardian.ts';
import { makeKafkaArchive } from '../services/kafka-archive.ts';
import { brokerAnswers, startKafka } from '../services/kafka.ts';
import { startPostgres } from '../services/postgres.ts';
import { type Wiring, appEnvironment, baseUrl, mailUrl } from './app-environment.ts';
import { startNodeProcess } from './app-process.ts';
import { serveConsole } from './console.ts';
import type { DataFolder } from './data-folder.ts';
import { databaseAddresses } from './databases.ts';
import { type AppName, type AppProcess, PROCESSES, ROOT, mainOf } from './modules.ts';
import type { StartOptions } from './options.ts';
import type { PortPlan } from './port-plan.ts';
import type { Progress } from './progress.ts';
import { releaseMemory } from './release-memory.mjs';
import { recordProcesses } from './running-processes.ts';
import type { Secrets } from './secrets.ts';
import { Supervisor } from './supervisor.ts';

/** A stop is over within ten seconds: the apps drain first, what they use has the rest of the time. */
const APP_PATIENCE_MS = 6_000;
const STOP_MS = 9_500;
/** What an event passes until its 202, with the broker. The rest works from the queue, which waits. */
const ACCEPTING: ReadonlySet<AppName> = new Set(['gateway', 'core', 'identity']);
/** All share two processors: when those are busy, accepting goes first and processing catches up. */
const YIELDING = 10;

interface PlatformParts {
  data: DataFolder;
  options: StartOptions;
  secrets: Secrets;
  ports: PortPlan;
  progress: Progress;
}

/** The processes of one platform. */
export class Platform {
  private readonly guardian = new Guardian();
  private readonly supervisor: Supervisor;
  private readonly parts: PlatformParts;
  private readonly apps: string[] = [];
  private readonly services: string[] = [];
  private endConsole: () => Promise<void> = () => Promise.resolve();
  private endPreparation: () => Promise<void> = () => Promise.resolve();

  constructor(parts: PlatformParts) {
    this.parts = parts;
    this.supervisor = new Supervisor({
      note: (line) => parts.progress.note(line),
      changed: (running) => recordProcesses(parts.data, running),
    });
  }

  /** Of the administrator. */
  get adminUrl(): string {
    const { options, secrets, ports } = this.parts;
    return (
      options.databaseUrl ?? `postgres://postgres:${secrets.postgres}@127.0.0.1:${ports.postgres}/postgres`
    );
  }

  get wiring(): Wiring {
    const { options, ports, secrets } = this.parts;
    const brokers = options.brokers ?? `127.0.0.1:${ports.kafka}`;
    return { ports, secrets, brokers, databases: databaseAddresses(this.adminUrl, secrets) };
  }

  async startPostgres(): Promise<void> {
    const { data, ports, secrets } = this.parts;
    this.services.push('PostgreSQL');
    await this.supervisor.keep({
      name: 'PostgreSQL',
      start: (began) =>
        startPostgres({
          folder: data.file('postgres', 'cluster'),
          port: ports.postgres,
          password: secrets.postgres,
          log: data.log('postgres'),
          guardian: this.guardian,
          durable: true,
          // Who accepts asks identity, and nothing else here, before it answers.
          niceness: { value: YIELDING, except: ['identity_app'] },
          began,
        }),
    });
  }

  async startKafka(): Promise<void> {
    const { data, ports } = this.parts;
    this.services.push('Kafka');
    await this.supervisor.keep({
      name: 'Kafka',
      start: (began) =>
        startKafka({
          folder: data.file('kafka'),
          port: ports.kafka,
          controllerPort: ports.kafkaController,
          log: data.log('kafka'),
          cache: cacheFolder(),
          guardian: this.guardian,
          began,
        }),
    });
  }

  async startMailCatcher(): Promise<void> {
    const { data, ports, secrets } = this.parts;
    this.services.push('mail catcher');
    await this.supervisor.keep({
      name: 'mail catcher',
      start: (began) =>
        startNodeProcess(
          {
            name: 'The mail catcher',
            // Messages are short-lived: a small young generation keeps them from filling memory.
            args: ['--max-semi-space-size=2', '--max-old-space-size=192', 'infra/local/mail-catcher/main.ts'],
            env: {
              PATH: process.env['PATH'],
              SMTP_PORT: String(ports.smtp),
              HTTP_PORT: String(ports.mailPage),
              MAIL_FILE: data.file('mail', 'messages.jsonl'),
              REPORT_URL: `${baseUrl(ports)}/v1/messaging/webhooks/generic`,
              REPORT_SECRET: secrets.provider,
            },
            cwd: ROOT,
            log: data.log('mail-catcher'),
            guardian: this.guardian,
            readyUrl: `${mailUrl(ports)}/health`,
          },
          began,
        ),
    });
  }

  async startApps(): Promise<void> {
    const { ports } = this.parts;
    await Promise.all([
      ...PROCESSES.map((process) => this.startApp(process)),
      serveConsole(ports.console, baseUrl(ports)).then((end) => (this.endConsole = end)),
    ]);
  }

  private async startApp({ name, app, role }: AppProcess): Promise<void> {
    const { data } = this.parts;
    const env = appEnvironment(app, this.wiring, { role });
    // The gateway proxies its public listener: its own health is on the other.
    const port = app === 'gateway' ? env['INTERNAL_PORT'] : env['PORT'];
    const isAccepting = ACCEPTING.has(app) && role !== 'worker';
    this.apps.push(name);
    await this.supervisor.keep({
      name,
      start: (began) =>
        startNodeProcess(
          {
            name,
            args: [mainOf(app)],
            env,
            cwd: ROOT,
            log: data.log(name),
            guardian: this.guardian,
            ...(isAccepting ? {} : { niceness: YIELDING }),
            readyUrl: `http://127.0.0.1:${port}/health/ready`,
          },
          began,
        ),
    });
  }

  /** Spares later starts some seconds; nothing waits for it. */
  prepareNextStart(): void {
    const { data, options } = this.parts;
    if (options.brokers) return;
    this.endPreparation = makeKafkaArchive({
      cache: cacheFolder(),
      kafkaFolder: data.file('kafka'),
      log: data.log('kafka-archive'),
      guardian: this.guardian,
    });
  }

  /** What booting has left behind goes back to the system. */
  releaseMemory(): void {
    this.supervisor.signal([...this.apps, 'mail catcher'], 'SIGUSR2');
    releaseMemory();
  }

  /** Ends everything, the apps before what they use; resolves when no process is left. */
  async stop(): Promise<void> {
    this.supervisor.stopAttending();
    const { options } = this.parts;
    // Written down while the apps drain, so that PostgreSQL's own end is short.
    const checkpoint = options.databaseUrl ? undefined : writeCheckpoint(this.adminUrl);
    const begun = performance.now();
    await Promise.all([this.supervisor.stop(this.apps, APP_PATIENCE_MS), this.endConsole()]);
    await checkpoint;
    const left = STOP_MS - (performance.now() - begun);
    await Promise.all([this.supervisor.stop(this.services, left), this.endPreparation()]);
    await this.supervisor.settled();
    await this.guardian.release();
  }
}

async function writeCheckpoint(adminUrl: string): Promise<void> {
  const client = new pg.Client({
    connectionString: adminUrl,
    connectionTimeoutMillis: 500,
    query_timeout: 5_000,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('CHECKPOINT');
    await client.end();
  } catch {
    client.connection.stream.destroy(); // PostgreSQL is away or busy: its own shutdown writes everything down
  }
}

/** @throws Error of one sentence where none of a person's own brokers answers. */
export async function requireBrokers(brokers: string): Promise<void> {
  for (const broker of brokers.split(',')) {
    const [, host, port] = /^(.*):(\d+)$/.exec(broker.trim()) ?? [];
    if (host !== undefined && (await brokerAnswers(host, Number(port)))) return;
  }
  throw new Error(
    `No Kafka broker of PLATFORM_KAFKA_BROKERS (${brokers}) answers: start them, or unset it to use ours.`,
  );
}
