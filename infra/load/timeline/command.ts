/**
 * `npm run load -- timeline [--rate N] [--duration S]`: pages of timelines in the demo organization of the running
 * platform, of ordinary contacts and of one with 100,000 items over three modules, near its beginning and at its end;
 * then the same while loyalty hangs. The items are written by the first run.
 */
import { join } from 'node:path';
import type { Client } from '@customer-platform/client';
import { adminUrl } from '@customer-platform/kit/databases.ts';
import type { Platform } from '@customer-platform/kit/platform.ts';
import { adminOf, idOfMade } from '@customer-platform/kit/public-api.ts';
import { runMixed, type MixedFigures } from '../mixed-calls.ts';
import { callLines, figuresOf } from '../management/report.ts';
import { fillTimelines, itemsTogether, LONG_HISTORY } from './fill.ts';
import { whileHanging } from './hanging.ts';
import { walk } from './walk.ts';

/** p95 that is aimed at; the budget is a second. */
const AIM_MS = 150;
/** The same while a source hangs: it is waited for, 800 ms, and named. */
const HANGING_AIM_MS = 900;
/** Seconds for which a module is made to hang, at most. */
const LONGEST_HANG_S = 20;
const PAGE = 50;
const DEEP = [2, 500, 1_000, 2_000];
const EXTERNAL_ID = 'load-timeline';
const ITEMS_TOGETHER = itemsTogether(LONG_HISTORY);

/** What is loaded, and with what. */
export interface TimelineLoad {
  platform: Platform;
  k6: string;
  rate: number;
  duration: number;
}

/** What k6 is to read: each call a share of every round. */
interface Call {
  name: string;
  share: number;
  status: number;
  least?: number;
  unreachable: string[];
  requests: { path: string }[];
}

const timelineOf = (contactId: string): string => `/v1/crm/contacts/${contactId}/timeline`;

/** Runs it and prints the figures of each call. */
export async function runTimeline(load: TimelineLoad, say: (line: string) => void): Promise<void> {
  const { platform, rate, duration } = load;
  const databaseUrl = (module: string): string => adminUrl(platform, module);
  say(`timeline: ${rate} requests/s for ${duration} s`);
  const admin = await adminOf(platform);
  const contactId = await idOfMade(admin.POST('/v1/core/contacts', { body: { external_id: EXTERNAL_ID } }));
  const { organization_id: organizationId } = platform;
  await fillTimelines({ databaseUrl, organizationId, contactIds: [contactId], items: LONG_HISTORY, say });
  const calls = await callsOf(platform, contactId, say);
  const settled = await read(load, duration, calls);
  report(settled, AIM_MS, say);
  say(depthLine(settled));
  const seconds = Math.min(duration, LONGEST_HANG_S);
  say(`while loyalty hangs, for ${seconds} s`);
  const named = calls.map((call) => ({ ...call, least: 0, unreachable: ['loyalty'] }));
  const hanging = await whileHanging('loyalty', platform.database_urls?.['loyalty'] ?? '', () =>
    read(load, seconds, named),
  );
  report(hanging, HANGING_AIM_MS, say);
}

async function callsOf(platform: Platform, contactId: string, say: (line: string) => void): Promise<Call[]> {
  const ordinary = (await ordinaryContacts(await adminOf(platform))).filter((id) => id !== contactId);
  if (ordinary.length === 0)
    throw new Error('There is no contact with events yet: run "npm run load -- seed" first.');
  say(`  walking ${ITEMS_TOGETHER.toLocaleString('en')} items to their end …`);
  const path = timelineOf(contactId);
  const { items, repeated, pages } = await walk(platform, path, { key: 'id', size: PAGE, wanted: DEEP });
  if (repeated > 0 || items !== ITEMS_TOGETHER)
    throw new Error(`The walk saw ${items} items, ${repeated} of them again; there are ${ITEMS_TOGETHER}.`);
  const call = (name: string, share: number, least: number, paths: string[]): Call => {
    return {
      name,
      share,
      status: 200,
      least,
      unreachable: [],
      requests: paths.map((each) => ({ path: each })),
    };
  };
  return [
    call(
      'ordinary contacts page 1',
      6,
      1,
      ordinary.map((id) => `${timelineOf(id)}?limit=${PAGE}`),
    ),
    call('long history page 1', 2, PAGE, [`${path}?limit=${PAGE}`]),
    ...[...pages].map(([page, deep]) =>
      call(`long history page ${page}`, page === DEEP.at(-1) ? 2 : 1, PAGE, [deep]),
    ),
  ];
}

/** Contacts of the newest events. */
async function ordinaryContacts(admin: Client): Promise<string[]> {
  const ids = new Set<string>();
  const query = { limit: 200, sort: '-received_at' };
  for await (const { data } of admin.pages('/v1/core/events', { params: { query } })) {
    for (const { contact_id: id } of data) ids.add(id);
    if (ids.size >= 500) break;
  }
  return [...ids];
}

function read({ platform, k6, rate }: TimelineLoad, duration: number, calls: Call[]): Promise<MixedFigures> {
  const { base_url: target, admin_key: key } = platform;
  const script = join(import.meta.dirname, '../reads.k6.js');
  return runMixed({ k6, script, target, key, rate, duration, sample: { calls } });
}

function report({ metrics, calls, dropped, failed }: MixedFigures, aim: number, say: (line: string) => void) {
  for (const line of callLines(figuresOf(metrics), aim)) say(line);
  const late = metrics['incomplete']?.values['count'] ?? 0;
  say(
    `  ${calls} calls, ${dropped} dropped, ${late} with a source too late, ${failed} not answered as they should be`,
  );
  if (failed > 0) process.exitCode = 1;
}

function depthLine({ metrics }: MixedFigures): string {
  const figures = figuresOf(metrics);
  const of = (page: number) => figures.find(({ name }) => name === `long history page ${page}`)?.p50 ?? NaN;
  return `  page 2,000 takes ${(of(2_000) / of(1)).toFixed(2)} times what page 1 takes (p50)`;
}
