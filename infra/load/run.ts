/**
 * `npm run load -- track|batch --rate N[,N…|A..B:STEP] --duration S [--target gateway|core] [--batch N]
 *    [--processing on|off] [--warm-up S]`
 * `npm run load -- management|member|timeline|timeline-pages|lists|passwords|outbound-webhooks|provider-webhooks [--rate N] [--duration S]`
 * `npm run load -- sign-in [--rate N] [--duration S] [--sessions N]`
 * `npm run load -- sends [--rate N] [--duration S] [--backlog N]`
 * `npm run load -- campaign [--contacts N] [--rate N]`
 * `npm run load -- deliverability [--duration S]`
 * `npm run load -- seed [--contacts N] [--events N] [--organizations N]`
 * `npm run load -- segments|loyalty [--events N]`
 * `npm run load -- inserts [--events N] [--organizations N] [--postgres name=value,…] [--without Migration,…]`
 * `npm run load -- authorization [--organizations N]`
 * `npm run load -- large-organization|segments-preview [--contacts N] [--events N]`
 * `npm run load -- background-work|import [--rows N]`
 * `npm run load -- objects [--rows N] [--rate N] [--duration S]`
 * `npm run load -- live-tail [--rate N] [--duration S] [--organizations N] [--streams N] [--rounds N]`
 * `npm run load -- tenants [--rate N] [--duration S] [--organizations N,N,…]`
 * `npm run load -- overload [--rate A..B:STEP] [--duration S]`
 *
 * Sends load to the platform that `npm start` runs on this machine and prints what came of it: latencies, drops,
 * failures, CPU by process, the conservation law, and the delay from a 202 to the timeline. Of several rates the knee:
 * the highest one that was held. `--warm-up` sends before it measures: a process that has just started compiles what
 * it runs, for about 40,000 events. `--processing off` measures acceptance alone, on a core started for it.
 * `management` mixes every list, read and write of core, `member` what a member's page calls. `timeline` reads pages
 * anywhere in a contact's 100,000 items, `timeline-pages` what a page of 200 items costs, `lists` in a list's 100,000 members. `passwords` sets some while others go on
 * with their work, `sign-in` signs people in by the pages and refreshes their tokens, `outbound-webhooks` has events
 * told to a hundred endpoints, `sends` follows mail from its call to a mail server of its own, `provider-webhooks`
 * brings what providers report. `campaign` writes to a segment while single mails are asked for, and of two
 * organizations at once. `deliverability` reads the figures of ten million sends. `seed` fills core by COPY, so that
 * its lists are as long as they may become. `segments` prints what segments cost, on a core of its own, `loyalty` how
 * many events a loyalty of its own consumes, `authorization` what keys and permissions cost, on an identity of its
 * own, `background-work` what is done to a million rows behind an answer, on a messaging of its own, `import` what an
 * import of contacts does beside `COPY`, on a core of its own.
 * `large-organization` prints what is slow where an organization is large, `segments-preview` the rules of it alone,
 * `live-tail` what streams of events cost ingestion, on a core of its own. `tenants` sends the same load from one, a
 * hundred and a thousand organizations. `objects` prints what reads, writes and pages of custom objects cost among so
 * many records, on a crm of its own. `inserts` prints what storing an event costs beside how many are stored already,
 * on a PostgreSQL of its own. `overload` gives the platform one processor and k6 another, looks for the knee and sends one
 * and a half and three times as much.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { percentile } from '@customer-platform/kit/percentile.ts';
import { type Usage, readUsage } from '@customer-platform/kit/processes.ts';
import { measureAuthorization } from './authorization.bench.ts';
import { findK6, runK6 } from './k6.ts';
import { type Attempt, kneeOf, ratesOf } from './rates.ts';
import {
  type EventCounts,
  type Platform,
  drained,
  readCounts,
  runningPlatform,
} from '@customer-platform/kit/platform.ts';
import { runBackgroundWork } from './background-work.bench.ts';
import { runCampaign } from './campaign/command.ts';
import { runDeliverability } from './deliverability/command.ts';
import { measureImports } from './imports.bench.ts';
import { measureInserts } from './inserts/command.ts';
import { runLists } from './lists/command.ts';
import { liveTailOf, measureLiveTail } from './live-tail.bench.ts';
import { runManagement } from './management/command.ts';
import { runMember } from './member/command.ts';
import { runOverload } from './overload/command.ts';
import { runOutboundWebhooks } from './outbound-webhooks/command.ts';
import { runPasswords } from './passwords/command.ts';
import { runProviderWebhooks } from './provider-webhooks/command.ts';
import { runSeed, sizeOf } from './seed/command.ts';
import { runSends } from './sends/command.ts';
import { runSignIn } from './sign-in/command.ts';
import { measureLargeOrganization } from './large-organization.bench.ts';
import { measureLoyalty } from './loyalty.bench.ts';
import { measureObjects } from './objects.bench.ts';
import { measureSegments } from './segments.bench.ts';
import { chooseTarget } from './target.ts';
import { runTenants } from './tenants/command.ts';
import { runTimeline } from './timeline/command.ts';
import { runTimelinePages } from './timeline/pages.ts';
import { measureVisibility } from './visibility.ts';

const KINDS = ['track', 'batch'] as const;
type Kind = (typeof KINDS)[number];
const LONGEST_S = 600;
/** p95 that a rate must keep to count as held: the budget of ingestion. */
const BUDGET_MS = 100;

const root = resolve(import.meta.dirname, '../..');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rate: { type: 'string' },
    duration: { type: 'string', default: '20' },
    'warm-up': { type: 'string', default: '0' },
    target: { type: 'string' },
    processing: { type: 'string', default: 'on' },
    batch: { type: 'string', default: '100' },
    contacts: { type: 'string' },
    events: { type: 'string' },
    organizations: { type: 'string' },
    rows: { type: 'string', default: '1000000' },
    backlog: { type: 'string', default: '5000' },
    sessions: { type: 'string', default: '100000' },
    streams: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '6' },
    postgres: { type: 'string', default: '' },
    without: { type: 'string', default: '' },
    'points-every': { type: 'string', default: '10' },
    'no-probe': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
    data: { type: 'string', default: join(root, '.data') },
  },
});

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const ms = (value: number): string =>
  Number.isFinite(value) ? `${value.toFixed(value < 10 ? 1 : 0)} ms` : 'never';

interface MixedLoad {
  platform: Platform;
  k6: string;
  rate: number;
  duration: number;
  backlog: number;
}

/** Mixes of calls, each at the rate it has unless another one is given. */
const MIXED: Partial<Record<string, { rate: string; run(load: MixedLoad): Promise<void> }>> = {
  management: { rate: '50', run: (load) => runManagement(load, say) },
  member: { rate: '100', run: (load) => runMember(load, say) },
  timeline: { rate: '100', run: (load) => runTimeline(load, say) },
  'timeline-pages': { rate: '100', run: (load) => runTimelinePages(load, say) },
  lists: { rate: '50', run: (load) => runLists(load, say) },
  sends: { rate: '200', run: (load) => runSends(load, say) },
  'provider-webhooks': { rate: '200', run: (load) => runProviderWebhooks(load, say) },
};

function secondsOf(option: 'duration' | 'warm-up', atLeast: number): number {
  const seconds = Number(values[option]);
  if (!(seconds >= atLeast && seconds <= LONGEST_S))
    throw new Error(`--${option} is in seconds, at least ${atLeast} and at most ${LONGEST_S}.`);
  return seconds;
}

function countOf(option: 'backlog' | 'sessions'): number {
  const count = Number(values[option]);
  if (!(Number.isInteger(count) && count >= 0)) throw new Error(`--${option} is a whole number.`);
  return count;
}

/** The one rate of a command that knows no several. */
const rateOf = (usual: string): number => ratesOf(values.rate ?? usual)[0] ?? 0;

/** What stands at the top of this file. */
function helpText(): string {
  const [head = ''] = readFileSync(import.meta.filename, 'utf8').split('\n */');
  return head.replace('/**\n', '').replaceAll(/^ \* ?/gm, '');
}

interface Trend {
  values: Record<string, number>;
}

async function main(): Promise<void> {
  const [kind] = positionals;
  if (values.help) return say(helpText());
  if (kind === 'seed') {
    const { contacts = '1000000', events = '10000000', organizations = '1000' } = values;
    return runSeed({ ...values, contacts, events, organizations }, say);
  }
  if (kind === 'inserts') {
    const { events = '10000000', organizations = '1000' } = values;
    const size = sizeOf({ contacts: events, events, organizations });
    const [without = [], settings = []] = [values.without, values.postgres].map((list) =>
      list.split(',').filter((each) => each !== ''),
    );
    const parameters = Object.fromEntries(settings.map((each) => each.split('=')) as [string, string][]);
    return measureInserts({ ...size, parameters, without }, say);
  }
  if (kind === 'authorization') return measureAuthorization(Number(values.organizations ?? '10000'));
  if (kind === 'loyalty') return measureLoyalty(Number(values.events ?? '30000'));
  if (kind === 'background-work') return runBackgroundWork(Number(values.rows), say);
  if (kind === 'large-organization' || kind === 'segments-preview') {
    const { contacts = '1000000', events = '2000000' } = values;
    const size = sizeOf({ contacts, events, organizations: '1' });
    return measureLargeOrganization({ ...size, previewsOnly: kind === 'segments-preview' }, say);
  }
  if (kind === 'live-tail') {
    const { rate = '500', organizations = '20' } = values;
    return measureLiveTail(liveTailOf({ ...values, rate, organizations }), say);
  }
  if (kind === 'import') return measureImports(Number(values.rows));
  if (kind === 'segments') return measureSegments(Number(values.events ?? '5000'));
  const duration = secondsOf('duration', 1);
  if (kind === 'objects')
    return measureObjects({ records: Number(values.rows), rate: rateOf('50'), duration }, say);
  if (kind === 'passwords') {
    const platform = await runningPlatform(values.data);
    return runPasswords({ platform, rate: rateOf('20'), duration }, say);
  }
  if (kind === 'sign-in') {
    const platform = await runningPlatform(values.data);
    return runSignIn({ platform, rate: rateOf('20'), duration, sessions: countOf('sessions') }, say);
  }
  if (kind === 'tenants') {
    const organizations = (values.organizations ?? '1,100,1000').split(',').map(Number);
    const platform = await runningPlatform(values.data);
    return runTenants(
      { platform, k6: await findK6(root, say), rate: rateOf('300'), duration, organizations },
      say,
    );
  }
  if (kind === 'overload') {
    const platform = await runningPlatform(values.data);
    const rates = ratesOf(values.rate ?? '300..3000:100');
    return runOverload({ platform, k6: await findK6(root, say), rates, duration }, say);
  }
  if (kind === 'campaign') {
    const platform = await runningPlatform(values.data);
    return runCampaign({ platform, contacts: Number(values.contacts ?? '20000'), rate: rateOf('10') }, say);
  }
  if (kind === 'deliverability') return runDeliverability(await runningPlatform(values.data), duration, say);
  if (kind === 'outbound-webhooks') {
    const platform = await runningPlatform(values.data);
    return runOutboundWebhooks({ platform, rate: rateOf('4'), duration }, say);
  }
  const mixed = kind === undefined ? undefined : MIXED[kind];
  if (mixed) {
    const platform = await runningPlatform(values.data);
    const rate = rateOf(mixed.rate);
    return mixed.run({ platform, k6: await findK6(root, say), rate, duration, backlog: countOf('backlog') });
  }
  const found = KINDS.find((each) => each === kind);
  if (!found)
    throw new Error(
      `Say what to load: ${KINDS.join(', ')}, ${Object.keys(MIXED).join(', ')}, passwords, sign-in, outbound-webhooks, campaign, tenants, overload; ` +
        'or seed, inserts, segments, loyalty, authorization, background-work, import, objects, live-tail, large-organization, segments-preview.',
    );
  await measureRates(found, duration);
}

async function measureRates(kind: Kind, duration: number): Promise<void> {
  const rates = ratesOf(values.rate ?? '500');
  const platform = await runningPlatform(values.data);
  const k6 = await findK6(root, say);
  const chosen = await chooseTarget(platform, root, values);
  const attempts: Attempt[] = [];
  const warmUp = secondsOf('warm-up', 0);
  try {
    if (warmUp > 0) await send({ ...chosen, kind, rate: rates[0] ?? 0, duration: warmUp, platform, k6 });
    for (const rate of rates) attempts.push(await measure({ ...chosen, kind, rate, duration, platform, k6 }));
  } finally {
    await chosen.stop();
  }
  if (attempts.length > 1) {
    const knee = kneeOf(attempts, BUDGET_MS);
    say(
      `\nKnee: ${knee === undefined ? 'none of these rates was held' : `${knee} requests/s`} (p95 below ${BUDGET_MS} ms, no drop, no failure)`,
    );
  }
}

interface Load {
  kind: Kind;
  rate: number;
  duration: number;
  target: string;
  name: string;
  processing: boolean;
  platform: Platform;
  k6: string;
}

async function measure(load: Load): Promise<Attempt> {
  const { kind, rate, duration, platform } = load;
  const size = sizeOfRequest(kind);
  say(
    `\n${kind}: ${rate} requests/s for ${duration} s to ${load.name} (${load.target})${size > 1 ? `, ${size} events each` : ''}`,
  );
  const countsBefore = await readCounts(platform);
  const before = readUsage();
  const probing =
    values['no-probe'] || !load.processing ? Promise.resolve([]) : measureVisibility(platform, duration);
  // Read before k6 goes away, so that its own CPU is in the account.
  let after: Usage = before;
  const sampling = setInterval(() => (after = readUsage()), 500);
  const metrics = await send(load);
  clearInterval(sampling);
  const delays = await probing;
  const { requests, ...attempt } = report(metrics, rate * duration);
  if (load.processing) await reportProcessing(platform, countsBefore);
  reportCpu(before, after, requests, size);
  if (delays.length > 0) {
    say(
      `  202 → timeline with points and message: p50 ${ms(percentile(delays, 0.5))}, p95 ${ms(percentile(delays, 0.95))} (${delays.length} probes)`,
    );
  }
  return { rate, ...attempt };
}

const sizeOfRequest = (kind: Kind): number => (kind === 'batch' ? Number(values.batch) : 1);

/** Sends at a steady rate, and resolves with what k6 measured. */
async function send(load: Load): Promise<Record<string, Trend>> {
  const folder = mkdtempSync(join(tmpdir(), 'load-'));
  const summary = join(folder, 'summary.json');
  const environment = {
    KIND: load.kind,
    TARGET: load.target,
    KEY: load.platform.ingestion_key,
    RATE: String(load.rate),
    DURATION: String(load.duration),
    BATCH: String(sizeOfRequest(load.kind)),
    CONTACTS: values.contacts ?? '10000',
    POINTS: values['points-every'],
    RUN: `load-${Date.now()}`,
  };
  try {
    await runK6(load.k6, join(import.meta.dirname, 'script.k6.js'), environment, summary);
    return JSON.parse(readFileSync(summary, 'utf8')) as Record<string, Trend>;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function report(
  metrics: Record<string, Trend>,
  planned: number,
): { requests: number; p95: number; dropped: number; failed: number } {
  const duration = metrics['http_req_duration']?.values ?? {};
  const requests = metrics['http_reqs']?.values['count'] ?? 0;
  const dropped = metrics['dropped_iterations']?.values['count'] ?? 0;
  const failed = metrics['checks']?.values['fails'] ?? 0;
  say(
    `  p50 ${ms(duration['med'] ?? NaN)}, p95 ${ms(duration['p(95)'] ?? NaN)}, p99 ${ms(duration['p(99)'] ?? NaN)}, max ${ms(duration['max'] ?? NaN)}`,
  );
  say(`  ${requests} requests of ${planned} planned, ${dropped} dropped, ${failed} not answered 2xx`);
  return { requests, p95: duration['p(95)'] ?? NaN, dropped, failed };
}

/** What became of the events, and how fast what was behind at the end of the load has been processed. */
async function reportProcessing(platform: Platform, before: EventCounts): Promise<void> {
  const ended = performance.now();
  const { pending } = await readCounts(platform);
  const after = await drained(platform, 120);
  const seconds = (performance.now() - ended) / 1_000;
  reportCounts(before, after);
  say(
    `  ${pending} were pending at the end, all was processed ${seconds.toFixed(1)} s later: ${(pending / seconds).toFixed(0)} events/s`,
  );
}

function reportCounts(before: EventCounts, after: EventCounts): void {
  const change = (name: keyof EventCounts): number => after[name] - before[name];
  const holds =
    after.accepted === after.stored + after.duplicates + after.dead_lettered + after.pending
      ? 'holds'
      : 'DOES NOT HOLD';
  say(
    `  accepted ${change('accepted')} = stored ${change('stored')} + duplicates ${change('duplicates')} + dead-lettered ${change('dead_lettered')} + pending ${after.pending - before.pending}: ${holds} over the whole day`,
  );
}

function reportCpu(before: Usage, after: Usage, requests: number, size: number): void {
  const rows = [...after.cpu].map(([name, seconds]) => ({
    name,
    seconds: seconds - (before.cpu.get(name) ?? 0),
  }));
  const total = rows.reduce((sum, { seconds }) => sum + seconds, 0);
  say('  CPU seconds per 1,000 requests:');
  for (const { name, seconds } of [...rows, { name: 'together', seconds: total }]) {
    const perEvent = ((seconds / requests / size) * 1e6).toFixed(0);
    const resident = after.resident.get(name);
    say(
      `    ${name.padEnd(13)} ${((seconds / requests) * 1000).toFixed(3).padStart(8)}  (${perEvent.padStart(5)} µs an event${resident === undefined ? '' : `, ${resident.toFixed(0)} MiB`})`,
    );
  }
}

await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
