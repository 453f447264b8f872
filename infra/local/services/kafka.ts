import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Child, waitUntilReady } from './child.ts';
import type { Guardian } from './guardian.ts';
import { findJava } from '../requirements.mjs';
import { archiveOptions } from './kafka-archive.ts';
import { kafkaJars } from './kafka-jars.ts';
import { endOrphan } from './orphans.ts';

interface KafkaOptions {
  /** Holds the broker's configuration, its lock and its log segments. */
  folder: string;
  port: number;
  /** Where the controller, which is the same process, listens. */
  controllerPort: number;
  log: string;
  /** Where the jars are kept between starts. */
  cache: string;
  guardian: Guardian;
  /** Called as soon as there is a process, before it serves. */
  began?: (child: Child) => void;
  /** Java's heap in MiB; beside it about 150 MiB are resident. */
  heap?: number;
  /** For tests: only Java's fast compiler, which halves the CPU of a start and costs throughput under load. */
  brief?: boolean;
  /** What is set beside or instead of what is set here: listeners, security, the part a second broker plays. */
  settings?: Record<string, string | number>;
  /** The cluster that a second broker joins; a new one unless given. */
  clusterId?: string;
  /** Further arguments of `kafka-storage format`: the first users of SCRAM. */
  format?: string[];
}

export interface Kafka {
  child: Child;
  broker: string;
}

const READY_SECONDS = 120;
const PID_FILE = 'broker.pid';
const LOGS = 'logs';

/** Starts one Apache Kafka 4.1 in KRaft mode, broker and controller in one. @throws Error in a sentence. */
export async function startKafka(options: KafkaOptions): Promise<Kafka> {
  const { folder, port } = options;
  const java = findJava();
  const jars = await kafkaJars(options.cache);
  mkdirSync(folder, { recursive: true });
  await endLeftover(folder);
  const configuration = join(folder, 'server.properties');
  if (!existsSync(join(folder, LOGS, 'meta.properties'))) await format(java, jars, folder, options);
  writeFileSync(configuration, properties(options, LOGS));
  const child = await Child.start({
    name: 'Kafka',
    command: java,
    args: [
      ...javaOptions(options),
      ...archiveOptions(options.cache, folder),
      '-cp',
      join(jars, '*'),
      'kafka.Kafka',
      configuration,
    ],
    cwd: folder,
    // Each arena of glibc's allocator keeps what its threads have freed: two are enough.
    env: { ...javaEnvironment(), MALLOC_ARENA_MAX: '2' },
    log: options.log,
    stopSignal: 'SIGTERM',
    stage: 'service',
    guardian: options.guardian,
  });
  options.began?.(child);
  writeFileSync(join(folder, PID_FILE), String(child.pid));
  await waitUntilReady(child, () => brokerAnswers('127.0.0.1', port), READY_SECONDS);
  return { child, broker: `127.0.0.1:${port}` };
}

/** One collector thread, small stacks and a small code cache: a broker for one machine, not a farm. */
function javaOptions({ heap = 320, brief = false }: KafkaOptions): string[] {
  return [
    '-Xms32m',
    `-Xmx${heap}m`,
    '-Xss512k',
    '-XX:+UseSerialGC',
    '-XX:ReservedCodeCacheSize=64m',
    '-XX:MaxMetaspaceSize=128m',
    '-XX:-UsePerfData',
    // What idles gives its memory back: heap and what malloc keeps (Java 17.0.9 or newer).
    ...['-XX:MinHeapFreeRatio=10', '-XX:MaxHeapFreeRatio=30'],
    ...[
      '-XX:+UnlockExperimentalVMOptions',
      '-XX:+IgnoreUnrecognizedVMOptions',
      '-XX:TrimNativeHeapInterval=5000',
    ],
    ...(brief ? ['-XX:TieredStopAtLevel=1'] : []),
    '-Djava.awt.headless=true',
    `-Dlog4j2.configurationFile=${join(import.meta.dirname, '../kafka/log4j2.properties')}`,
  ];
}

function properties({ port, controllerPort, settings }: KafkaOptions, logs: string): string {
  const values: Record<string, string | number> = {
    'process.roles': 'broker,controller',
    'node.id': 1,
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    'log.dirs': logs, // below the folder that it runs in: a list in Latin-1 takes neither an accent nor a comma
    'num.partitions': 6,
    'auto.create.topics.enable': 'false', // whoever needs a topic says so, as in production
    'default.replication.factor': 1,
    'min.insync.replicas': 1,
    'offsets.topic.num.partitions': 4,
    'offsets.topic.replication.factor': 1,
    'transaction.state.log.num.partitions': 1,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'share.coordinator.state.topic.num.partitions': 1,
    'share.coordinator.state.topic.replication.factor': 1,
    'share.coordinator.state.topic.min.isr': 1,
    'group.initial.rebalance.delay.ms': 0,
    'metadata.max.idle.interval.ms': 0, // nobody else follows the metadata: else two records a second, at rest too
    // A broker that was killed may register again once its former session is over: 9 s by default.
    'broker.heartbeat.interval.ms': 500,
    'broker.session.timeout.ms': 3_000,
    'num.network.threads': 2,
    'num.io.threads': 3,
    'background.threads': 2,
    'log.cleaner.dedupe.buffer.size': 4 * 2 ** 20, // 128 MiB by default
    'log.cleaner.io.buffer.size': 256 * 2 ** 10,
    'log.segment.bytes': 64 * 2 ** 20,
    'log.retention.bytes': 512 * 2 ** 20, // per partition
    'log.retention.hours': 72,
    ...settings,
  };
  return Object.entries(values)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

/** Java on Linux takes the names of files for text of the locale; in one without UTF-8 it finds no folder with an accent. */
function javaEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, LC_ALL: 'C.UTF-8' };
}

/** Formats the log folder beside its place and moves it there when it is whole. */
async function format(java: string, jars: string, folder: string, options: KafkaOptions): Promise<void> {
  const draftName = `${LOGS}.new`;
  const [draft, logs] = [join(folder, draftName), join(folder, LOGS)];
  for (const leftover of [draft, logs]) rmSync(leftover, { recursive: true, force: true });
  const configuration = join(folder, 'format.properties');
  writeFileSync(configuration, properties(options, draftName));
  // A cluster id is 16 bytes in base64url; one that begins with a dash would be taken for an option.
  const clusterId = options.clusterId ?? `A${randomBytes(16).toString('base64url').slice(1, 21)}A`;
  const jvm = ['-Xmx128m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-cp', join(jars, '*')];
  try {
    const words = ['format', '-t', clusterId, '-c', configuration, ...(options.format ?? [])];
    await promisify(execFile)(java, [...jvm, 'kafka.tools.StorageTool', ...words], {
      cwd: folder,
      env: javaEnvironment(),
    });
  } catch (cause) {
    const { stderr = '', message } = cause as { stderr?: string; message: string };
    throw new Error(`Kafka's data folder could not be made: ${stderr.trim().split('\n').at(-1) ?? message}`, {
      cause,
    });
  } finally {
    rmSync(configuration, { force: true });
  }
  renameSync(draft, logs);
}

async function endLeftover(folder: string): Promise<void> {
  const file = join(folder, PID_FILE);
  if (!existsSync(file)) return;
  const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
  if (Number.isInteger(pid) && pid > 1) await endOrphan(pid, folder, 'SIGTERM');
  rmSync(file, { force: true });
}

const API_VERSIONS = 18;
const ANSWER_WITHIN_MS = 2_000;

/** Whether a broker at `host:port` answers an ApiVersions request, which it does only once it serves clients. */
export function brokerAnswers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: ANSWER_WITHIN_MS });
    const settle = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => socket.write(apiVersionsRequest()));
    socket.once('data', () => settle(true));
    for (const end of ['error', 'close', 'timeout']) socket.once(end, () => settle(false));
  });
}

/** Length, api key, version 0, correlation id, client id "local". */
function apiVersionsRequest(): Buffer {
  const client = Buffer.from('local');
  const request = Buffer.alloc(4 + 2 + 2 + 4 + 2 + client.length);
  request.writeInt32BE(request.length - 4, 0);
  request.writeInt16BE(API_VERSIONS, 4);
  request.writeInt16BE(0, 6);
  request.writeInt32BE(1, 8);
  request.writeInt16BE(client.length, 12);
  client.copy(request, 14);
  return request;
}
