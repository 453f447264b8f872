import { ConfigError, kafkaConfig, readConfig, serviceConfig } from '@customer-platform/config';
import { log } from '@customer-platform/http';
import type { Admin, ConfigEntries, ITopicMetadata } from 'kafkajs';
import { protocolErrorType } from './protocol-error.js';

/** With fewer replicas, or fewer of them in sync, a record that was acknowledged can be lost with one machine. */
const LEAST_REPLICAS = 3;
const LEAST_IN_SYNC = 2;

/** kafkajs's `ConfigSource.TOPIC_CONFIG`: what was set for the topic itself. */
const OF_TOPIC = 1;
/** kafkajs's `ConfigResourceTypes`, which Node's ES modules do not see. */
const TOPIC = 2;
const BROKER = 4;
/**
 * What all topics are set to. The broker writes what comes compressed as it is to be read: nobody here reads snappy, lz4 or
 * zstd, and one such batch would hold up all consumers of its partition; one of gzip may inflate to more than a process has,
 * and is refused by the broker for its size so.
 */
export const OF_ALL_TOPICS: Readonly<Record<string, string>> = {
  'message.timestamp.type': 'LogAppendTime',
  'cleanup.policy': 'delete',
  'compression.type': 'uncompressed',
};
/** What whoever runs the brokers may not let be set: some of those who run them for others keep it as they have it. */
export const MAY_BE_REFUSED = 'compression.type';
/** What brokers answer to what nobody may set there; which of them is up to who runs them. */
export const REFUSED_TO_ALL: ReadonlySet<string> = new Set([
  'POLICY_VIOLATION',
  'INVALID_CONFIG',
  'INVALID_REQUEST',
]);
/** What brokers answer whom they know and do not allow it. */
export const NOT_ALLOWED: ReadonlySet<string> = new Set([
  'TOPIC_AUTHORIZATION_FAILED',
  'CLUSTER_AUTHORIZATION_FAILED',
  ...REFUSED_TO_ALL,
]);

/** A topic, and how long it keeps records in milliseconds; -1 is for ever. */
export interface TopicAsFound extends ITopicMetadata {
  readonly retention: string;
}

/** The cluster would lose acknowledged records with one machine, and nobody has said that it may. */
export class WeakReplication extends ConfigError {
  constructor(what: string) {
    super(
      `${what}; production needs a replication factor of at least ${String(LEAST_REPLICAS)} and min.insync.replicas of ` +
        `at least ${String(LEAST_IN_SYNC)}. Set them, or say KAFKA_ALLOW_WEAK_REPLICATION=true if events may be lost.`,
    );
  }
}

/** What topics are set to, on the broker; puts right what it safely can. The number of partitions is never touched. */
export class TopicSettings {
  private readonly strict = mustBeStrong();

  /** Throws before a topic is made that would be too weak. @throws WeakReplication */
  async checkDefaults(admin: Admin): Promise<void> {
    if (!this.strict) return;
    const { controller } = await admin.describeCluster();
    const values = await described(admin, BROKER, [String(controller)]);
    const defaults = values.get(String(controller));
    if (!defaults) return;
    const replicas = valueOf(defaults, 'default.replication.factor');
    const inSync = valueOf(defaults, 'min.insync.replicas');
    if (isWeak(Number(replicas), inSync)) {
      throw new WeakReplication(
        `The brokers make topics with default.replication.factor=${replicas} and min.insync.replicas=${inSync}`,
      );
    }
  }

  /**
   * Compares what is set with what must be: times stamped by the broker, nothing compressed, records deleted by age only, and
   * no sooner than `retention`. What is longer or has been added by an operator stays.
   * @throws WeakReplication
   */
  async reconcile(admin: Admin, topics: readonly TopicAsFound[]): Promise<void> {
    if (topics.length === 0) return;
    const found = await described(
      admin,
      TOPIC,
      topics.map(({ name }) => name),
    );
    for (const topic of topics) {
      const entries = found.get(topic.name);
      if (!entries) continue;
      this.checkStrength(topic, entries);
      await correct(admin, topic, entries);
    }
  }

  private checkStrength({ name, partitions }: TopicAsFound, entries: readonly ConfigEntries[]): void {
    if (!this.strict) return;
    const replicas = Math.min(...partitions.map((partition) => partition.replicas.length));
    const inSync = valueOf(entries, 'min.insync.replicas');
    if (isWeak(replicas, inSync)) {
      throw new WeakReplication(
        `The topic ${name} has ${String(replicas)} replicas and min.insync.replicas=${inSync}`,
      );
    }
  }
}

/** Whether this process must refuse a cluster that can lose what it has acknowledged. */
export function mustBeStrong(): boolean {
  const { KAFKA_ALLOW_WEAK_REPLICATION } = readConfig(
    kafkaConfig.pick({ KAFKA_ALLOW_WEAK_REPLICATION: true }),
  );
  return mustBeOurs() && !KAFKA_ALLOW_WEAK_REPLICATION;
}

/** Whether this process must refuse a Kafka that another installation uses: local mode's is thrown away. */
export function mustBeOurs(): boolean {
  return readConfig(serviceConfig.pick({ PLATFORM_MODE: true })).PLATFORM_MODE === 'production';
}

function isWeak(replicas: number, inSync: string): boolean {
  return replicas < LEAST_REPLICAS || Number(inSync) < LEAST_IN_SYNC;
}

function valueOf(entries: readonly ConfigEntries[], name: string): string {
  return entries.find(({ configName }) => configName === name)?.configValue ?? '';
}

async function correct(admin: Admin, topic: TopicAsFound, entries: readonly ConfigEntries[]): Promise<void> {
  const wanted = new Map<string, string>();
  for (const [name, value] of Object.entries(OF_ALL_TOPICS))
    if (valueOf(entries, name) !== value) wanted.set(name, value);
  if (isShorter(valueOf(entries, 'retention.ms'), topic.retention))
    wanted.set('retention.ms', topic.retention);
  if (wanted.size === 0) return;
  const own = entries.filter(({ configSource }) => Number(configSource) === OF_TOPIC);
  await set(admin, topic.name, own, wanted);
}

async function set(
  admin: Admin,
  topic: string,
  own: readonly ConfigEntries[],
  wanted: ReadonlyMap<string, string>,
): Promise<void> {
  // The request replaces all that is set for the topic: what is not named would fall back to the broker's default.
  const all = new Map([
    ...own.map(({ configName, configValue }) => [configName, configValue] as const),
    ...wanted,
  ]);
  try {
    await admin.alterConfigs({
      validateOnly: false,
      resources: [
        {
          type: TOPIC,
          name: topic,
          configEntries: [...all].map(([name, value]) => ({ name, value })),
        },
      ],
    });
    log.warn({ topic, set: Object.fromEntries(wanted) }, 'A topic was set otherwise; it is put right');
  } catch (error) {
    if (!NOT_ALLOWED.has(protocolErrorType(error) ?? '')) throw error;
    log.error(
      { topic, wanted: Object.fromEntries(wanted) },
      'A topic is set otherwise, and this client may not put it right',
    );
    const rest = new Map([...wanted].filter(([name]) => name !== MAY_BE_REFUSED));
    if (rest.size > 0 && rest.size < wanted.size) await set(admin, topic, own, rest);
  }
}

function isShorter(ms: string, wanted: string): boolean {
  if (ms === '-1' || ms === '') return false;
  return wanted === '-1' || Number(ms) < Number(wanted);
}

/** The settings of each by its name; none where this client may not see them. */
async function described(
  admin: Admin,
  type: typeof TOPIC | typeof BROKER,
  names: readonly string[],
): Promise<Map<string, ConfigEntries[]>> {
  try {
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: names.map((name) => ({ type, name })),
    });
    return new Map(resources.map(({ resourceName, configEntries }) => [resourceName, configEntries]));
  } catch (error) {
    if (!NOT_ALLOWED.has(protocolErrorType(error) ?? '')) throw error;
    log.warn({ names }, 'The settings on the broker may not be seen; they are not checked');
    return new Map();
  }
}
