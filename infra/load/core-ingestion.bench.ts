/**
 * `TEST_POSTGRES_URL=… TEST_KAFKA_BROKERS=… node infra/load/core-ingestion.bench.ts [--role api|all] [--seconds N]
 *    [--rates 500,2000] [--profile]`
 * (after `npm run build`)
 *
 * Prints what ingestion costs core on this machine: requests per second and CPU of core's own process per request for
 * `track` and for batches of 100, accepting only and with the processing, and how fast what was accepted is stored.
 * `--rates` sends single events at these steady rates instead, and prints how many share a Kafka record.
 * `--profile` writes a CPU profile of core into `.data/profiles` and prints where its time went. Needs a Postgres
 * superuser and a broker; CPU figures hold on a busy machine too, the rates do not.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { percentile } from '@customer-platform/kit/percentile.ts';
import { newId, type MigrationClass } from '@customer-platform/database';
import { serviceKeys, testDatabase, TestRegistry, type TestDatabase } from '@customer-platform/testing';
import { Pool } from 'undici';

const ROOT = resolve(import.meta.dirname, '../..');
const { values: options } = parseArgs({
  options: {
    role: { type: 'string' },
    seconds: { type: 'string', default: '8' },
    rates: { type: 'string' },
    profile: { type: 'boolean', default: false },
  },
});
const SECONDS = Number(options.seconds);
const PORT = 18_461;
const TICKS_PER_SECOND = 100;
const CONTACTS = 20_000;

interface Core {
  child: ChildProcess;
  profiles: string;
}

function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

async function startCore(
  role: string,
  database: TestDatabase,
  registry: TestRegistry,
  prefix: string,
): Promise<Core> {
  const profiles = mkdtempSync(join(tmpdir(), 'core-profile-'));
  const profiling = options.profile ? ['--cpu-prof', `--cpu-prof-dir=${profiles}`] : [];
  const child = spawn(process.execPath, [...profiling, join(ROOT, 'apps/core/dist/main.js')], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      PORT: String(PORT),
      PROCESS_ROLE: role,
      PLATFORM_MODE: 'local',
      LOG_LEVEL: 'warn',
      DATABASE_URL: database.url,
      KAFKA_BROKERS: process.env['TEST_KAFKA_BROKERS'] ?? '',
      KAFKA_TOPIC_PREFIX: prefix,
      KAFKA_PARTITIONS: '6',
      IDENTITY_INTERNAL_URL: registry.url,
      // Nobody is asked: the bench refers to no other module's rows.
      ...Object.fromEntries(
        ['CRM', 'LOYALTY', 'MESSAGING'].map((name) => [`${name}_INTERNAL_URL`, 'http://127.0.0.1:9']),
      ),
      CURSOR_SECRET: 'a secret of benches, long enough for cursors',
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      ...serviceKeys('core'),
    },
  });
  for (let tries = 0; tries < 300; tries += 1) {
    const ready = await fetch(`http://127.0.0.1:${PORT}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (ready) return { child, profiles };
    await pause(100);
  }
  throw new Error('core did not become ready');
}

async function stopCore({ child, profiles }: Core): Promise<void> {
  const ended = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  await ended;
  for (const file of readdirSync(profiles)) printProfile(join(profiles, file));
  rmSync(profiles, { recursive: true });
}

interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  timeDeltas: number[];
}

function printProfile(file: string): void {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8')) as Profile;
  const names = new Map(
    nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => [
      id,
      `${functionName || '(anonymous)'} ${url.replace(/^.*\/(node_modules|main)\//, '')}:${lineNumber + 1}`,
    ]),
  );
  const times = new Map<string, number>();
  samples.forEach((id, at) => {
    const name = names.get(id) ?? '';
    times.set(name, (times.get(name) ?? 0) + (timeDeltas[at] ?? 0));
  });
  const idle = [...times]
    .filter(([name]) => /^\((idle|program)\)/.test(name))
    .reduce((sum, [, time]) => sum + time, 0);
  const busy = timeDeltas.reduce((sum, time) => sum + time, 0) - idle;
  console.log(`  own time, of ${(busy / 1e6).toFixed(1)} s busy:`);
  const top = [...times].filter(([name]) => !/^\((idle|program)\)/.test(name)).sort(([, a], [, b]) => b - a);
  const byPart = new Map<string, number>();
  for (const [name, time] of top) byPart.set(partOf(name), (byPart.get(partOf(name)) ?? 0) + time);
  for (const [part, time] of [...byPart].sort(([, a], [, b]) => b - a).slice(0, 12)) {
    console.log(`  ${((time / busy) * 100).toFixed(1).padStart(5)} %  ${part}`);
  }
  console.log('');
  for (const [name, time] of top.slice(0, 30)) {
    console.log(`  ${((time / busy) * 100).toFixed(1).padStart(5)} %  ${name}`);
  }
  mkdirSync(join(ROOT, '.data/profiles'), { recursive: true });
}

/** Which part of the process a function belongs to. */
function partOf(name: string): string {
  const [, place = ''] = name.split(/ (?=\S+$)/);
  if (place.startsWith(':')) return `in V8 and libuv: ${name.split(' ')[0] ?? ''}`;
  if (place.startsWith('node:')) return 'node';
  return place
    .split('/')
    .slice(0, /^(libs|apps|@)/.test(place) ? 2 : 1)
    .join('/');
}

function anEvent(): object {
  return {
    event: 'invoice_paid',
    external_id: `person-${Math.floor(Math.random() * CONTACTS)}`,
    idempotency_key: newId(),
    occurred_at: new Date().toISOString(),
    properties: { amount: 12_990, currency: 'CLP', invoice_id: `INV-${Math.floor(Math.random() * 1e9)}` },
  };
}

interface Run {
  path: string;
  eventsPerRequest: number;
  connections: number;
}

/** A closed loop: each connection sends its next request when it has its answer. */
async function load(core: Core, key: string, { path, eventsPerRequest, connections }: Run): Promise<number> {
  const pool = new Pool(`http://127.0.0.1:${PORT}`, { connections, pipelining: 1 });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = (): string =>
    JSON.stringify(
      eventsPerRequest === 1 ? anEvent() : { events: Array.from({ length: eventsPerRequest }, anEvent) },
    );
  const latencies: number[] = [];
  const other = new Map<number, number>();
  const until = performance.now() + SECONDS * 1000;
  const cpuBefore = cpuSeconds(core.child.pid ?? 0);
  const one = async (): Promise<void> => {
    while (performance.now() < until) {
      const text = body();
      const began = performance.now();
      const answer = await pool.request({ path, method: 'POST', headers, body: text });
      await answer.body.dump();
      if (answer.statusCode === 202) latencies.push(performance.now() - began);
      else other.set(answer.statusCode, (other.get(answer.statusCode) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: connections }, one));
  const cpu = cpuSeconds(core.child.pid ?? 0) - cpuBefore;
  await pool.close();
  const at = (share: number): string => percentile(latencies, share).toFixed(1);
  const events = latencies.length * eventsPerRequest;
  console.log(
    `${path} × ${eventsPerRequest}, ${connections} connections: ${Math.round(latencies.length / SECONDS)} requests/s, ` +
      `${Math.round(events / SECONDS)} events/s, p50 ${at(0.5)} p95 ${at(0.95)} p99 ${at(0.99)} ms; CPU of core ` +
      `${((cpu / latencies.length) * 1e6).toFixed(0)} µs a request (${Math.round(latencies.length / cpu)} requests/s ` +
      `per core), ${((cpu / events) * 1e6).toFixed(0)} µs an event${other.size ? ` other: ${JSON.stringify([...other])}` : ''}`,
  );
  return events;
}

/** An open loop: requests begin when they are due, whether those before them are answered or not. */
async function steady(core: Core, key: string, perSecond: number): Promise<void> {
  const pool = new Pool(`http://127.0.0.1:${PORT}`, { connections: 128, pipelining: 1 });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const latencies: number[] = [];
  let refused = 0;
  const one = async (): Promise<void> => {
    const due = performance.now();
    const body = JSON.stringify(anEvent());
    const answer = await pool.request({ path: '/v1/core/track', method: 'POST', headers, body });
    await answer.body.dump();
    if (answer.statusCode === 202) latencies.push(performance.now() - due);
    else refused += 1;
  };
  const [before, cpuBefore, began] = [await recordsOf(), cpuSeconds(core.child.pid ?? 0), performance.now()];
  const open: Promise<void>[] = [];
  while (open.length < perSecond * SECONDS) {
    const due = Math.floor(((performance.now() - began) / 1_000) * perSecond);
    while (open.length < Math.min(due, perSecond * SECONDS)) open.push(one());
    await pause(2);
  }
  await Promise.all(open);
  const cpu = cpuSeconds(core.child.pid ?? 0) - cpuBefore;
  const after = await recordsOf();
  await pool.close();
  const at = (share: number): string => percentile(latencies, share).toFixed(1);
  const [records, events] = [after.records - before.records, after.events - before.events];
  console.log(
    `${perSecond}/s: ${(events / records).toFixed(1)} events a record (${records} records), p50 ${at(0.5)} ` +
      `p95 ${at(0.95)} p99 ${at(0.99)} ms, ${((cpu / events) * 1e6).toFixed(0)} µs of core an event, ${refused} refused`,
  );
}

/** How many records core has written, and how many events are in them. */
async function recordsOf(): Promise<{ records: number; events: number }> {
  const text = await (await fetch(`http://127.0.0.1:${PORT}/metrics`)).text();
  const value = (name: string): number => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  return { records: value('ingestion_records_total'), events: value('ingestion_record_events_total') };
}

async function drained(key: string, began: number, label: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${PORT}/v1/core/usage`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const { totals } = (await answer.json()) as { totals: { events: Record<string, number> } };
    const { accepted = 0, pending = 0 } = totals.events;
    if (pending === 0) {
      const seconds = (performance.now() - began) / 1000;
      console.log(`  ${label}: ${accepted} accepted so far, all processed after ${seconds.toFixed(1)} s`);
      return;
    }
    await pause(100);
  }
}

const { CORE_MIGRATIONS } = (await import(join(ROOT, 'apps/core/dist/migrations/core.migrations.js'))) as {
  CORE_MIGRATIONS: MigrationClass[];
};
const database = await testDatabase('core', CORE_MIGRATIONS);
const registry = await TestRegistry.start();
const organizationId = newId();
const settings = { rate_limits: { key_per_second: 100_000, organization_per_second: 100_000 } };
const key = registry.key({
  organizationId,
  permissions: ['core.events.write', 'core.contacts.write', 'core.usage.read'],
  settings,
});
for (const role of options.role ? [options.role] : ['api', 'all']) {
  console.log(role === 'api' ? '\nAccepting only' : '\nAccepting and processing');
  const core = await startCore(role, database, registry, `bench-${newId()}-`);
  const began = performance.now();
  if (options.rates !== undefined) {
    for (const rate of options.rates.split(',')) await steady(core, key, Number(rate));
    await stopCore(core);
    continue;
  }
  for (const connections of [16, 64])
    await load(core, key, { path: '/v1/core/track', eventsPerRequest: 1, connections });
  const single = performance.now();
  if (role === 'all') await drained(key, began, 'single events');
  await load(core, key, { path: '/v1/core/batch', eventsPerRequest: 100, connections: 8 });
  if (role === 'all') await drained(key, single, 'batches');
  await stopCore(core);
}
await registry.close();
await database.drop();
