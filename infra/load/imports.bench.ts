/**
 * `npm run load -- import [--rows N]` (after `npm run build`)
 *
 * Prints how many rows a second an import of contacts does, beside `COPY` of the same rows into a table without anything,
 * and what the processes held at most beyond what they hold when idle: core as two processes, on a PostgreSQL and a Kafka
 * of its own, with nothing else to do. The rows come as a stream, so that the sender holds none of them.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { descendantsOf } from '@customer-platform/kit/processes.ts';
import { newId, type MigrationClass } from '@customer-platform/database';
import { startTestProcess, testDatabase, TestRegistry, type TestDatabase } from '@customer-platform/testing';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import startTestServices, { endTestServices } from '../test/global-setup.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const LOOK_EVERY_MS = 250;
const ROWS_A_CHUNK = 1_000;
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
  const client = new pg.Client({ connectionString: database.ownerUrl });
  await client.connect();
  try {
    await client.query(
      `CREATE TABLE plain_rows (id text, mail text, first text, last text, phone text, country text, plan text, seats text)`,
    );
    const began = performance.now();
    await pipeline(
      Readable.from(chunksOf(rows)),
      client.query(copyFrom('COPY plain_rows FROM STDIN (FORMAT csv)')),
    );
    return rows / ((performance.now() - began) / 1_000);
  } finally {
    await client.end();
  }
}

/** Measures, prints, and removes what it made. */
export async function measureImports(rows: number): Promise<void> {
  await startTestServices();
  const { CORE_MIGRATIONS } = (await import(join(ROOT, 'apps/core/dist/migrations/core.migrations.js'))) as {
    CORE_MIGRATIONS: MigrationClass[];
  };
  const database = await testDatabase('core', CORE_MIGRATIONS);
  const registry = await TestRegistry.start();
  const folder = mkdtempSync(join(tmpdir(), 'customer-platform-imports-'));
  const start = (role: string) =>
    startTestProcess({
      module: 'core',
      registry,
      database,
      env: { PROCESS_ROLE: role, IMPORT_DIRECTORY: folder },
    });
  const api = await start('api');
  const worker = await start('worker');
  try {
    const permissions = ['core.imports.create', 'core.imports.read'] as const;
    const authorization = `Bearer ${registry.key({ organizationId: newId(), permissions })}`;
    await pause(3_000);
    const idle = memory('VmRSS');
    const began = performance.now();
    const sent = await fetch(`${api.url}/v1/core/imports`, {
      method: 'POST',
      headers: { authorization, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
      body: ReadableStream.from(bodyOf(rows)),
      duplex: 'half',
    });
    const opened = (await sent.json()) as { id: string };
    if (sent.status !== 202)
      throw new Error(`The import was answered ${sent.status}: ${JSON.stringify(opened)}`);
    const uploaded = performance.now();
    const {
      file,
      rows: done,
      state,
    } = await ended(`${api.url}/v1/core/imports/${opened.id}`, { authorization });
    const seconds = (performance.now() - uploaded) / 1_000;
    const most = memory('VmHWM');
    const perSecond = done.total / seconds;
    const say = (line: string): unknown => process.stdout.write(`${line}\n`);
    say(
      `${state}: ${done.total.toLocaleString('en')} rows, ${done.created.toLocaleString('en')} contacts, ${(file.bytes / 2 ** 20).toFixed(0)} MiB`,
    );
    say(
      `  upload ${((uploaded - began) / 1_000).toFixed(1)} s; import ${seconds.toFixed(1)} s, ${perSecond.toFixed(0)} rows/s`,
    );
    for (const [name, held] of Object.entries(most))
      say(
        `  ${name}: at most ${(held - (idle[name] ?? 0)).toFixed(0)} MiB above the ${(idle[name] ?? 0).toFixed(0)} when idle`,
      );
    const plain = await copied(database, rows);
    say(
      `  COPY of the same rows: ${plain.toFixed(0)} rows/s, ${(plain / perSecond).toFixed(1)} times as many`,
    );
  } finally {
    await worker.stop();
    await api.stop();
    await registry.close();
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
    if (globalThis.testServices) await endTestServices(globalThis.testServices);
  }
}
