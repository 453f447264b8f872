/**
 * `npm run load -- loyalty [--events N]` (after `npm run build`)
 *
 * Prints how many events a second loyalty consumes with 50 rules, and what an event costs it and PostgreSQL: when none
 * but one of the rules gives points for it, when five do, and when ten do. On a PostgreSQL, a Kafka and a loyalty of
 * its own; the events are all on the queue before it begins, each case in an organization of its own.
 */
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { descendantsOf } from '@customer-platform/kit/processes.ts';
import { newId, type MigrationClass } from '@customer-platform/database';
import { connectEventBus } from '@customer-platform/event-bus';
import {
  kafkaProbe,
  startTestApp,
  testDatabase,
  type Caller,
  type KafkaProbe,
  type TestApp,
  type TestDatabase,
} from '@customer-platform/testing';
import startTestServices, { endTestServices } from '../test/global-setup.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const CONTACTS = 5_000;
const RULES = 50;
const PUBLISHED_AT_ONCE = 2_000;
const EVENT = 'purchase_completed';

/** How many of the rules give points for an event; the others look at it and do not. */
const PAYING = [1, 5, 10];

type Root = Parameters<typeof startTestApp>[0]['root'];

/** One that gives points by the amount, or one for a shop where nothing is bought. */
function aRule(number: number, paying: boolean): object {
  const formula = { type: 'per_amount', currency: 'CLP', per: 1_000, points: 1 };
  const shop = { property: 'shop.code', op: 'eq', value: `S-${number}` };
  const large = { property: 'amount', op: 'gte', value: 100 };
  const cap = { points: 1_000_000, period: 'month', timezone: 'America/Santiago' };
  return {
    name: `Rule ${number}`,
    event: EVENT,
    formula,
    conditions: paying ? [large] : [large, shop],
    // Every other one has a cap, which must be counted for each contact.
    ...(number % 2 === 0 ? { max_per_contact: cap } : {}),
  };
}

async function createRules(caller: Caller, paying: number): Promise<void> {
  for (let number = 0; number < RULES; number += 1) {
    const { status } = await caller.post('/v1/loyalty/rules', aRule(number, number < paying));
    if (status !== 201) throw new Error(`A rule was answered ${status}.`);
  }
}

function purchaseOf(contactId: string) {
  const now = new Date().toISOString();
  const amount = 1_000 + Math.floor(Math.random() * 50_000);
  return {
    event_id: newId(),
    contact_id: contactId,
    external_id: contactId,
    event: EVENT,
    occurred_at: now,
    received_at: now,
    properties: { amount, currency: 'CLP', shop: { code: 'none' } },
  };
}

async function publish(
  probe: KafkaProbe,
  organizationId: string,
  contacts: readonly string[],
): Promise<void> {
  for (let at = 0; at < contacts.length; at += PUBLISHED_AT_ONCE) {
    const events = contacts.slice(at, at + PUBLISHED_AT_ONCE).map((contactId) => ({
      type: 'core.event.recorded.v1' as const,
      organizationId,
      data: purchaseOf(contactId),
    }));
    await probe.publish(...events);
  }
}

/** CPU seconds so far: of this process, which loyalty is part of, and of PostgreSQL. */
function cpu(): { loyalty: number; postgres: number } {
  const { user, system } = process.cpuUsage();
  const postgres = descendantsOf(process.pid).filter(({ name }) => name === 'postgres');
  const used = postgres.map(({ cpuSeconds, endedSeconds }) => cpuSeconds + endedSeconds);
  return { loyalty: (user + system) / 1e6, postgres: used.reduce((sum, one) => sum + one, 0) };
}

interface Bench {
  readonly producer: TestApp;
  readonly database: TestDatabase;
  readonly startWorker: () => Promise<TestApp>;
}

async function postedOf(database: TestDatabase, organizationId: string): Promise<number> {
  const sql = 'SELECT count(*)::int AS count FROM transactions WHERE organization_id = $1';
  return (await database.query<{ count: number }>(sql, [organizationId]))[0]?.count ?? 0;
}

/** So much of what is expected to be left is waited for between two looks, each of which reads all that is posted. */
const SHARE_WAITED = 0.7;
const SHORTEST_PAUSE_MS = 20;

/** Waits until so many transactions are there; answers how many there are. */
async function reached(count: number, posted: () => Promise<number>): Promise<number> {
  const [first, began] = [await posted(), performance.now()];
  for (let now = first; ; now = await posted()) {
    if (now >= count) return now;
    const perMs = (now - first) / (performance.now() - began);
    const left = perMs > 0 ? ((count - now) / perMs) * SHARE_WAITED : 0;
    await pause(Math.min(Math.max(left, SHORTEST_PAUSE_MS), 1_000));
  }
}

/** Runs a worker until so many transactions are there; answers seconds and CPU from the first of them on. */
async function consume({ database, startWorker }: Bench, organizationId: string, wanted: number) {
  const posted = (): Promise<number> => postedOf(database, organizationId);
  const before = await posted();
  const worker = await startWorker();
  const first = await reached(before + 1, posted);
  const [cpuBefore, began] = [cpu(), performance.now()];
  await reached(wanted, posted);
  const seconds = (performance.now() - began) / 1_000;
  const cpuAfter = cpu();
  await worker.close();
  return {
    seconds,
    transactions: wanted - first,
    loyalty: cpuAfter.loyalty - cpuBefore.loyalty,
    postgres: cpuAfter.postgres - cpuBefore.postgres,
  };
}

async function measure(bench: Bench, paying: number, events: number): Promise<void> {
  const organizationId = newId();
  const caller = bench.producer.as(organizationId, ['loyalty.rules.create']);
  await createRules(caller, paying);
  const contacts = Array.from({ length: CONTACTS }, () => newId());
  const probe = kafkaProbe(bench.producer);
  await publish(probe, organizationId, contacts);
  await consume(bench, organizationId, CONTACTS * paying);
  const buyers = Array.from({ length: events }, (_, at) => contacts[at % CONTACTS] as string);
  await publish(probe, organizationId, buyers);
  const total = (CONTACTS + events) * paying;
  const { seconds, transactions, loyalty, postgres } = await consume(bench, organizationId, total);
  const consumed = transactions / paying;
  const each = (spent: number): string => `${((spent / consumed) * 1e6).toFixed(0)} µs`;
  const rate = Math.round(consumed / seconds).toLocaleString('en');
  process.stdout.write(
    `  ${`${RULES} rules, ${paying} of them paying`.padEnd(28)} ${rate.padStart(7)} events/s   CPU for an event: loyalty ${each(loyalty)}, PostgreSQL ${each(postgres)}\n`,
  );
}

/** Measures all cases, one after the other, and prints a line of each. */
export async function measureLoyalty(events: number): Promise<void> {
  await startTestServices();
  const built = (file: string): Promise<unknown> => import(join(ROOT, 'apps/loyalty/dist', file));
  const { migrations } = (await built('migrations/index.js')) as { migrations: MigrationClass[] };
  const { LoyaltyModule: root } = (await built('loyalty.module.js')) as { LoyaltyModule: Root };
  const database = await testDatabase('loyalty', migrations);
  const start = (role: 'api' | 'worker'): Promise<TestApp> =>
    startTestApp({
      module: 'loyalty',
      root,
      database,
      connect: connectEventBus,
      env: { PROCESS_ROLE: role },
    });
  const producer = await start('api');
  process.stdout.write(`${events} events of ${CONTACTS} contacts\n`);
  try {
    for (const paying of PAYING) {
      await measure({ producer, database, startWorker: () => start('worker') }, paying, events);
    }
  } finally {
    await producer.close();
    await database.drop();
    if (globalThis.testServices) await endTestServices(globalThis.testServices);
  }
}
