import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { NestFactory } from '@nestjs/core';
import { EventBusModule, TopicReader, Topics } from '@customer-platform/event-bus';
import { MODULES, requiredVariable, type Module, type PlatformUnderTest } from '@customer-platform/testing';
import { readings } from './readings.fixture.js';

/** What is sought, by what it is; in lower case, composed as NFC. */
type Sought = Readonly<Record<string, string>>;

/** How much was looked through. */
interface Looked {
  databases: number;
  tables: number;
  rows: number;
  logs: number;
  files: number;
  topics: number;
  records: number;
}

/** `what: place` of all that was found, each once. */
export interface Found {
  readonly looked: Looked;
  readonly found: readonly string[];
  /** In topics that keep what was told for their time; each with what is found there. */
  readonly residue: readonly string[];
}

/** As Kafka's protocol calls the settings of a topic. */
const OF_TOPIC = 2;
const RETENTION_MS = 7 * 86_400_000;

/** Looks through every table of every database as superuser, every topic, every log and these folders. */
export async function searchPlatform(
  platform: PlatformUnderTest,
  sought: Sought,
  folders: readonly string[],
): Promise<Found> {
  const found = new Set<string>();
  const residue = new Set<string>();
  const look = (place: string, content: string | Buffer, into = found): void => {
    const texts = readings(content);
    for (const [what, text] of Object.entries(sought))
      if (texts.some((each) => each.includes(text))) into.add(`${what}: ${place}`);
  };
  const looked = { databases: MODULES.length, tables: 0, rows: 0, logs: 0, files: 0, topics: 0, records: 0 };
  for (const module of MODULES) {
    for (const { name, rows } of await tablesOf(platform, module)) {
      looked.tables += 1;
      looked.rows += rows.length;
      for (const row of rows) look(`${module}.${name}`, row);
    }
  }
  for (const [app, { log }] of Object.entries(platform.processes)) {
    looked.logs += 1;
    // What the world outside was sent is not the platform's: the mail catcher stands for it.
    if (app !== 'mail') look(`log of ${app}`, log);
  }
  for (const folder of folders) {
    for (const file of await filesIn(folder)) {
      looked.files += 1;
      look(`file ${file}`, Buffer.concat([Buffer.from(`${file}\n`), await readFile(file)]));
    }
  }
  for (const { topic, records, forgets } of await topicsOf(platform)) {
    looked.topics += 1;
    looked.records += records.length;
    for (const each of records) look(`topic ${topic}`, each, forgets ? residue : found);
  }
  return { looked, found: [...found].sort(), residue: [...residue].sort() };
}

/** Each row as JSON; what is binary stands there in hexadecimal. Tables of all schemas but PostgreSQL's own. */
async function tablesOf(
  platform: PlatformUnderTest,
  module: Module,
): Promise<{ name: string; rows: string[] }[]> {
  const tables = await platform.query<{ name: string }>(
    module,
    `SELECT format('%I.%I', n.nspname, t.relname) AS name FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace
      WHERE n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') AND t.relkind IN ('r', 'p', 'm')
        AND NOT t.relispartition ORDER BY 1`,
  );
  const all = [];
  for (const { name } of tables) {
    const rows = await platform.query<{ row: string }>(
      module,
      `SELECT to_jsonb(t)::text AS row FROM ${name} t`,
    );
    all.push({ name, rows: rows.map(({ row }) => row) });
  }
  return all;
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

interface Topic {
  topic: string;
  records: string[];
  /** Whether it keeps nothing longer than 7 days. */
  forgets: boolean;
}

/** Every record of every topic of this platform. */
async function topicsOf({ topicPrefix: prefix }: PlatformUnderTest): Promise<Topic[]> {
  Object.assign(process.env, {
    PLATFORM_MODE: 'local',
    KAFKA_BROKERS: requiredVariable('TEST_KAFKA_BROKERS'),
    KAFKA_TOPIC_PREFIX: prefix,
  });
  const reader = await NestFactory.createApplicationContext(EventBusModule.forReading({ module: 'core' }), {
    logger: false,
    abortOnError: false,
  });
  try {
    const topics = reader.get(Topics, { strict: false });
    const names = (await topics.withAdmin((admin) => admin.listTopics())).filter((name) =>
      name.startsWith(prefix),
    );
    const { resources } = await topics.withAdmin((admin) =>
      admin.describeConfigs({
        includeSynonyms: false,
        resources: names.map((name) => ({ type: OF_TOPIC, name, configNames: ['retention.ms'] })),
      }),
    );
    const kept = new Map(
      resources.map(({ resourceName, configEntries: [entry] }) => [
        resourceName,
        Number(entry?.configValue ?? -1),
      ]),
    );
    const all: Topic[] = [];
    for (const name of names) {
      const topic = name.slice(prefix.length);
      const ms = kept.get(name) ?? -1;
      const records = await reader.get(TopicReader, { strict: false }).readAll(topic);
      all.push({ topic, records, forgets: ms >= 0 && ms <= RETENTION_MS });
    }
    return all;
  } finally {
    await reader.close();
  }
}
