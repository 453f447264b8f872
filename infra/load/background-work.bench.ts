/**
 * `npm run load -- background-work [--rows N]`: what is done behind an answer to a million rows of one organization: a
 * rule that a million sends wait for is disabled, while one contact among them is erased; an endpoint that is to be told
 * of a million events is disabled and purged; a million reports are older than they are kept. Messaging is killed in the
 * middle of each and started again, and another organization's mail goes on all the while. It prints how long each
 * took, the longest statement and transaction, the neighbour's times, and what the kill left; it ends with 1 where a row
 * was left over or done twice, or a mail of the neighbour's was lost. On a PostgreSQL, a Kafka and a messaging of its own.
 */
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { newId, type MigrationClass } from '@customer-platform/database';
import { connectEventBus } from '@customer-platform/event-bus';
import {
  kafkaProbe,
  startTestApp,
  startTestProcess,
  testDatabase,
  TestRegistry,
  type Caller,
  type TestApp,
  type TestDatabase,
  type TestProcess,
} from '@customer-platform/testing';
import startTestServices, { endTestServices } from '../test/global-setup.ts';
import { Watch } from './background-work/longest.ts';
import { Neighbour } from './background-work/neighbour.ts';
import { ERASED, fill, type Seeded } from './background-work/rows.ts';

type Say = (line: string) => void;
type Root = Parameters<typeof startTestApp>[0]['root'];

const ROOT = resolve(import.meta.dirname, '../..');
const DONE_WITHIN_MS = 240_000;
const ALONE_S = 5;

interface Bench extends Seeded {
  readonly database: TestDatabase;
  readonly messaging: TestProcess;
  readonly producer: TestApp;
  /** Of the organization with so many rows. */
  readonly api: Caller;
  readonly watch: Watch;
  readonly neighbour: Neighbour;
  readonly rows: number;
  readonly say: Say;
}

/** A piece of work: how it is asked for, and how much of it is left. */
interface Work {
  readonly name: string;
  readonly begin: () => Promise<unknown>;
  /** Counts what is left. */
  readonly left: string;
  /** Counts what is wrong once nothing is left. */
  readonly wrong: string;
}

/** Runs it and prints what came of it. */
export async function runBackgroundWork(rows: number, say: Say): Promise<void> {
  await startTestServices();
  const closing: (() => Promise<unknown>)[] = [
    async () => globalThis.testServices && endTestServices(globalThis.testServices),
  ];
  try {
    await measureAll(await prepare(rows, say, closing));
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

async function prepare(rows: number, say: Say, closing: (() => Promise<unknown>)[]): Promise<Bench> {
  const built = (file: string): Promise<unknown> => import(join(ROOT, 'apps/messaging/dist', file));
  const { migrations } = (await built('migrations/index.js')) as { migrations: MigrationClass[] };
  const { MessagingModule: root } = (await built('messaging.module.js')) as { MessagingModule: Root };
  const registry = await TestRegistry.start();
  closing.push(() => registry.close());
  const database = await testDatabase('messaging', migrations);
  closing.push(() => database.drop());
  const app = { module: 'messaging', registry, database } as const;
  const producer = await startTestApp({
    ...app,
    root,
    connect: connectEventBus,
    env: { PROCESS_ROLE: 'api' },
  });
  closing.push(() => producer.close());
  const messaging = await startTestProcess(app);
  closing.push(() => messaging.stop());
  const seeded = await rulesOf(messaging);
  const began = performance.now();
  await fill(database.adminUrl, rows, seeded);
  say(`${rows} sends, ${rows} deliveries and ${rows} reports written in ${secondsSince(began)}`);
  const watch = await Watch.begin(database.adminUrl, 'messaging_app');
  closing.push(() => watch.end());
  const neighbour = await Neighbour.begin(
    messaging.as(newId(), ['messaging.channels.update', 'messaging.sends.create']),
  );
  closing.push(() => neighbour.end());
  return { database, messaging, producer, watch, neighbour, rows, say, ...seeded };
}

/** The organization with its rule and its endpoint. */
async function rulesOf(messaging: TestProcess): Promise<Seeded & { api: Caller }> {
  const organizationId = newId();
  const api = messaging.as(organizationId, [
    'messaging.templates.create',
    'messaging.routing.update',
    'messaging.webhooks.create',
    'messaging.webhooks.update',
    'messaging.webhooks.delete',
    'messaging.webhooks.purge',
    'core.contacts.read',
  ]);
  const template = await made(api, 'templates', {
    name: 'Work',
    channel: 'email',
    default_locale: 'en',
    locales: { en: { subject: 'Work', text: 'Work.' } },
  });
  const ruleId = await made(api, 'event-routing', {
    name: 'Work',
    event_type: 'core.event.recorded',
    event_name: 'worked',
    channel: 'email',
    template_id: template,
    recipient: { from: 'contact' },
  });
  const endpoint = { name: 'Work', url: 'http://127.0.0.1:9/', events: ['core.contact.updated'] };
  return { organizationId, ruleId, endpointId: await made(api, 'webhook-endpoints', endpoint), api };
}

async function made(api: Caller, resource: string, body: object): Promise<string> {
  const answer = await api.post<{ id: string }>(`/v1/messaging/${resource}`, body);
  if (answer.status !== 201) throw new Error(`${resource}: ${JSON.stringify(answer.body)}`);
  return answer.body.id;
}

async function measureAll(bench: Bench): Promise<void> {
  const { api, organizationId, ruleId, endpointId, producer, neighbour, rows, say } = bench;
  await pause(ALONE_S * 1_000);
  say(`the neighbour’s mail alone: ${timesOf(await neighbour.take())}`);
  const endpoint = `/v1/messaging/webhook-endpoints/${endpointId}`;
  const canceled = `organization_id = '${organizationId}' AND source_id = '${ruleId}'`;
  await measure(bench, {
    name: `a rule with ${rows} waiting sends is disabled, and a contact among them erased`,
    begin: async () => {
      await ok(api.patch(`/v1/messaging/event-routing/${ruleId}`, { enabled: false }));
      await kafkaProbe(producer).publish({
        type: 'core.erasure.requested.v1',
        organizationId,
        data: { subject_request_id: newId(), contact_id: ERASED },
      });
    },
    left: `SELECT (SELECT count(*) FROM sends WHERE due_at IS NOT NULL AND ${canceled})::int
         + (SELECT count(*) FROM sends WHERE organization_id = '${organizationId}' AND contact_id = '${ERASED}')::int AS n`,
    wrong: `SELECT (SELECT count(*) FROM (
              SELECT FROM send_history WHERE organization_id = '${organizationId}' AND state = 'canceled'
               GROUP BY send_id HAVING count(*) > 1) AS twice)::int
         + ${String(rows)} - (SELECT count(*) FROM send_history
              WHERE organization_id = '${organizationId}' AND state = 'canceled')::int
         + (SELECT count(*) FROM send_payloads WHERE organization_id = '${organizationId}')::int AS n`,
  });
  await measure(bench, {
    name: `an endpoint with ${rows} waiting deliveries is disabled and purged`,
    begin: async () => {
      await ok(api.patch(endpoint, { enabled: false }));
      await ok(api.delete(endpoint));
      await ok(api.delete(`${endpoint}/purge`));
    },
    left: 'SELECT count(*)::int AS n FROM webhook_deliveries',
    wrong: 'SELECT count(*)::int AS n FROM background_jobs',
  });
  await measure(bench, {
    name: `${rows} reports are older than they are kept`,
    // It looks when it starts, and every hour.
    begin: () => restart(bench),
    left: 'SELECT count(*)::int AS n FROM provider_reports',
    wrong: 'SELECT 0 AS n',
  });
}

async function measure(bench: Bench, work: Work): Promise<void> {
  const { watch, neighbour, say } = bench;
  say(`\n${work.name}`);
  const all = await count(bench, work.left);
  watch.take();
  const began = performance.now();
  await work.begin();
  say(`  answered after ${secondsSince(began)}; ${all} rows to go`);
  let killed = false;
  let missing = 0;
  let left = all;
  for (const deadline = Date.now() + DONE_WITHIN_MS; left > 0 && Date.now() < deadline; await pause(500)) {
    left = await count(bench, work.left);
    if (killed || left > all / 2) continue;
    killed = true;
    const times = await neighbour.take();
    missing += times.missing;
    say(`  the neighbour’s mail so far: ${timesOf(times)}`);
    left = await count(bench, work.left);
    await restart(bench);
    say(`  kill -9 with ${left} rows to go; ${await count(bench, work.left)} after the new start`);
  }
  const { statementMs, transactionMs, statement } = watch.take();
  const wrong = await count(bench, work.wrong);
  say(`  done in ${secondsSince(began)}; ${left} rows left over, ${wrong} wrong`);
  say(
    `  longest transaction ${transactionMs.toFixed(0)} ms, longest statement ${statementMs.toFixed(0)} ms:`,
  );
  say(`    ${statement}`);
  const times = await neighbour.take();
  // What messaging had in its hands when it was killed is free again after 30 s.
  say(`  the neighbour’s mail since the kill: ${timesOf(times)}`);
  if (left > 0 || wrong > 0 || missing + times.missing > 0) process.exitCode = 1;
}

async function restart({ messaging }: Bench): Promise<void> {
  await messaging.crash();
  await messaging.restart();
}

async function count({ database }: Bench, sql: string): Promise<number> {
  return (await database.query<{ n: number }>(sql))[0]?.n ?? NaN;
}

async function ok(call: Promise<{ status: number; body: unknown }>): Promise<void> {
  const { status, body } = await call;
  if (status >= 300) throw new Error(`It was answered ${status}: ${JSON.stringify(body)}`);
}

const secondsSince = (began: number): string => `${((performance.now() - began) / 1_000).toFixed(1)} s`;

function timesOf({ sent, p50, p95, max, missing }: Awaited<ReturnType<Neighbour['take']>>): string {
  const ms = (value: number): string => `${value.toFixed(0)} ms`;
  return `${sent} mails, p50 ${ms(p50)}, p95 ${ms(p95)}, max ${ms(max)}, ${missing} lost`;
}
