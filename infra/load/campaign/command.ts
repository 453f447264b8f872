/**
 * `npm run load -- campaign [--contacts N] [--rate N]`: a campaign to a segment of so many, mail handed to a local SMTP
 * server. Prints how long the snapshot takes, mails a second beside what nodemailer alone reaches in the same run,
 * messaging's memory, how soon single transactional mails leave without the campaign and beside it, and how two
 * organizations share. Fails where a mail is lost or doubled.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { processesOf } from '@customer-platform/kit/app-processes.ts';
import { pointMailAt } from '@customer-platform/kit/mail-settings.ts';
import { type Platform, get, request } from '@customer-platform/kit/platform.ts';
import { percentile } from '@customer-platform/kit/percentile.ts';
import { adminOf, publicApi } from '@customer-platform/kit/public-api.ts';
import { Sink } from '@customer-platform/kit/sink.ts';
import { foundOrganization } from '../organizations.ts';
import { fillSegment, type FilledSegment } from './audience.ts';

/** What is loaded, and how. */
interface CampaignLoad {
  platform: Platform;
  contacts: number;
  /** Single transactional mails a second. */
  rate: number;
}

type Say = (line: string) => void;

interface ShownCampaign {
  state: string;
  last_run: { state: string; counts: Record<string, number> } | null;
}

const CAMPAIGNS = '/v1/messaging/campaigns';

const CONNECTIONS = 10;
const ALONE = 3_000;
const SINGLES_FOR_MS = 20_000;
const SAMPLE_MS = 250;
/** A campaign that leaves more slowly than this is taken for stuck. */
const SLOWEST_PER_S = 15;
const SHARED = 1_500;
const execute = promisify(execFile);

/** Runs it and prints what came of it. */
export async function runCampaign(load: CampaignLoad, say: Say): Promise<void> {
  const sink = new Sink(0);
  const port = await sink.listen();
  const restore = await pointMailAt(load.platform, port);
  try {
    say(`campaign: a segment of ${load.contacts} …`);
    const audience = await fillSegment(load.platform, load.contacts);
    const alone = await singlesWithin(load, sink, SINGLES_FOR_MS);
    const rate = await measureCampaign(load, sink, { audience, alone }, say);
    const nodemailer = await nodemailerAlone(port);
    say(`nodemailer alone, ${CONNECTIONS} pooled connections, same server: ${nodemailer.toFixed(0)} mails/s`);
    say(`  the campaign left at ${(rate / nodemailer).toFixed(2)} times that rate`);
    await audience.empty();
    await measureShares(load.platform, port, sink, say);
  } finally {
    await restore();
    await sink.close();
  }
}

async function measureCampaign(
  load: CampaignLoad,
  sink: Sink,
  { audience, alone }: { audience: FilledSegment; alone: number[] },
  say: Say,
): Promise<number> {
  const { platform, contacts } = load;
  const memory = (): number =>
    processesOf(platform, 'messaging').reduce((sum, { residentMiB }) => sum + residentMiB, 0);
  const before = memory();
  const id = await aCampaign(platform, audience.id);
  const shown = (): Promise<ShownCampaign> => get(platform, `${CAMPAIGNS}/${id}`);
  const began = performance.now();
  await request(platform, 'POST', `${CAMPAIGNS}/${id}/run`);
  let peak = before;
  const sampling = setInterval(() => (peak = Math.max(peak, memory())), SAMPLE_MS);
  while ((await shown()).last_run?.state === 'gathering') await pause(SAMPLE_MS);
  say(`  snapshot of ${contacts} in ${((performance.now() - began) / 1_000).toFixed(1)} s`);
  const known = sink.handOffs.length;
  const started = performance.now();
  const beside = await singlesWithin(
    load,
    sink,
    SINGLES_FOR_MS,
    () => mailsOf(sink, audience.prefix) < contacts,
  );
  const deadline = Date.now() + 120_000 + (contacts / SLOWEST_PER_S) * 1_000;
  while (mailsOf(sink, audience.prefix) < contacts && Date.now() < deadline) await pause(SAMPLE_MS);
  const seconds = (performance.now() - started) / 1_000;
  while ((await shown()).state !== 'completed' && Date.now() < deadline) await pause(SAMPLE_MS);
  clearInterval(sampling);
  const addresses = sink.handOffs
    .map(({ address }) => address)
    .filter((to) => to.startsWith(audience.prefix));
  const different = new Set(addresses).size;
  say(
    `  left in ${seconds.toFixed(1)} s, ${(contacts / seconds).toFixed(0)} mails/s (${sink.handOffs.length - known} in all)`,
  );
  say(`  ${contacts - different} lost, ${addresses.length - different} doubled`);
  say(
    `  counts ${JSON.stringify(Object.fromEntries(Object.entries((await shown()).last_run?.counts ?? {}).filter(([, n]) => n > 0)))}`,
  );
  say(`  messaging’s memory: ${before.toFixed(0)} MiB before, ${peak.toFixed(0)} MiB at its peak`);
  const [without, with_] = [percentile(alone, 0.95), percentile(beside, 0.95)];
  say(
    `  transactional mail, asked for → DATA, p95: ${without.toFixed(0)} ms without the campaign, ` +
      `${with_.toFixed(0)} ms beside it (${(with_ / without).toFixed(2)}; ${alone.length} and ${beside.length} mails)`,
  );
  if (different !== contacts || addresses.length !== different) process.exitCode = 1;
  return contacts / seconds;
}

/** Milliseconds from the call to the beginning of its content, of single mails at the rate. */
async function singlesWithin(
  { platform, rate }: CampaignLoad,
  sink: Sink,
  forMs: number,
  goesOn: () => boolean = () => true,
): Promise<number[]> {
  const admin = await adminOf(platform);
  const run = `single-${randomUUID().slice(0, 8)}`;
  const askedAt = new Map<string, number>();
  const calls: Promise<unknown>[] = [];
  const end = performance.now() + forMs;
  for (let n = 0; performance.now() < end && goesOn(); n += 1) {
    const address = `${run}-${n}@example.com`;
    askedAt.set(address, performance.now());
    const body = {
      channel: 'email',
      recipient: { address },
      content: { subject: 'Code', text: '4711' },
    } as const;
    calls.push(admin.POST('/v1/messaging/sends', { body, idempotencyKey: address }));
    await pause(1_000 / rate);
  }
  await Promise.all(calls);
  for (const deadline = Date.now() + 60_000; mailsOf(sink, run) < askedAt.size && Date.now() < deadline;)
    await pause(SAMPLE_MS);
  return sink.handOffs.flatMap(({ address, at }) => {
    const asked = askedAt.get(address);
    return asked === undefined ? [] : [at - asked];
  });
}

/** Two organizations with as many each, begun at the same moment: how far the slower is when the faster is through. */
async function measureShares(platform: Platform, port: number, sink: Sink, say: Say): Promise<void> {
  const key = await foundOrganization(platform);
  const client = await publicApi(platform.base_url, key);
  const { data: me } = await client.GET('/v1/identity/organizations', { params: { query: { limit: 1 } } });
  const other: Platform = { ...platform, admin_key: key, organization_id: me.data[0]?.id ?? '' };
  const restore = await pointMailAt(other, port);
  const audiences = [await fillSegment(platform, SHARED), await fillSegment(other, SHARED)];
  const owners = [platform, other];
  const runs = await Promise.all(
    owners.map(async (owner, n) => ({ owner, id: await aCampaign(owner, audiences[n]?.id ?? '') })),
  );
  await Promise.all(runs.map(({ owner, id }) => request(owner, 'POST', `${CAMPAIGNS}/${id}/run`)));
  const through = (): number[] => audiences.map(({ prefix }) => mailsOf(sink, prefix));
  const deadline = Date.now() + 120_000 + ((2 * SHARED) / SLOWEST_PER_S) * 1_000;
  while (Math.max(...through()) < SHARED && Date.now() < deadline) await pause(20);
  const [one = 0, two = 0] = through();
  say(`two organizations, ${SHARED} each at once: when the first was through, ${one} and ${two} had left`);
  while (Math.min(...through()) < SHARED && Date.now() < deadline) await pause(SAMPLE_MS);
  await Promise.all(audiences.map((audience) => audience.empty()));
  await restore();
}

async function aCampaign(platform: Platform, segment: string): Promise<string> {
  const admin = await adminOf(platform);
  const name = `Load ${randomUUID()}`;
  const locales = {
    en: {
      subject: 'An offer for {{ contact.first_name }}',
      html: '<h1>Hello {{ contact.first_name }}</h1><p>Only this week.</p>',
    },
  };
  const { data: template } = await admin.POST('/v1/messaging/templates', {
    body: { name, channel: 'email', default_locale: 'en', locales },
  });
  const audience = { type: 'segment', id: segment };
  const body = { name, channel: 'email', template_id: template.id, audience };
  const made = await request(platform, 'POST', CAMPAIGNS, body);
  return (made.body as { id: string }).id;
}

function mailsOf(sink: Sink, prefix: string): number {
  return sink.handOffs.reduce((sum, { address }) => sum + (address.startsWith(prefix) ? 1 : 0), 0);
}

/** In a process of its own: it shares this one's server, not its core. */
async function nodemailerAlone(port: number): Promise<number> {
  const script = join(import.meta.dirname, '../sends/nodemailer-alone.ts');
  const { stdout } = await execute(process.execPath, [script, ...[port, ALONE, CONNECTIONS].map(String)]);
  return Number(stdout);
}
