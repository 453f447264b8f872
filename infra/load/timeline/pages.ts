/**
 * `npm run load -- timeline-pages [--rate N] [--duration S]`: first pages of 50 of contacts that have 200 items of all
 * four sources each, in the demo organization of the running platform, and what CPU a page costs by process, beyond what
 * each takes at rest. The items are written by the first run. A warm-up as long as the run comes before it.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { adminUrl } from '@customer-platform/kit/databases.ts';
import { readUsage, starterOf } from '@customer-platform/kit/processes.ts';
import { adminOf, idOfMade } from '@customer-platform/kit/public-api.ts';
import { callLines, figuresOf } from '../management/report.ts';
import { runMixed, type MixedFigures } from '../mixed-calls.ts';
import type { TimelineLoad } from './command.ts';
import { fillTimelines, type ItemCounts, itemsTogether } from './fill.ts';

/** p95 that is aimed at, at 100 pages a second. */
const AIM_MS = 100;
const PAGE = 50;
const CONTACTS = 20;
/** Time for which the platform is left alone, to see what it takes then. */
const REST_MS = 10_000;
/** Items of all four, so many that the page is full of each but one. */
const ITEMS: ItemCounts = { events: 80, consents: 20, transactions: 50, sends: 50 };
const NAME = 'contacts with 200 items page 1';

/** Runs it and prints latencies, drops, and CPU a page. */
export async function runTimelinePages(load: TimelineLoad, say: (line: string) => void): Promise<void> {
  const { platform, rate, duration } = load;
  say(
    `timeline-pages: ${rate} requests/s for ${duration} s, ${CONTACTS} contacts with ${itemsTogether(ITEMS)} items`,
  );
  const contactIds = await contactsOf(load, say);
  await read(load, contactIds);
  const starter = starterOf(platform.base_url);
  const resting = await spentWhile(starter, () => pause(REST_MS));
  const { result, ...loaded } = await spentWhile(starter, () => read(load, contactIds));
  const { metrics, calls, dropped, failed } = result;
  for (const line of callLines(figuresOf(metrics), AIM_MS)) say(line);
  const late = metrics['incomplete']?.values['count'] ?? 0;
  say(
    `  ${calls} pages, ${dropped} dropped, ${late} with a source too late, ${failed} not as they should be`,
  );
  for (const line of cpuLines(loaded, resting, calls)) say(line);
  if (failed > 0) process.exitCode = 1;
}

async function contactsOf({ platform }: TimelineLoad, say: (line: string) => void): Promise<string[]> {
  const admin = await adminOf(platform);
  const contactIds: string[] = [];
  for (let n = 1; n <= CONTACTS; n += 1) {
    const body = { external_id: `load-timeline-pages-${n}` };
    contactIds.push(await idOfMade(admin.POST('/v1/core/contacts', { body })));
  }
  const databaseUrl = (module: string): string => adminUrl(platform, module);
  const { organization_id: organizationId } = platform;
  await fillTimelines({ databaseUrl, organizationId, contactIds, items: ITEMS, say });
  return contactIds;
}

function read({ platform, k6, rate, duration }: TimelineLoad, contactIds: string[]): Promise<MixedFigures> {
  const { base_url: target, admin_key: key } = platform;
  const requests = contactIds.map((id) => ({ path: `/v1/crm/contacts/${id}/timeline?limit=${PAGE}` }));
  const calls = [{ name: NAME, share: 1, status: 200, least: PAGE, unreachable: [], requests }];
  const script = join(import.meta.dirname, '../reads.k6.js');
  return runMixed({ k6, script, target, key, rate, duration, sample: { calls } });
}

/** CPU seconds by process, and how long it took. */
interface Spent {
  cpu: ReadonlyMap<string, number>;
  seconds: number;
}

async function spentWhile<T>(starter: number, work: () => Promise<T>): Promise<Spent & { result: T }> {
  const before = readUsage(starter).cpu;
  const began = performance.now();
  // Read before k6 goes away, so that its own CPU is in the account.
  let after = before;
  const sampling = setInterval(() => (after = readUsage(starter).cpu), 250);
  const result = await work();
  clearInterval(sampling);
  const cpu = new Map([...after].map(([name, spent]) => [name, spent - (before.get(name) ?? 0)]));
  return { result, cpu, seconds: (performance.now() - began) / 1_000 };
}

/** CPU a page in microseconds, by process; k6 apart from what it loads. */
function cpuLines(loaded: Spent, resting: Spent, pages: number): string[] {
  const share = loaded.seconds / resting.seconds;
  const rows = [...loaded.cpu].map(([name, spent]) => ({
    name,
    micros: ((spent - (resting.cpu.get(name) ?? 0) * share) / pages) * 1e6,
  }));
  const line = (name: string, micros: number): string =>
    `    ${name.padEnd(16)} ${micros.toFixed(0).padStart(6)}`;
  const own = rows.filter(({ name }) => name !== 'k6').reduce((sum, { micros }) => sum + micros, 0);
  return [
    '  CPU a page beyond what runs at rest, in µs:',
    ...rows.map(({ name, micros }) => line(name, micros)),
    line('all but k6', own),
  ];
}
