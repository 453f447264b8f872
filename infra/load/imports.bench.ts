/**
 * `npm run load -- import [--rows N]` (after `npm run build`)
 *
 * Prints how many rows a second an import of contacts does, beside `COPY` of the same rows into a table without anything,
 * the processor time that a row cost each process, for where other work shares the machine that says more than the
 * clock, and what the processes held at most beyond what they hold when idle: core as two processes, on a PostgreSQL and
 * a Kafka of its own, with nothing else to do. Then `track` at a steady rate, alone and beside a second import. The rows
 * come as a stream, so that the sender holds none of them. `LOAD_NODE_OPTIONS` is for the worker: `--cpu-prof`; with
 * `LOAD_ALONE` nothing is measured but the import.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { onConnection } from '@customer-platform/kit/databases.ts';
import { descendantsOf, readUsage } from '@customer-platform/kit/processes.ts';
import { newId, type MigrationClass } from '@customer-platform/database';
import { startTestProcess, testDatabase, TestRegistry, type TestDatabase } from '@customer-platform/testing';
import { from as copyFrom } from 'pg-copy-streams';
import startTestServices, { endTestServices } from '../test/global-setup.ts';
import { anEvent, call, paced, printFigures, type Figures } from './paced.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const LOOK_EVERY_MS = 250;
const ROWS_A_CHUNK = 1_000;
const TRACK_PER_SECOND = 200;
const TRACK_S = 15;
/** More than are done while `track` is measured. */
const BESIDE_ROWS = 200_000;
const SETTLED_MS = 3_000;
const REST_MS = 5_000;
const BOUNDARY = 'an-import-of-contacts';
const HEADER = 'id,mail,first,last,phone,country,plan,seats\n';
const MAPPING = {
  id: 'external_id',
  mail: 'email',
  first: 'first_name',
  last: 'last_name',
  phone: 'phone',
  country: 'country',
  plan: 'attributes.plan',
  seats: 'attributes.seats',
};

const rowOf = (at: number): string =>
  `c-${at},person.${at}@example.com,Ana ${at % 1_000},Rojas ${at % 5_000},+569${String(10_000_000 + at)},CL,plan-${at % 7},${at % 50}\n`;

function* chunksOf(rows: number): Generator<string> {
  for (let at = 0; at < rows; at += ROWS_A_CHUNK) {
    const length = Math.min(ROWS_A_CHUNK, rows - at);
    yield Array.from({ length }, (_, index) => rowOf(at + index)).join('');
  }
}

function* bodyOf(rows: number): Generator<Uint8Array> {
  const part = (name: string): string => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"`;
  const options = JSON.stringify({ mapping: MAPPING });
  yield Buffer.from(
    `${part('options')}\r\n\r\n${options}\r\n${part('file')}; filename="contacts.csv"\r\n\r\n${HEADER}`,
  );
  for (const chunk of chunksOf(rows)) yield Buffer.from(chunk);
  yield Buffer.from(`\r\n--${BOUNDARY}--\r\n`);
}

/** MiB, of the two processes of core: what they hold now, or held at most since they started. */
function memory(line: 'VmRSS' | 'VmHWM'): Record<string, number> {
  const ours = descendantsOf(process.pid).filter(({ name }) => name.startsWith('core'));
  return Object.fromEntries(
    ours.map(({ name, pid }) => {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      return [name, Number(new RegExp(`${line}:\\s+(\\d+)`).exec(status)?.[1]) / 1_024];
    }),
  );
}

interface Seen {
  readonly state: string;
  readonly rows: { readonly total: number; readonly created: number };
  readonly file: { readonly bytes: number };
}

async function ended(url: string, key: { authorization: string }): Promise<Seen> {
  for (;;) {
    const answer = await fetch(url, { headers: key });
    const seen = (await answer.json()) as Seen;
    if (seen.state === 'completed' || seen.state === 'failed') return seen;
    await pause(LOOK_EVERY_MS);
  }
}

/** Rows a second of the same rows into a table with nothing but columns. */
async function copied(database: TestDatabase, rows: number): Promise<number> {
  return onConnection(database.ownerUrl, async (client) => {
    await client.query(
      `CREATE TABLE plain_rows (id text, mail text, first text, last text, phone text, country text, plan text, seats text)`,
    );
    const began = performance.now();
    await pipeline(
      Readable.from(chunksOf(rows)),
      client.query(copyFrom('COPY plain_rows FROM STDIN (FORMAT csv)')),
    );
    return rows / ((performance.now() - began) / 1_000);
  });
}

interface Bench {
  readonly url: string;
  readonly registry: TestRegistry;
}

/** Sends so many rows for an organization of their own. @returns the address of the import */
async function send({ url, registry }: Bench, rows: number): Promise<{ at: string; authorization: string }> {
  const permissions = ['core.imports.create', 'core.imports.read'] as const;
  const authorization = `Bearer ${registry.key({ organizationId: newId(), permissions })}`;
  const sent = await fetch(`${url}/v1/core/imports`, {
    method: 'POST',
    headers: { authorization, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
    body: ReadableStream.from(bodyOf(rows)),
    duplex: 'half',
  });
  const opened = (await sent.json()) as { id: string };
  if (sent.status !== 202)
    throw new Error(`The import was answered ${sent.status}: ${JSON.stringify(opened)}`);
  return { at: `${url}/v1/core/imports/${opened.id}`, authorization };
}

const say = (line: string): unknown => process.stdout.write(`${line}\n`);
const cpu = (): Map<string, number> => readUsage(process.pid).cpu;

/** Milliseconds of processor time that each process takes in a second in which nobody asks for anything. */
async function atRest(): Promise<Map<string, number>> {
  const before = cpu();
  const began = performance.now();
  await pause(REST_MS);
  const seconds = (performance.now() - began) / 1_000;
  return new Map(
    [...cpu()].map(([name, spent]) => [name, ((spent - (before.get(name) ?? 0)) / seconds) * 1_000]),
  );
}

async function importAlone(bench: Bench, rows: number): Promise<number> {
  const rest = await atRest();
  const idle = memory('VmRSS');
  const began = performance.now();
  const { at, authorization } = await send(bench, rows);
  const uploaded = performance.now();
  const before = cpu();
  const measured = performance.now();
  const { file, rows: done, state } = await ended(at, { authorization });
  const seconds = (performance.now() - uploaded) / 1_000;
  // What the last pieces told is published behind their end.
  await pause(SETTLED_MS);
  const after = cpu();
  const took = (performance.now() - measured) / 1_000;
  const most = memory('VmHWM');
  const perSecond = done.total / seconds;
  say(
    `${state}: ${done.total.toLocaleString('en')} rows, ${done.created.toLocaleString('en')} contacts, ${(file.bytes / 2 ** 20).toFixed(0)} MiB`,
  );
  say(
    `  upload ${((uploaded - began) / 1_000).toFixed(1)} s; import ${seconds.toFixed(1)} s, ${perSecond.toFixed(0)} rows/s`,
  );
  const costs = [...after].map(([name, spent]) => {
    const each = ((spent - (before.get(name) ?? 0)) / done.total) * 1_000;
    const own = each - ((rest.get(name) ?? 0) * took) / done.total;
    return `${name} ${each.toFixed(3)} ms (${own.toFixed(3)})`;
  });
  say(`  processor time of a row, and without what each takes at rest: ${costs.join(', ')}`);
  for (const [name, held] of Object.entries(most))
    say(
      `  ${name}: at most ${(held - (idle[name] ?? 0)).toFixed(0)} MiB above the ${(idle[name] ?? 0).toFixed(0)} when idle`,
    );
  return perSecond;
}

/** `track`, each call when it is its time; how long it waited counts. */
function track({ url, registry }: Bench): Promise<Figures> {
  const key = registry.key({ organizationId: newId(), permissions: ['core.events.write'] });
  return paced(TRACK_PER_SECOND * TRACK_S, TRACK_S, () => call(`${url}/v1/core/track`, key, anEvent()));
}

async function besideTrack(bench: Bench, rows: number): Promise<void> {
  await track(bench); // what has just started compiles what it runs
  const alone = await track(bench);
  const { at, authorization } = await send(bench, rows);
  const beside = await track(bench);
  const seen = (await (await fetch(at, { headers: { authorization } })).json()) as Seen;
  say(
    `track at ${String(TRACK_PER_SECOND)}/s for ${String(TRACK_S)} s; beside it ${seen.rows.total.toLocaleString('en')} rows were imported (${seen.state})`,
  );
  printFigures({ alone, 'beside an import': beside }, say);
}

/** Measures, prints, and removes what it made. */
export async function measureImports(rows: number): Promise<void> {
  await startTestServices();
  const closing: (() => unknown)[] = [
    () => globalThis.testServices && endTestServices(globalThis.testServices),
  ];
  try {
    await measureAll(rows, closing);
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

async function measureAll(rows: number, closing: (() => unknown)[]): Promise<void> {
  const { CORE_MIGRATIONS } = (await import(join(ROOT, 'apps/core/dist/migrations/core.migrations.js'))) as {
    CORE_MIGRATIONS: MigrationClass[];
  };
  const database = await testDatabase('core', CORE_MIGRATIONS);
  closing.push(() => database.drop());
  const registry = await TestRegistry.start();
  closing.push(() => registry.close());
  const folder = mkdtempSync(join(tmpdir(), 'customer-platform-imports-'));
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  const start = async (role: 'api' | 'worker'): Promise<string> => {
    const options = role === 'worker' ? process.env['LOAD_NODE_OPTIONS'] : undefined;
    const env = {
      PROCESS_ROLE: role,
      IMPORT_DIRECTORY: folder,
      ...(options ? { NODE_OPTIONS: options } : {}),
    };
    const running = await startTestProcess({ module: 'core', registry, database, env });
    closing.push(() => running.stop());
    return running.url;
  };
  const bench = { url: await start('api'), registry };
  await start('worker');
  await pause(SETTLED_MS);
  const perSecond = await importAlone(bench, rows);
  const plain = await copied(database, rows);
  say(`  COPY of the same rows: ${plain.toFixed(0)} rows/s, ${(plain / perSecond).toFixed(1)} times as many`);
  if (!process.env['LOAD_ALONE']) await besideTrack(bench, BESIDE_ROWS);
}
