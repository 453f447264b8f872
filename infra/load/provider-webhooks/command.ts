/**
 * `npm run load -- provider-webhooks [--rate N] [--duration S]`: what a provider reports on messages it has taken, signed,
 * at a steady rate, repeats and altered calls among them. Afterwards each send must be in the highest state that was
 * reported of it, and its history hold each report once.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Channel, setChannels } from '@customer-platform/kit/channel-settings.ts';
import type { Platform } from '@customer-platform/kit/platform.ts';
import { adminOf } from '@customer-platform/kit/public-api.ts';
import { PushProvider } from '@customer-platform/kit/push-provider.ts';
import { type CallFigures, callLines, figuresOf } from '../management/report.ts';
import { runMixed } from '../mixed-calls.ts';

/** What is loaded, and how. */
interface ReportsLoad {
  platform: Platform;
  k6: string;
  rate: number;
  duration: number;
}

/** p95 that is aimed at (the specification of messaging, "Speed"). */
const AIM_MS = 75;
/** Out of order: a report that comes late changes nothing. */
const EVENTS = ['opened', 'delivered', 'clicked'];
const RISING = ['sent', 'delivered', 'opened', 'clicked'];
/** Of each message's reports this many times over: the last time all of them are repeats. */
const ROUNDS = 2;
const TOGETHER = 16;
const TAKEN_WITHIN_MS = 120_000;
/** Histories that are read afterwards. */
const SAMPLED = 50;

/** Runs it and prints what came of it. */
export async function runProviderWebhooks(load: ReportsLoad, say: (line: string) => void): Promise<void> {
  const { platform, k6, rate, duration } = load;
  const provider = new PushProvider(`load-${Date.now().toString(36)}`);
  const secret = `whsec_${randomBytes(24).toString('base64')}`;
  const push: Channel = { enabled: true, provider: 'http', url: await provider.listen(), secret };
  const set = await setChannels(platform, { push: { ...push, max_per_second: 1_000 } });
  try {
    const count = Math.max(1, Math.floor((rate * duration) / (EVENTS.length * ROUNDS)));
    say(`provider-webhooks: ${count} messages are sent …`);
    await sendAll(platform, provider, count);
    const url = pathOf(platform, set.channels['push']?.['webhook_url']);
    const messageIds = [...provider.messageIds.values()];
    say(`${rate} reports/s on them for ${duration} s`);
    const { metrics, dropped, failed } = await runMixed({
      k6,
      script: join(import.meta.dirname, 'reports.k6.js'),
      target: platform.base_url,
      key: '',
      rate,
      duration,
      sample: { url, secret, messageIds, events: EVENTS },
    });
    for (const line of callLines(figuresOf(metrics), AIM_MS)) say(line);
    const wrong = await wrongSends(platform, [...provider.messageIds.keys()], figuresOf(metrics));
    say(`  ${dropped} dropped, ${failed} not answered as they should be`);
    say(
      `  ${count} sends: ${wrong.length} not in the highest state reported, or with a report not once in their history`,
    );
    for (const line of wrong.slice(0, 10)) say(`    ${line}`);
    if (dropped + failed + wrong.length > 0) process.exitCode = 1;
  } finally {
    await set.restore();
    await provider.close();
  }
}

/** The webhook's address as it is reached from here. */
function pathOf(platform: Platform, webhookUrl: unknown): string {
  const { pathname, search } = new URL(String(webhookUrl));
  return `${platform.base_url}${pathname}${search}`;
}

async function sendAll(platform: Platform, provider: PushProvider, count: number): Promise<void> {
  const run = randomBytes(8).toString('hex');
  const admin = await adminOf(platform);
  let next = 0;
  const work = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) {
      const body = {
        channel: 'push' as const,
        recipient: { address: `${run}-${n}` },
        content: { title: 'x', body: 'y' },
      };
      await admin.POST('/v1/messaging/sends', { body, idempotencyKey: `${run}-${n}` });
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, work));
  const deadline = Date.now() + TAKEN_WITHIN_MS;
  while (provider.messageIds.size < count) {
    if (Date.now() > deadline)
      throw new Error(`Only ${provider.messageIds.size} of ${count} messages were sent.`);
    await pause(100);
  }
}

/** What was reported of the message at a place, of so many calls that went from message to message. */
function reportedOf(place: number, messages: number, calls: number): string[] {
  return EVENTS.slice(0, Math.max(0, Math.ceil((calls - place) / messages)));
}

/** All of them by their state; of some, the history. */
async function wrongSends(
  platform: Platform,
  ids: readonly string[],
  figures: readonly CallFigures[],
): Promise<string[]> {
  const calls = figures.find(({ name }) => name === 'report')?.requests ?? 0;
  const reported = new Map(ids.map((id, place) => [id, reportedOf(place, ids.length, calls)]));
  const wrong: string[] = [];
  const admin = await adminOf(platform);
  for (let from = 0; from < ids.length; from += 100) {
    const some = ids.slice(from, from + 100);
    const query = { 'id[in]': some, limit: 100 };
    const { data: sends } = await admin.GET('/v1/messaging/sends', { params: { query } });
    const states = new Map<string, string>(sends.data.map(({ id, state }) => [id, state]));
    for (const id of some) {
      const highest = RISING.findLast((state) => state === 'sent' || reported.get(id)?.includes(state));
      if (states.get(id) !== highest) wrong.push(`${id} is ${states.get(id)}, not ${highest}`);
    }
  }
  for (const id of ids.slice(0, SAMPLED)) {
    const params = { path: { id }, query: { limit: 100 } };
    const { data: history } = await admin.GET('/v1/messaging/sends/{id}/history', { params });
    const steps = history.data.map(({ state }): string => state).filter((state) => EVENTS.includes(state));
    if (steps.toSorted().join() !== reported.get(id)?.toSorted().join())
      wrong.push(`${id} has the steps ${steps.join(', ')}, not ${reported.get(id)?.join(', ')}`);
  }
  return wrong;
}
