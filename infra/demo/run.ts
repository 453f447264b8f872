/**
 * `npm run demo`: real input through the whole platform. Sends the webhook payloads of a code host and a shop's
 * purchases, adjusts, spends and reverses points and lets some expire, then prints the conservation line and one customer's
 * timeline. Two hundred people get a campaign. Somebody else, whose vehicle is insured, gets an archive of what is held of
 * them, and is erased with four receipts.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Platform, drained, runningPlatform } from '@customer-platform/kit/platform.ts';
import { adminOf } from '@customer-platform/kit/public-api.ts';
import { showCampaign } from './campaign.ts';
import { movePoints } from './points.ts';
import { ProgressBar } from '@customer-platform/replay/progress-bar.ts';
import { replay } from '@customer-platform/replay/replay.ts';
import { renderTimeline } from './print-timeline.ts';
import { showRights } from './rights.ts';
import { shopEvents } from './shop-events.ts';
import { type EventLine, webhookEvents } from './webhook-events.ts';

const root = resolve(import.meta.dirname, '../..');
const { values } = parseArgs({ options: { data: { type: 'string', default: join(root, '.data') } } });
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const EFFECTS_WITHIN_MS = 15_000;

async function main(): Promise<void> {
  const platform = await runningPlatform(values.data);
  mkdirSync(join(values.data, 'demo'), { recursive: true });
  const run = new Date().toISOString().slice(0, 19).replaceAll(/\D/g, '');
  await feed(platform, 'webhooks of a code host', 'webhooks.jsonl', webhookEvents());
  await feed(platform, 'purchases of a shop', `shop-${run}.jsonl`, shopEvents(run, Date.now()));
  const counts = await drained(platform, 60);
  const { accepted, stored, duplicates, dead_lettered: dead, pending, refused } = counts;
  say(
    `\naccepted ${accepted} = stored ${stored} + duplicates ${duplicates} + dead-lettered ${dead} + pending ${pending}   (refused ${refused})`,
  );
  await showTimeline(platform, 'shop-javiera', run);
  const admin = await adminOf(platform);
  await showCampaign({ platform, admin, run, say });
  const file = join(values.data, 'demo', `access-${run}.zip`);
  await showRights({ platform, admin, run, file, say });
  if (platform.console_url !== undefined) say(`\nThe Console shows all of it: ${platform.console_url}`);
}

async function feed(platform: Platform, title: string, name: string, events: EventLine[]): Promise<void> {
  const file = join(values.data, 'demo', name);
  writeFileSync(file, events.map((event) => JSON.stringify(event)).join('\n'));
  say(`\n${events.length} events: ${title} (${file})`);
  const bar = new ProgressBar(events.length);
  const account = await replay({
    file,
    to: { baseUrl: platform.base_url, key: platform.ingestion_key },
    progressFile: `${file}.progress.json`,
    refusedFile: `${file}.refused.jsonl`,
    onProgress: ({ settled_line: line }, note) => bar.show(line, note),
  }).finally(() => bar.end());
  say(`  sent ${account.sent}, accepted ${account.accepted}, refused ${refusals(account.refused)}`);
}

function refusals(counts: Record<string, number>): string {
  const said = Object.entries(counts).map(([code, count]) => `${count} (${code})`);
  return said.length > 0 ? said.join(', ') : 'none';
}

/** Waits until the run's purchase has its points and its mail, then prints the customer's whole timeline. */
async function showTimeline(platform: Platform, externalId: string, run: string): Promise<void> {
  const admin = await adminOf(platform);
  const query = { external_id: externalId, limit: 50 };
  const { data: events } = await admin.GET('/v1/core/events', { params: { query } });
  const purchase = events.data.find(({ idempotency_key: key }) => key === `${run}-${externalId}-bought`);
  if (purchase === undefined) throw new Error(`The purchase of ${externalId} is not stored.`);
  const path = { id: purchase.contact_id };
  const timelineOf = async (wanted: { correlation_id: string } | { limit: number }) =>
    (await admin.GET('/v1/crm/contacts/{id}/timeline', { params: { path, query: wanted } })).data;
  const deadline = Date.now() + EFFECTS_WITHIN_MS;
  for (;;) {
    const chain = await timelineOf({ correlation_id: purchase.id });
    const types = new Set(chain.data.map(({ type }) => type));
    if (types.has('transaction') && types.has('send')) break;
    if (Date.now() > deadline)
      throw new Error(`After 15 s the purchase has led to ${[...types].join(', ')} only.`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await movePoints(admin, purchase.contact_id, say);
  const timeline = await timelineOf({ limit: 50 });
  const { data: balance } = await admin.GET('/v1/loyalty/contacts/{id}/balance', { params: { path } });
  say(`\nTimeline of ${externalId} (${balance.points} points), newest first`);
  say(renderTimeline(timeline.data));
  if (timeline.unreachable.length > 0) say(`  not reached: ${timeline.unreachable.join(', ')}`);
  say(`\nThe mail it led to: ${platform.mail_url}`);
}

await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
