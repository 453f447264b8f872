/**
 * `npm run rolling -- [--rate N] [--workers N] [--partitions N] [--only NAME,…] [--keep]`
 *
 * Restarts every process of a platform of its own, one after the other, as a release does, under load: `track` at
 * `--rate` a second, reads of every module beside it. Each app stands behind an address like a Kubernetes Service; the
 * new instance is ready before the old one gets SIGTERM. Core has `--workers` workers on `--partitions` partitions, so
 * that each restart of one deals the partitions out twice.
 *
 * Prints for each restart how many requests failed, the slowest answer, how long an event waited at most from its 202
 * until it was stored, had its points and its mail, and for how long nothing at all was stored. Ends with exit code 1 if
 * a request failed, an event was lost or doubled, or a process did not end by itself.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { pointMailAt } from '@customer-platform/kit/mail-settings.ts';
import type { Platform as Access } from '@customer-platform/kit/platform.ts';
import { Sink } from '@customer-platform/kit/sink.ts';
import { SteadyClient } from '@customer-platform/kit/steady-client.ts';
import { settled } from '@customer-platform/kit/settled.ts';
import { judge } from '@customer-platform/kit/verdict.ts';
import { Fleet } from './fleet.ts';
import { type Effects, type Window, figuresOf, readEffects, tableOf } from './figures.ts';
import { OwnServices } from './own-services.ts';
import { SteadyReaders } from './readers.ts';

const { values } = parseArgs({
  options: {
    rate: { type: 'string', default: '300' },
    workers: { type: 'string', default: '4' },
    partitions: { type: 'string', default: '24' },
    only: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});
const say = (line: string): void =>
  void process.stdout.write(`${new Date().toISOString().slice(11, 19)}  ${line}\n`);

const READS_PER_S = 20;
/** More than any well machine ever has open at these rates. */
const OPEN_AT_MOST = 400;
/** How long is looked at without any restart, to compare with. */
const UNDISTURBED_MS = 6_000;
/** A restart is over when its consumers' groups have come to rest again. */
const AFTER_MS = 2_000;

async function main(): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), 'customer-platform-rolling-'));
  const services = new OwnServices(data, say);
  const closing: (() => Promise<void>)[] = [() => services.stop()];
  process.once('SIGINT', () => process.exit(130));
  process.once('SIGTERM', () => process.exit(143));
  try {
    say(`starting PostgreSQL, Kafka and the apps in ${data} …`);
    await services.start();
    const sink = new Sink(20);
    closing.push(() => sink.close());
    const env = { ...process.env, KAFKA_PARTITIONS: values.partitions };
    const fleet = new Fleet(services.wiring, services.data, services.guardian, env);
    closing.push(() => fleet.stop());
    await fleet.start(Number(values.workers));
    const access = await services.seed();
    await pointMailAt(access, await sink.listen());
    await restartAll(fleet, access, sink, services.databaseUrl('core'));
  } finally {
    for (const close of closing.reverse()) await close();
    if (!values.keep) rmSync(data, { recursive: true, force: true });
  }
}

async function restartAll(fleet: Fleet, access: Access, sink: Sink, coreDatabase: string): Promise<void> {
  const client = new SteadyClient(access);
  await client.introduce();
  const readers = new SteadyReaders(access);
  client.start(Number(values.rate), OPEN_AT_MOST);
  readers.start(READS_PER_S);
  await sleep(AFTER_MS);
  const windows = [await windowOf('(nothing)', () => sleep(UNDISTURBED_MS))];
  const wanted = values.only?.split(',');
  for (const instance of fleet.instances) {
    if (wanted && !wanted.includes(instance.name)) continue;
    const window = await windowOf(instance.name, async () => {
      const restart = await fleet.replace(instance);
      await sleep(AFTER_MS);
      return restart;
    });
    say(`${instance.name}: the new one was ready, the old one ended ${ending(window)}`);
    windows.push(window);
  }
  await Promise.all([client.finish(), readers.finish()]);
  say('all restarted; waiting until everything has had its effect');
  const counts = await settled(access);
  const effects = await readEffects(access, coreDatabase);
  const promises = {
    events: client.log,
    postings: { posted: new Map(), refused: new Set<string>(), hiccups: new Map() },
  };
  const verdict = await judge(access, promises, sink.handOffs);
  report(windows, { client, readers, effects });
  const { accepted, stored, duplicates, dead_lettered: dead, pending } = counts;
  say(
    `accepted ${accepted}, stored ${stored}, duplicates ${duplicates}, dead-lettered ${dead}, pending ${pending}`,
  );
  for (const line of [...verdict.lost, ...verdict.doubled].slice(0, 20)) say(`  ${line}`);
  say(`${verdict.lost.length} lost, ${verdict.doubled.length} doubled (${verdict.inDoubt} mails in doubt)`);
  if (verdict.lost.length + verdict.doubled.length + pending > 0) process.exitCode = 1;
}

async function windowOf(
  name: string,
  work: () => Promise<Omit<Window, 'name' | 'from' | 'to'> | void>,
): Promise<Window> {
  const from = Date.now();
  const result = await work();
  return { name, from, to: Date.now(), ...result };
}

function ending({ endedWithinMs = 0, orderly = true }: Window): string {
  const seconds = (endedWithinMs / 1_000).toFixed(1);
  return orderly ? `by itself ${seconds} s after its signal` : `IN DISORDER after ${seconds} s`;
}

function report(
  windows: readonly Window[],
  { client, readers, effects }: { client: SteadyClient; readers: SteadyReaders; effects: Effects },
): void {
  const rows = windows.map((window) => figuresOf(window, client.log, readers.reads, effects));
  for (const line of ['', ...tableOf(rows), '']) process.stdout.write(`${line}\n`);
  const failures = [...client.log.hiccups]
    .map(([kind, times]) => `${kind}: ${times}`)
    .concat(readers.reads.flatMap(({ failure }) => failure ?? []));
  const requests = client.log.attempts.length + readers.reads.length;
  say(`${requests} requests, ${failures.length === 0 ? '0 failed' : `failed: ${failures.join('; ')}`}`);
  if (client.log.notSent > 0)
    say(`${client.log.notSent} were not sent: this machine is too slow, or too busy, for ${values.rate}/s`);
  const restarted = rows.slice(1);
  const longest = Math.max(0, ...restarted.map(({ stored }) => stored));
  say(`longest stand-still of a partition, as its events saw it: ${longest.toFixed(0)} ms`);
  if (failures.length > 0 || restarted.some(({ orderly }) => orderly === false)) process.exitCode = 1;
}

await main().catch((error: Error) => {
  process.stderr.write(`${error.stack ?? error.message}\n`);
  process.exit(1); // its clients would go on
});
