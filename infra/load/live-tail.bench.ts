/**
 * `npm run load -- live-tail [--rate N] [--duration S] [--organizations N] [--streams N] [--rounds N]` (after `npm run build`)
 *
 * Prints what the live tail costs ingestion: `track` at a steady rate, spread over organizations, in rounds by turns
 * without anybody listening and with streams of events of each organization, which are read to the end: p50, p95 and
 * p99 of either side, what the streams were told and what was dropped, and CPU for an event. Core as two processes on a
 * PostgreSQL and a Kafka of its own. It ends with 1 where a stream was not told all. `LOAD_NODE_OPTIONS` is for the
 * process that answers: `--cpu-prof`.
 */
import { randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { newId, type MigrationClass } from '@customer-platform/database';
import { readUsage } from '@customer-platform/kit/processes.ts';
import { startTestProcess, testDatabase, TestRegistry, type TestDatabase } from '@customer-platform/testing';
import startTestServices, { endTestServices } from '../test/global-setup.ts';
import { call, paced } from './paced.ts';
import type { Told } from './live-tail/reader-thread.ts';
import { Readers } from './live-tail/readers.ts';
import { roundLine, sidesOf, summaryLines, type Round, type Side } from './live-tail/rounds.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const CONTACTS = 1_000;
/** What has just started compiles what it runs. */
const WARM_UP_S = 15;
/** What was accepted is stored and told by then. */
const SETTLED_MS = 3_000;
const ALL_TOLD_WITHIN_MS = 20_000;
const LOOK_EVERY_MS = 100;
/** A stream ends by itself after 90 s at the earliest. */
const LONGEST_S = 60;

type Say = (line: string) => void;

/** What is measured. */
interface LiveTail {
  /** Events a second, of all organizations together. */
  readonly rate: number;
  /** Seconds of a round. */
  readonly duration: number;
  readonly organizations: number;
  /** Of each organization. */
  readonly streams: number;
  /** Pairs of rounds. */
  readonly rounds: number;
}

const BOUNDS = {
  rate: [1, 5_000],
  duration: [1, LONGEST_S],
  organizations: [1, 100],
  streams: [1, 5],
  rounds: [1, 50],
} as const;

interface Bench extends LiveTail {
  readonly url: string;
  /** One for each organization: it sends and listens. */
  readonly keys: readonly string[];
  readonly readers: Readers;
  readonly database: TestDatabase;
  readonly say: Say;
}

/**
 * What the options ask for.
 * @throws Error of one sentence
 */
export function liveTailOf(options: Record<keyof LiveTail, string>): LiveTail {
  const read = (name: keyof LiveTail): number => {
    const [least, most] = BOUNDS[name];
    const value = Number(options[name]);
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    throw new Error(`--${name} is a whole number, at least ${String(least)} and at most ${String(most)}.`);
  };
  return {
    rate: read('rate'),
    duration: read('duration'),
    organizations: read('organizations'),
    streams: read('streams'),
    rounds: read('rounds'),
  };
}

/** Measures, prints, and removes what it made. */
export async function measureLiveTail(options: LiveTail, say: Say): Promise<void> {
  await startTestServices();
  const closing: (() => unknown)[] = [
    () => globalThis.testServices && endTestServices(globalThis.testServices),
  ];
  try {
    await measureAll(await prepare(options, say, closing));
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

async function prepare(options: LiveTail, say: Say, closing: (() => unknown)[]): Promise<Bench> {
  const { CORE_MIGRATIONS } = (await import(join(ROOT, 'apps/core/dist/migrations/core.migrations.js'))) as {
    CORE_MIGRATIONS: MigrationClass[];
  };
  const database = await testDatabase('core', CORE_MIGRATIONS);
  closing.push(() => database.drop());
  const registry = await TestRegistry.start();
  closing.push(() => registry.close());
  const start = async (role: 'api' | 'worker'): Promise<string> => {
    const nodeOptions = role === 'api' ? process.env['LOAD_NODE_OPTIONS'] : undefined;
    const env = { PROCESS_ROLE: role, ...(nodeOptions ? { NODE_OPTIONS: nodeOptions } : {}) };
    const running = await startTestProcess({ module: 'core', registry, database, env });
    closing.push(() => running.stop());
    return running.url;
  };
  const url = await start('api');
  await start('worker');
  const readers = new Readers();
  closing.push(() => readers.end());
  const settings = { rate_limits: { key_per_second: 100_000, organization_per_second: 100_000 } };
  const permissions = ['core.events.write', 'core.events.read'] as const;
  const keys = Array.from({ length: options.organizations }, () =>
    registry.key({ organizationId: newId(), permissions, settings }),
  );
  return { ...options, url, keys, readers, database, say };
}

async function measureAll(bench: Bench): Promise<void> {
  const { rate, duration, organizations, streams, rounds: pairs, say } = bench;
  say(
    `${rate} events/s of ${organizations} organizations for ${duration} s a round, ${organizations * streams} streams`,
  );
  await track(bench, WARM_UP_S);
  await pause(SETTLED_MS);
  const rounds: Round[] = [];
  const all = { recorded: 0, dropped: 0, gaps: 0, bytes: 0, ended: 0 };
  let toTell = 0;
  for (const side of sidesOf(pairs)) {
    const { round, told } = await measure(bench, side);
    rounds.push(round);
    say(roundLine(round));
    if (!told) continue;
    toTell += (round.figures.milliseconds.length - round.figures.refused) * streams;
    for (const name of Object.keys(all) as (keyof Told)[]) all[name] += told[name];
  }
  summaryLines(rounds).forEach(say);
  say(
    `  the streams were told ${all.recorded} of ${toTell} events, ${(all.bytes / 2 ** 20).toFixed(1)} MiB; ` +
      `${all.dropped} dropped, ${all.gaps} gaps, ${all.ended} streams ended and were taken up again`,
  );
  if (all.recorded + all.dropped !== toTell || all.gaps > 0) process.exitCode = 1;
}

async function measure(bench: Bench, side: Side): Promise<{ round: Round; told: Told | undefined }> {
  const { url, keys, streams, readers, duration } = bench;
  await stored(bench);
  if (side === 'with') {
    const listeners = keys.map((key) => ({ key, url: `${url}/v1/core/events/stream` }));
    await readers.open(listeners.flatMap((each) => Array.from({ length: streams }, () => each)));
  }
  // Who came has been taken in, who went away is forgotten.
  await pause(SETTLED_MS);
  const before = readUsage(process.pid).cpu;
  const figures = await track(bench, duration);
  await pause(SETTLED_MS);
  const cpu = new Map(
    [...readUsage(process.pid).cpu].map(([name, spent]) => [name, spent - (before.get(name) ?? 0)] as const),
  );
  const round = { side, figures, cpu };
  if (side === 'without') return { round, told: undefined };
  await allTold(bench, (figures.milliseconds.length - figures.refused) * streams);
  return { round, told: await readers.close() };
}

/** Each call begins when it is its time; how long it waited counts. */
function track({ url, keys, rate }: Bench, seconds: number): ReturnType<typeof paced> {
  return paced(rate * seconds, seconds, (at) =>
    call(`${url}/v1/core/track`, keys[at % keys.length], {
      event: 'invoice_paid',
      external_id: `person-${String(at % CONTACTS)}`,
      idempotency_key: randomUUID(),
      occurred_at: new Date().toISOString(),
      properties: { amount: 12_990, currency: 'CLP', invoice_id: `INV-${String(at)}` },
    }),
  );
}

/** Until nothing that was accepted waits for the worker, which would be told to those who come now. */
async function stored({ database }: Bench): Promise<void> {
  let seen = -1;
  for (;;) {
    const [row] = await database.query<{ n: number }>('SELECT count(*)::int AS n FROM events');
    if (row?.n === seen) return;
    seen = row?.n ?? 0;
    await pause(SETTLED_MS);
  }
}

async function allTold({ readers }: Bench, count: number): Promise<void> {
  for (const giveUpAt = Date.now() + ALL_TOLD_WITHIN_MS; Date.now() < giveUpAt; await pause(LOOK_EVERY_MS)) {
    const { recorded, dropped } = await readers.look();
    if (recorded + dropped >= count) return;
  }
}
