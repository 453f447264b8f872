/**
 * `npm run load -- objects [--rows N] [--rate N] [--duration S]` (after `npm run build`)
 *
 * Prints how long reads, writes and pages of custom objects take among N records of a definition of which ten fields are
 * indexed, at a steady rate: what ten indexes cost a write, what page 2,000 costs beside page 1, and the plans of the
 * three slowest lists. On a PostgreSQL, a Kafka and a crm of its own.
 */
import { loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { percentile } from '@customer-platform/kit/percentile.ts';
import { newId, type MigrationClass } from '@customer-platform/database';
import { connectEventBus } from '@customer-platform/event-bus';
import {
  startTestApp,
  testDatabase,
  type Answer,
  type Caller,
  type TestApp,
  type TestDatabase,
} from '@customer-platform/testing';
import startTestServices, { endTestServices } from '../test/global-setup.ts';
import { explained } from './objects/explained.ts';
import { FIELDS, INDEXED, seedRecords } from './objects/seed.ts';

type Say = (line: string) => void;
type Root = Parameters<typeof startTestApp>[0]['root'];

const DIST = resolve(import.meta.dirname, '../../apps/crm/dist');
const OBJECTS = '/v1/crm/objects';
const PERMISSIONS = ['read', 'create', 'update', 'delete'].map(
  (action) => `crm.objects.${action}` as 'crm.objects.read',
);
const DEEPEST_PAGE = 2_000;
const AIM_MS = 150;
const SLOWEST = 3;
const TURNS = 300;
const BY_TURNS = `medians of ${TURNS} each, by turns`;

/** What is measured. */
interface ObjectsLoad {
  readonly records: number;
  readonly rate: number;
  readonly duration: number;
}

/** A call by its name; a list has the query that it asks. */
interface Call {
  readonly name: string;
  readonly query?: string;
  readonly send: (caller: Caller, time: number) => Promise<Answer<unknown>>;
}

/** Runs it and prints the figures. */
export async function measureObjects(load: ObjectsLoad, say: Say): Promise<void> {
  await startTestServices();
  const { CRM_MIGRATIONS } = (await import(join(DIST, 'migrations/index.js'))) as {
    CRM_MIGRATIONS: MigrationClass[];
  };
  const { CrmModule } = (await import(join(DIST, 'crm.module.js'))) as { CrmModule: Root };
  const database = await testDatabase('crm', CRM_MIGRATIONS);
  const env = { PROCESS_ROLE: 'api', DATABASE_POOL_SIZE: '10' };
  const app = await startTestApp({ module: 'crm', root: CrmModule, database, env, connect: connectEventBus });
  try {
    await measure({ app, database, ...load }, say);
  } finally {
    await app.close();
    await database.drop();
    if (globalThis.testServices) await endTestServices(globalThis.testServices);
  }
}

async function measure(
  { app, database, records, rate, duration }: ObjectsLoad & { app: TestApp; database: TestDatabase },
  say: Say,
): Promise<void> {
  const organizationId = newId();
  const rate_limits = { key_per_second: 100_000, organization_per_second: 100_000 };
  const caller = app.as(organizationId, PERMISSIONS, { rate_limits });
  const indexed = await define(caller, 'indexed', INDEXED);
  await define(caller, 'plain', 0);
  const began = performance.now();
  await seedRecords(database, organizationId, indexed, records);
  say(
    `${records.toLocaleString('en')} records, ${INDEXED} indexes: seeded in ${seconds(performance.now() - began)}`,
  );
  const deep = Math.min(DEEPEST_PAGE, Math.floor(records / 50));
  const calls = callsOf(await idsOf(caller), deep, await cursorAt(caller, deep, say));
  const { times, refused } = await paced(caller, calls, { rate, duration });
  const p95 = new Map([...times].map(([name, all]) => [name, percentile(all, 0.95)]));
  say(
    `\n${rate} calls/s for ${duration} s, load average ${loadavg()[0]?.toFixed(1)}; p95 is to be below ${AIM_MS} ms`,
  );
  for (const [name, all] of times) say(`  ${name.padEnd(46)} ${figures(all)}`);
  for (const [why, count] of refused) say(`  refused ${count} times: ${why}`);
  const [plain, ten] = await byTurns(caller, calls, 'create, none indexed', 'create, ten indexed fields');
  say(`\n  ten indexes cost a write ${ratio(ten, plain)} of none (${ms(ten)} and ${ms(plain)}; ${BY_TURNS})`);
  const [near, far] = await byTurns(caller, calls, 'page 1, by year', `page ${deep}, by year`);
  say(`  page ${deep} costs ${ratio(far, near)} of page 1 (${ms(far)} and ${ms(near)}; ${BY_TURNS})`);
  const lists = calls
    .filter(({ query }) => query !== undefined)
    .sort((a, b) => (p95.get(b.name) ?? 0) - (p95.get(a.name) ?? 0));
  for (const { name, query = '' } of lists.slice(0, SLOWEST)) {
    say(`\nPlans of: ${name}`);
    for (const line of await explained({ app, dist: DIST, organizationId, slug: 'indexed', query }))
      say(`  ${line}`);
  }
}

async function define(caller: Caller, slug: string, indexes: number): Promise<string> {
  const fields = FIELDS.map((field, at) => ({ ...field, indexed: at < indexes }));
  const answer = await caller.post<{ id: string }>('/v1/crm/object-definitions', {
    slug,
    name: slug,
    fields,
  });
  return answered(answer).body.id;
}

/** @throws Error with what was answered instead */
function answered<T>(answer: Answer<T>): Answer<T> {
  if (answer.status < 400) return answer;
  throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
}

interface ListAnswer {
  data: { id: string }[];
  page: { next_cursor: string | null };
}

/** The cursor before a page far down, by walking there. */
async function cursorAt(caller: Caller, pages: number, say: Say): Promise<string> {
  let cursor = '';
  const began = performance.now();
  for (let page = 1; page < pages; page += 1) {
    const { body } = answered(
      await caller.get<ListAnswer>(`${OBJECTS}/indexed?sort=values.year&limit=50${cursor}`),
    );
    if (body.page.next_cursor === null) throw new Error(`There are fewer than ${pages} pages.`);
    cursor = `&cursor=${body.page.next_cursor}`;
  }
  say(`walked to page ${pages} in ${seconds(performance.now() - began)}`);
  return cursor;
}

async function idsOf(caller: Caller): Promise<string[]> {
  const { body } = answered(await caller.get<ListAnswer>(`${OBJECTS}/indexed?limit=200`));
  return body.data.map(({ id }) => id);
}

const valuesOf = (time: number) => ({
  ...{
    plate: `N${String(time)}`,
    brand: 'b',
    model: `model ${String(time % 1_000)}`,
    year: 2000 + (time % 25),
  },
  ...{ price: time / 3, sold: time % 2 === 0, bought: '2024-02-29', seen_at: '2026-02-01T00:00:00Z' },
  ...{ colour: 'red', remark: 'x'.repeat(100) },
});

function list(name: string, query: string): Call {
  return { name, query, send: (caller) => caller.get(`${OBJECTS}/indexed?${query}`) };
}

function callsOf(ids: readonly string[], deep: number, cursor: string): Call[] {
  const one = (time: number): string => `${OBJECTS}/indexed/${ids[time % ids.length] ?? ''}`;
  const values = (time: number) => ({ values: valuesOf(time) });
  return [
    { name: 'create, none indexed', send: (caller, time) => caller.post(`${OBJECTS}/plain`, values(time)) },
    {
      name: 'create, ten indexed fields',
      send: (caller, time) => caller.post(`${OBJECTS}/indexed`, values(time)),
    },
    {
      name: 'change of three indexed fields',
      send: (caller, time) =>
        caller.patch(one(time), {
          values: { year: 1900 + (time % 99), price: time, model: `m${String(time)}` },
        }),
    },
    { name: 'read', send: (caller, time) => caller.get(one(time)) },
    list('page 1, newest first', 'limit=50'),
    list('page 1, by year', 'sort=values.year&limit=50'),
    list(`page ${deep}, by year`, `sort=values.year&limit=50${cursor}`),
    list('by year descending', 'sort=-values.year&limit=50'),
    list('one value of a million', 'values.plate=P000004711&limit=50'),
    list('a quarter of all, newest first', 'values.brand=c&limit=50'),
    list('a quarter of all, by price', 'values.brand=c&sort=values.price&limit=50'),
    list('a quarter of all, last changed first', 'values.brand=c&sort=-updated_at&limit=50'),
    list('a range of a hundredth, newest first', 'values.price[gte]=100&values.price[lt]=1100&limit=50'),
    list('a range of all, newest first', 'values.year[gte]=1900&limit=50'),
    list('a beginning, by text', 'values.model[prefix]=model 7&sort=values.model&limit=50'),
    list('three filters', 'values.brand=c&values.year[gte]=1990&values.sold=true&limit=50'),
    list('without a value', 'values.owner[is_null]=true&sort=-values.year&limit=50'),
  ];
}

/** One call after the other kind, at times that do not depend on the answers. */
async function paced(
  caller: Caller,
  calls: readonly Call[],
  { rate, duration }: Pick<ObjectsLoad, 'rate' | 'duration'>,
): Promise<{ times: Map<string, number[]>; refused: Map<string, number> }> {
  const times = new Map(calls.map(({ name }) => [name, [] as number[]]));
  const refused = new Map<string, number>();
  const sent: Promise<void>[] = [];
  const run = async (call: Call, time: number, counts: boolean): Promise<void> => {
    const began = performance.now();
    const { status, body } = await call.send(caller, time);
    // What is refused because the machine is busy counts as slower than anything.
    const took = status < 400 ? performance.now() - began : Infinity;
    if (counts) times.get(call.name)?.push(took);
    if (status < 400) return;
    const { code = '', detail = '' } = body as { code?: string; detail?: string };
    const why = `${call.name}: ${status} ${code}, ${detail}`;
    refused.set(why, (refused.get(why) ?? 0) + 1);
  };
  for (const [at, call] of calls.entries())
    for (let warm = 0; warm < 5; warm += 1) await run(call, at * 5 + warm, false);
  const start = performance.now();
  for (let at = 0; at < rate * duration; at += 1) {
    const wait = start + (at * 1_000) / rate - performance.now();
    if (wait > 0) await pause(wait);
    const call = calls[at % calls.length];
    if (call) sent.push(run(call, 1_000 + at, true));
  }
  await Promise.all(sent);
  return { times, refused };
}

/** The medians of two calls, one after the other by turns: what else the machine does meets both. */
async function byTurns(
  caller: Caller,
  calls: readonly Call[],
  ...names: [string, string]
): Promise<[number, number]> {
  const two = names.map((name) => calls.find((call) => call.name === name));
  const times = two.map((): number[] => []);
  for (let turn = 0; turn < TURNS; turn += 1)
    for (const [at, call] of two.entries()) {
      const began = performance.now();
      if (call) answered(await call.send(caller, 1_000_000 + 2 * turn + at));
      times[at]?.push(performance.now() - began);
    }
  return [percentile(times[0] ?? [], 0.5), percentile(times[1] ?? [], 0.5)];
}

function ms(milliseconds: number): string {
  return `${milliseconds.toFixed(1)} ms`;
}

function figures(times: readonly number[]): string {
  const at = (share: number): string => percentile(times, share).toFixed(1).padStart(7);
  return `p50 ${at(0.5)}  p95 ${at(0.95)}  max ${at(1)} ms  (${times.length})`;
}

function ratio(one: number, other: number): string {
  return `${(one / other).toFixed(2)}×`;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`;
}
