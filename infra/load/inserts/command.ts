/**
 * `npm run load -- inserts [--events N] [--organizations N] [--postgres name=value,…] [--without Migration,…]` (after
 * `npm run build`): what storing an event costs while the table of events is empty, and once it holds so many. On a
 * PostgreSQL of its own, in a temporary folder, with everything that makes it durable. The table is filled by COPY
 * without its indexes, which are made afterwards; then chunks go in by the very statements of core's worker.
 */
import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { connected } from '@customer-platform/kit/databases.ts';
import { freePort } from '@customer-platform/kit/ports.ts';
import { descendantsOf } from '@customer-platform/kit/processes.ts';
import { provisionDatabase, runMigrations, type MigrationClass } from '@customer-platform/database';
import { Guardian } from '@customer-platform/local/services/guardian.ts';
import { startPostgres } from '@customer-platform/local/services/postgres.ts';
import type pg from 'pg';
import { sharesOf, type Share } from '../seed/plan.ts';
import { Chunks, type WorkerStatements } from './chunks.ts';
import { fillEvents } from './fill.ts';

/** What is measured. */
interface InsertsOptions {
  readonly events: number;
  readonly organizations: number;
  /** Of `postgresql.conf`, instead of those of a local start. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Migrations that are left out: to measure what came before them. */
  readonly without: readonly string[];
}

const ROOT = resolve(import.meta.dirname, '../../..');
const EVENTS_EACH = 10;
const WARM_UP = 10;
const MEASURED = 100;

interface Figures {
  microseconds: number;
  cpu: number;
  walBytes: number;
  lookUpMs: number;
  storeMs: number;
}

/** Measures, prints, and removes what it made. */
export async function measureInserts(options: InsertsOptions, say: (line: string) => void): Promise<void> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'customer-platform-inserts-')));
  mkdirSync(join(folder, 'postgres'));
  const guardian = new Guardian();
  guardian.removeAtEnd(folder);
  try {
    const postgres = await startPostgres({
      folder: join(folder, 'postgres', 'cluster'),
      port: await freePort(),
      password: 'inserts',
      log: join(folder, 'postgres', 'postgres.log'),
      guardian,
      durable: true,
      parameters: options.parameters,
    });
    await compare(options, postgres.url, say);
    await postgres.child.stop(60_000);
  } finally {
    await guardian.release();
  }
}

async function compare(
  options: InsertsOptions,
  adminUrl: string,
  say: (line: string) => void,
): Promise<void> {
  const { events, organizations, without } = options;
  const { url, admin } = await makeCore(adminUrl, without);
  const contacts = Math.max(organizations, Math.ceil(events / EVENTS_EACH));
  const shares = sharesOf({ contacts, events, organizations }, '01934e5a-0000-7000-8000-000000000001');
  try {
    const worker = await statementsOfWorker();
    const tell = (rows: number, figures: Figures): void => {
      const { microseconds, cpu, walBytes, lookUpMs, storeMs } = figures;
      say(
        `  ${rows.toLocaleString('en')} rows: ${microseconds.toFixed(1)} µs an event (PostgreSQL's CPU ${cpu.toFixed(1)} µs), ` +
          `${walBytes.toFixed(0)} bytes of WAL; a chunk's look-up ${lookUpMs.toFixed(1)} ms, its insert ${storeMs.toFixed(1)} ms`,
      );
    };
    say(
      `\nStoring chunks of 800 events of ${organizations} organizations; PostgreSQL ${JSON.stringify(options.parameters)}`,
    );
    const empty = await measured(url, admin, shares, worker);
    tell(0, empty);
    const began = performance.now();
    await fillEvents(admin, shares);
    say(`  filled in ${((performance.now() - began) / 1_000).toFixed(0)} s; ${await sizeOf(admin)}`);
    const full = await measured(url, admin, shares, worker);
    tell(events, full);
    const ratio = (name: keyof Figures): string => (full[name] / empty[name]).toFixed(2);
    say(
      `  with them / empty: ${ratio('microseconds')} of the time, ${ratio('cpu')} of the CPU, ${ratio('walBytes')} of the WAL`,
    );
  } finally {
    await admin.end();
  }
}

/** Core's database as a superuser sees it, and the address for the role of its service. */
async function makeCore(
  adminUrl: string,
  without: readonly string[],
): Promise<{ url: string; admin: pg.Client }> {
  const passwords = { ownerPassword: 'inserts', appPassword: 'inserts' };
  const { url, ownerUrl } = await provisionDatabase({ adminUrl, module: 'core', ...passwords });
  const { CORE_MIGRATIONS } = (await built('migrations/core.migrations.js')) as {
    CORE_MIGRATIONS: MigrationClass[];
  };
  const migrations = CORE_MIGRATIONS.filter(({ name }) => !without.some((left) => name.startsWith(left)));
  await runMigrations({ module: 'core', migrations, url: ownerUrl });
  const address = new URL(adminUrl);
  address.pathname = '/core';
  return { url, admin: await connected(address.href) };
}

function built(file: string): Promise<unknown> {
  return import(join(ROOT, 'apps/core/dist', file));
}

async function statementsOfWorker(): Promise<WorkerStatements> {
  const { sortArrivals } = (await built('processing/dispositions.js')) as Pick<
    WorkerStatements,
    'sortArrivals'
  >;
  const { writeEvents } = (await built('processing/event-writer.js')) as Pick<
    WorkerStatements,
    'writeEvents'
  >;
  return { sortArrivals, writeEvents };
}

/** From a checkpoint on, as after every one: the first touch of each page writes the whole page to the WAL. */
async function measured(
  url: string,
  admin: pg.Client,
  shares: readonly Share[],
  worker: WorkerStatements,
): Promise<Figures> {
  const chunks = await Chunks.open(url, shares, worker);
  try {
    for (let chunk = 0; chunk < WARM_UP; chunk += 1) await chunks.store();
    await admin.query('CHECKPOINT');
    const [wal, cpu, began] = [await walAt(admin), cpuOfPostgres(), performance.now()];
    let [events, lookUpMs, storeMs] = [0, 0, 0];
    for (let chunk = 0; chunk < MEASURED; chunk += 1) {
      const stored = await chunks.store();
      events += stored.events;
      lookUpMs += stored.lookUpMs / MEASURED;
      storeMs += stored.storeMs / MEASURED;
    }
    const microseconds = ((performance.now() - began) * 1_000) / events;
    return {
      microseconds,
      cpu: ((cpuOfPostgres() - cpu) * 1e6) / events,
      walBytes: ((await walAt(admin)) - wal) / events,
      lookUpMs,
      storeMs,
    };
  } finally {
    await chunks.close();
  }
}

async function walAt(admin: pg.Client): Promise<number> {
  const { rows } = await admin.query<{ bytes: string }>(
    `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') AS bytes`,
  );
  return Number(rows[0]?.bytes);
}

function cpuOfPostgres(): number {
  return descendantsOf(process.pid)
    .filter(({ name }) => name === 'postgres')
    .reduce((sum, { cpuSeconds, endedSeconds }) => sum + cpuSeconds + endedSeconds, 0);
}

async function sizeOf(admin: pg.Client): Promise<string> {
  const { rows } = await admin.query<{ heap: string; indexes: string; count: number }>(`
    SELECT pg_size_pretty(sum(pg_table_size(relid))) AS heap, pg_size_pretty(sum(pg_indexes_size(relid))) AS indexes,
           sum((SELECT count(*) FROM pg_index WHERE indrelid = relid))::int AS count
      FROM (SELECT oid AS relid FROM pg_class WHERE oid = 'events'::regclass AND relkind = 'r'
            UNION ALL SELECT inhrelid FROM pg_inherits WHERE inhparent = 'events'::regclass) AS tables`);
  const [size] = rows;
  return `${size?.heap ?? ''} of rows, ${size?.indexes ?? ''} in ${String(size?.count)} indexes`;
}
