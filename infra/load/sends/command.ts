/**
 * `npm run load -- sends [--rate N] [--duration S] [--backlog N]`: sends at a steady rate through the gateway, mail
 * handed to a local SMTP server, addresses suppressed meanwhile; then a backlog that drains, and what nodemailer alone
 * reaches against the same server. Fails where a mail is lost, doubled or not asked for, or a call answered otherwise.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { processesOf } from '@customer-platform/kit/app-processes.ts';
import { pointMailAt } from '@customer-platform/kit/mail-settings.ts';
import type { Platform } from '@customer-platform/kit/platform.ts';
import { adminOf } from '@customer-platform/kit/public-api.ts';
import { Sink } from '@customer-platform/kit/sink.ts';
import { callLines, figuresOf } from '../management/report.ts';
import { runMixed } from '../mixed-calls.ts';
import { leaveBacklog } from './backlog.ts';
import { arrivalsOf, judgeArrivals } from './arrivals.ts';

/** What is loaded, and how. */
interface SendsLoad {
  platform: Platform;
  k6: string;
  rate: number;
  duration: number;
  backlog: number;
}

type Say = (line: string) => void;
/** p95 that are aimed at (the specification of messaging, "Speed"); printed beside what was reached. */
const AIM_MS = 75;
const SUPPRESSIONS_PER_S = 10;
const SETTLED_WITHIN_MS = 120_000;
/** A backlog that drains more slowly than this is taken for stuck. */
const SLOWEST_DRAIN_PER_S = 20;
/** As many connections as messaging may have to a server of an organization. */
const CONNECTIONS = 10;
const FEWEST_ALONE = 2_000;
const SAMPLE_MS = 250;
/** States of a send that can still be handed off. */
const OPEN = ['accepted', 'rendering', 'gated', 'dispatching'] as const;
const execute = promisify(execFile);

/** Runs it and prints what came of it. */
export async function runSends(load: SendsLoad, say: Say): Promise<void> {
  const sink = new Sink(0);
  const port = await sink.listen();
  const restore = await pointMailAt(load.platform, port);
  try {
    await measureRate(load, sink, say);
    const drained = load.backlog > 0 ? await measureBacklog(load, sink, say) : undefined;
    const alone = await nodemailerAlone(port, Math.max(FEWEST_ALONE, load.backlog / 5));
    say(`nodemailer alone, ${CONNECTIONS} pooled connections, same server: ${alone.toFixed(0)} mails/s`);
    if (drained !== undefined)
      say(`  the backlog drained at ${(drained / alone).toFixed(2)} times that rate`);
  } finally {
    await restore();
    await sink.close();
  }
}

/** CPU seconds that messaging has used. */
const cpuOf = (platform: Platform): number =>
  processesOf(platform, 'messaging').reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);

async function measureRate(load: SendsLoad, sink: Sink, say: Say): Promise<void> {
  const { platform, k6, rate, duration } = load;
  say(`sends: ${rate}/s for ${duration} s, and ${SUPPRESSIONS_PER_S}/s whose address is suppressed at once`);
  const run = Date.now().toString(36);
  const { metrics, dropped, failed } = await runMixed({
    k6,
    script: join(import.meta.dirname, 'sends.k6.js'),
    target: platform.base_url,
    key: platform.admin_key,
    rate,
    duration,
    sample: {},
    more: { SUPPRESSIONS: String(SUPPRESSIONS_PER_S), RUN: run },
  });
  for (const line of callLines(figuresOf(metrics), AIM_MS)) say(line);
  say(`  ${dropped} dropped, ${failed} not answered as they should be`);
  await settled(platform);
  const accepted = (call: string): number => metrics[`checks{call:${call}}`]?.values['passes'] ?? 0;
  const arrivals = arrivalsOf(sink.handOffs, run);
  const verdict = judgeArrivals(arrivals, accepted('send'), accepted('send to be suppressed'));
  for (const line of verdict.lines) say(line);
  if (failed + dropped + verdict.wrong > 0) process.exitCode = 1;
}

/** Waits until no send can still be handed off. */
async function settled(platform: Platform): Promise<void> {
  const admin = await adminOf(platform);
  const params = { query: { 'state[in]': [...OPEN], limit: 1 } };
  for (const deadline = Date.now() + SETTLED_WITHIN_MS; Date.now() < deadline; await pause(SAMPLE_MS)) {
    if ((await admin.GET('/v1/messaging/sends', { params })).data.data.length === 0) return;
  }
  throw new Error('Sends are still open after two minutes.');
}

/** @returns mails a second */
async function measureBacklog({ platform, backlog }: SendsLoad, sink: Sink, say: Say): Promise<number> {
  const memory = (): number =>
    processesOf(platform, 'messaging').reduce((sum, { residentMiB }) => sum + residentMiB, 0);
  const before = memory();
  const prefix = await leaveBacklog(platform, backlog);
  const began = performance.now();
  const cpu = cpuOf(platform);
  const known = sink.handOffs.length;
  let peak = before;
  const deadline = Date.now() + SETTLED_WITHIN_MS + (backlog / SLOWEST_DRAIN_PER_S) * 1_000;
  while (sink.handOffs.length - known < backlog && Date.now() < deadline) {
    await pause(SAMPLE_MS);
    peak = Math.max(peak, memory());
  }
  const seconds = (performance.now() - began) / 1_000;
  await settled(platform);
  const addresses = sink.handOffs.map(({ address }) => address).filter((to) => to.startsWith(prefix));
  const different = new Set(addresses).size;
  say(`backlog of ${backlog}: drained in ${seconds.toFixed(1)} s, ${(backlog / seconds).toFixed(0)} mails/s`);
  say(`  ${backlog - different} lost, ${addresses.length - different} doubled`);
  const mib = (value: number): string => `${value.toFixed(0)} MiB`;
  const perSend = ((cpuOf(platform) - cpu) / backlog) * 1_000;
  say(`  messaging used ${perSend.toFixed(1)} ms of CPU for a mail`);
  say(`  messaging’s memory: ${mib(before)} before, ${mib(peak)} at its peak, ${mib(memory())} after`);
  if (different !== backlog || addresses.length !== different) process.exitCode = 1;
  return backlog / seconds;
}

/** In a process of its own: it shares this one's server, not its core. */
async function nodemailerAlone(port: number, count: number): Promise<number> {
  const script = join(import.meta.dirname, 'nodemailer-alone.ts');
  const numbers = [port, Math.round(count), CONNECTIONS].map(String);
  const { stdout } = await execute(process.execPath, [script, ...numbers]);
  return Number(stdout);
}
