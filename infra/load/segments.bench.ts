/**
 * `npm run load -- segments [--events N]` (after `npm run build`)
 *
 * Prints what segments cost: CPU of core and of PostgreSQL for an event, from the accepting of it until it is stored
 * and all segments are evaluated, with no segment, and with 10, 100 and 500 of them: when five ask for the event and
 * when all do; and how long after the end of a window, with nothing else going on, a contact has left. On a
 * PostgreSQL, a Kafka and a core of its own, each case in an organization of its own.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { descendantsOf } from '@customer-platform/kit/processes.ts';
import { newId } from '@customer-platform/database';
import { PERMISSIONS } from '@customer-platform/permissions';
import type { Caller, TestDatabase } from '@customer-platform/testing';
import { startBuiltCore } from './built-core.ts';
import { measureWindowLag } from './window-lag.ts';

const CONTACTS = 1_000;
const BATCH = 100;
const CONNECTIONS = 4;
const ASKING = 5;

interface Case {
  readonly segments: number;
  /** How many of them ask for the event that is sent. */
  readonly asking: number;
}

const CASES: readonly Case[] = [
  { segments: 0, asking: 0 },
  ...[10, 100, 500].map((segments) => ({ segments, asking: ASKING })),
  ...[10, 100, 500].map((segments) => ({ segments, asking: segments })),
];

/** A rule as they are written: some events of at least an amount within some days, of contacts on a plan or not. */
function aRule(number: number, event: string): object {
  const where = [{ property: 'amount', op: 'gte', value: (number % 50) * 1_000 }];
  const leaf = {
    event,
    where,
    count: { op: 'gte', value: 1 + (number % 5) },
    within: `P${1 + (number % 60)}D`,
  };
  return { all: [leaf, { not: { attribute: 'attributes.plan', op: 'eq', value: `plan-${number % 7}` } }] };
}

async function createSegments(caller: Caller, { segments, asking }: Case): Promise<void> {
  for (let number = 0; number < segments; number += 1) {
    const rule = aRule(number, number < asking ? 'invoice_paid' : `event_${number}`);
    const { status } = await caller.post('/v1/core/segments', { name: `Segment ${number}`, rule });
    if (status !== 201) throw new Error(`A segment was answered ${status}.`);
  }
}

/** Sends so many events, in batches, and waits until nothing of them is left to do. */
async function send(
  caller: Caller,
  database: TestDatabase,
  organizationId: string,
  events: number,
): Promise<void> {
  const stored = async (): Promise<number> => {
    const sql = 'SELECT count(*)::int AS count FROM events WHERE organization_id = $1';
    return (await database.query<{ count: number }>(sql, [organizationId]))[0]?.count ?? 0;
  };
  const wanted = (await stored()) + events;
  let left = events;
  const one = async (): Promise<void> => {
    for (; left > 0;) {
      left -= BATCH;
      const { status } = await caller.post('/v1/core/batch', {
        events: Array.from({ length: BATCH }, anEvent),
      });
      if (status !== 202) throw new Error(`A batch was answered ${status}.`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, one));
  while ((await stored()) < wanted || (await busy(database, organizationId))) await pause(50);
}

async function busy(database: TestDatabase, organizationId: string): Promise<boolean> {
  const [row] = await database.query<{ busy: boolean }>(
    `SELECT EXISTS (SELECT FROM segment_changes WHERE organization_id = $1)
         OR EXISTS (SELECT FROM segment_builds WHERE organization_id = $1) AS busy`,
    [organizationId],
  );
  return row?.busy ?? false;
}

function anEvent(): object {
  return {
    event: 'invoice_paid',
    external_id: `person-${Math.floor(Math.random() * CONTACTS)}`,
    idempotency_key: newId(),
    occurred_at: new Date().toISOString(),
    properties: { amount: Math.floor(Math.random() * 50_000), currency: 'CLP' },
  };
}

/** CPU seconds so far: of this process, which core is part of, and of PostgreSQL. */
function cpu(): { core: number; postgres: number } {
  const { user, system } = process.cpuUsage();
  const postgres = descendantsOf(process.pid).filter(({ name }) => name === 'postgres');
  const used = postgres.map(({ cpuSeconds, endedSeconds }) => cpuSeconds + endedSeconds);
  return { core: (user + system) / 1e6, postgres: used.reduce((sum, one) => sum + one, 0) };
}

/** Measures all cases, one after the other, and prints a line of each. */
export async function measureSegments(events: number): Promise<void> {
  const { app, database, end } = await startBuiltCore();
  process.stdout.write('CPU for an event, in µs (core with the sending; PostgreSQL)\n');
  const rate_limits = { key_per_second: 100_000, organization_per_second: 100_000 };
  const permissions = PERMISSIONS.filter((permission) => permission.startsWith('core.'));
  for (const each of [CASES[0], ...CASES]) {
    if (!each) continue;
    const organizationId = newId();
    const caller = app.as(organizationId, permissions, { rate_limits });
    await createSegments(caller, each);
    await send(caller, database, organizationId, CONTACTS);
    const before = cpu();
    await send(caller, database, organizationId, events);
    const after = cpu();
    const of = (name: 'core' | 'postgres'): string =>
      (((after[name] - before[name]) / events) * 1e6).toFixed(0).padStart(6);
    const what = `${each.segments} segments, ${each.asking} ask for it`;
    process.stdout.write(`  ${what.padEnd(34)} ${of('core')} ${of('postgres')}\n`);
  }
  const quiet = newId();
  await measureWindowLag(app.as(quiet, permissions, { rate_limits }), database, quiet);
  await end();
}
