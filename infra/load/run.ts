/**
 * `npm run load -- track|batch|timeline --rate N[,N…] --duration S [--target gateway|core] [--batch N]`
 *
 * Sends load to the platform that `npm start` runs on this machine and prints what came of it: latencies,
 * drops, failures, CPU by process, the conservation law, and the delay from a 202 to the timeline.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Usage, readUsage } from '@customer-platform/client/processes.ts';
import { findK6, runK6 } from './k6.ts';
import {
  type EventCounts,
  type Platform,
  drained,
  get,
  readCounts,
  readPlatform,
} from '@customer-platform/client/platform.ts';
import { measureVisibility } from './visibility.ts';

const KINDS = ['track', 'batch', 'timeline'] as const;
type Kind = (typeof KINDS)[number];
const LONGEST_S = 600;

const root = resolve(import.meta.dirname, '../..');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rate: { type: 'string', default: '500' },
    duration: { type: 'string', default: '20' },
    target: { type: 'string', default: 'gateway' },
    batch: { type: 'string', default: '100' },
    contacts: { type: 'string', default: '10000' },
    'points-every': { type: 'string', default: '10' },
    'no-probe': { type: 'boolean', default: false },
    data: { type: 'string', default: join(root, '.data') },
  },
});

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const ms = (value: number): string =>
  Number.isFinite(value) ? `${value.toFixed(value < 10 ? 1 : 0)} ms` : 'never';

interface Trend {
  values: Record<string, number>;
}

async function main(): Promise<void> {
  const kind = positionals[0] as Kind;
  if (!KINDS.includes(kind)) throw new Error(`Say what to load: ${KINDS.join(', ')}.`);
  const duration = Number(values.duration);
  if (!(duration > 0 && duration <= LONGEST_S))
    throw new Error(`--duration is in seconds, at most ${LONGEST_S}.`);
  const platform = readPlatform(values.data);
  const target = values.target === 'core' ? platform.core_url : platform.base_url;
  if (target === undefined) throw new Error('demo.json names no core_url; start the platform anew.');
  const k6 = await findK6(root, say);
  for (const rate of values.rate.split(',').map(Number)) {
    await measure({ kind, rate, duration, target, platform, k6 });
  }
}

interface Load {
  kind: Kind;
  rate: number;
  duration: number;
  target: string;
  platform: Platform;
  k6: string;
}

async function measure(load: Load): Promise<void> {
  const { kind, rate, duration, platform } = load;
  const size = kind === 'batch' ? Number(values.batch) : 1;
  say(
    `\n${kind}: ${rate} requests/s for ${duration} s to ${values.target} (${load.target})${size > 1 ? `, ${size} events each` : ''}`,
  );
  const folder = mkdtempSync(join(tmpdir(), 'load-'));
  const summary = join(folder, 'summary.json');
  const environment = {
    KIND: kind,
    TARGET: load.target,
    KEY: kind === 'timeline' ? platform.admin_key : platform.ingestion_key,
    RATE: String(rate),
    DURATION: String(duration),
    BATCH: String(size),
    CONTACTS: values.contacts,
    POINTS: values['points-every'],
    RUN: `load-${Date.now()}`,
    CONTACT_IDS: kind === 'timeline' ? await contactIds(platform) : '',
  };
  const countsBefore = await readCounts(platform);
  const before = readUsage();
  const probing =
    values['no-probe'] || kind === 'timeline' ? Promise.resolve([]) : measureVisibility(platform, duration);
  // Read before k6 goes away, so that its own CPU is in the account.
  let after: Usage = before;
  const sampling = setInterval(() => (after = readUsage()), 500);
  await runK6(load.k6, join(import.meta.dirname, 'script.k6.js'), environment, summary);
  clearInterval(sampling);
  const delays = (await probing).sort((a, b) => a - b);
  const metrics = JSON.parse(readFileSync(summary, 'utf8')) as Record<string, Trend>;
  rmSync(folder, { recursive: true });
  const requests = report(metrics, rate * duration);
  if (kind !== 'timeline') reportCounts(countsBefore, await drained(platform, 120));
  reportCpu(before, after, requests, size);
  if (delays.length > 0) {
    say(
      `  202 → timeline with points and message: p50 ${ms(at(delays, 0.5))}, p95 ${ms(at(delays, 0.95))} (${delays.length} probes)`,
    );
  }
}

function report(metrics: Record<string, Trend>, planned: number): number {
  const duration = metrics['http_req_duration']?.values ?? {};
  const requests = metrics['http_reqs']?.values['count'] ?? 0;
  const dropped = metrics['dropped_iterations']?.values['count'] ?? 0;
  const failed = metrics['checks']?.values['fails'] ?? 0;
  say(
    `  p50 ${ms(duration['med'] ?? NaN)}, p95 ${ms(duration['p(95)'] ?? NaN)}, p99 ${ms(duration['p(99)'] ?? NaN)}, max ${ms(duration['max'] ?? NaN)}`,
  );
  say(`  ${requests} requests of ${planned} planned, ${dropped} dropped, ${failed} not answered 2xx`);
  return requests;
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

const at = (sorted: number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] as number;

/** Contacts of the newest events: what the timeline is read for. */
async function contactIds(platform: Platform): Promise<string> {
  const ids = new Set<string>();
  let cursor = '';
  while (ids.size < 500) {
    const page = await get<{ data: { contact_id: string }[]; page: { next_cursor: string | null } }>(
      platform,
      `/v1/core/events?limit=200${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    for (const { contact_id: id } of page.data) if (id !== null) ids.add(id);
    if (page.page.next_cursor === null) break;
    cursor = page.page.next_cursor;
  }
  if (ids.size === 0)
    throw new Error('There is no contact with events yet: run "npm run load -- track" first.');
  return [...ids].join(',');
}

await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
