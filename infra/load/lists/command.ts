/**
 * `npm run load -- lists [--rate N] [--duration S]`: fills a list of the demo organization of the running platform with
 * 100,000 members, a thousand at once, and reads its pages while members are added and removed; after
 * `npm run load -- seed`, which makes the contacts. The list is left for the next run.
 */
import { join } from 'node:path';
import { ProgressBar } from '@customer-platform/replay/progress-bar.ts';
import { get, request, type Platform } from '@customer-platform/kit/platform.ts';
import { runMixed } from '../mixed-calls.ts';
import { callLines, figuresOf, type CallFigures } from '../management/report.ts';
import { walk } from '../timeline/walk.ts';

/** p95 that is aimed at; the budget is a second. */
const AIM_MS = 150;
const MEMBERS = 100_000;
const AT_ONCE = 1_000;
/** Who comes and goes meanwhile: the last ones, so many in each call. */
const CHANGING = 1_000;
const CHANGED_AT_ONCE = 10;
const PAGE = 50;
const PAGES = [1_000, 1_900];
const NAME = 'Load: a full list';

/** What is loaded, and with what. */
export interface ListsLoad {
  platform: Platform;
  k6: string;
  rate: number;
  duration: number;
}

/** Runs it and prints the figures of each call. */
export async function runLists(load: ListsLoad, say: (line: string) => void): Promise<void> {
  const { platform, k6, rate, duration } = load;
  say(`lists: ${rate} requests/s on a list of ${MEMBERS.toLocaleString('en')} members, for ${duration} s`);
  const contacts = await contactsOf(platform);
  const path = `/v1/crm/lists/${await ensureList(platform)}/members`;
  await fill(platform, path, contacts, say);
  const pages = await walkWhole(platform, path);
  const { metrics, calls, dropped, failed } = await runMixed({
    k6,
    script: join(import.meta.dirname, '../reads.k6.js'),
    target: platform.base_url,
    key: platform.admin_key,
    rate,
    duration,
    sample: { calls: callsOf(path, pages, contacts.slice(-CHANGING)) },
  });
  const figures = figuresOf(metrics);
  for (const line of [...callLines(figures, AIM_MS), depthLine(figures)]) say(line);
  say(`  ${calls} calls, ${dropped} dropped, ${failed} not answered as they should be`);
  // Whoever was removed last comes back, so that nobody may be missing, or there twice.
  await add(platform, path, contacts.slice(-CHANGING));
  await walkWhole(platform, path);
  say(`  afterwards ${MEMBERS.toLocaleString('en')} members again, each once`);
  if (failed > 0) process.exitCode = 1;
}

async function contactsOf(platform: Platform): Promise<string[]> {
  const ids: string[] = [];
  let cursor = '';
  while (ids.length < MEMBERS) {
    const page = await get<{ data: { id: string }[]; page: { next_cursor: string | null } }>(
      platform,
      `/v1/core/contacts?limit=200&sort=created_at${cursor}`,
    );
    ids.push(...page.data.map(({ id }) => id));
    if (page.page.next_cursor === null) break;
    cursor = `&cursor=${encodeURIComponent(page.page.next_cursor)}`;
  }
  if (ids.length < MEMBERS)
    throw new Error(`There are ${ids.length} contacts of ${MEMBERS}: run "npm run load -- seed" first.`);
  return ids.slice(0, MEMBERS);
}

async function ensureList(platform: Platform): Promise<string> {
  const path = `/v1/crm/lists?name=${encodeURIComponent(NAME)}`;
  const { data } = await get<{ data: { id: string }[] }>(platform, path);
  if (data[0]) return data[0].id;
  const made = await request(platform, 'POST', '/v1/crm/lists', { name: NAME });
  return (made.body as { id: string }).id;
}

async function add(platform: Platform, path: string, contactIds: readonly string[]): Promise<number> {
  const { body } = await request(platform, 'POST', path, { contact_ids: contactIds });
  const { added, rejected } = body as { added: number; rejected: unknown[] };
  if (rejected.length > 0) throw new Error(`${rejected.length} contacts could not be added.`);
  return added;
}

async function fill(
  platform: Platform,
  path: string,
  contacts: readonly string[],
  say: (line: string) => void,
): Promise<void> {
  const bar = new ProgressBar(MEMBERS);
  const milliseconds: number[] = [];
  let added = 0;
  for (let at = 0; at < MEMBERS; at += AT_ONCE) {
    const began = performance.now();
    added += await add(platform, path, contacts.slice(at, at + AT_ONCE));
    milliseconds.push(performance.now() - began);
    bar.show(at + AT_ONCE);
  }
  bar.end();
  milliseconds.sort((a, b) => a - b);
  const at = (share: number): string =>
    (milliseconds[Math.floor(milliseconds.length * share)] ?? NaN).toFixed(0);
  say(`  ${added} members added, ${AT_ONCE} at once: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms`);
}

/** @throws Error unless the list is whole */
async function walkWhole(platform: Platform, path: string): Promise<Map<number, string>> {
  const options = { key: 'contact_id', size: PAGE, wanted: PAGES };
  const { items, repeated, pages } = await walk(platform, path, options);
  if (repeated > 0 || items !== MEMBERS)
    throw new Error(`The walk saw ${items} members, ${repeated} of them again; there are ${MEMBERS}.`);
  return pages;
}

/** Of ten calls six read, two add and two remove. */
function callsOf(path: string, pages: ReadonlyMap<number, string>, changing: readonly string[]): object[] {
  const groups = Array.from({ length: changing.length / CHANGED_AT_ONCE }, (_, at) => ({
    contact_ids: changing.slice(at * CHANGED_AT_ONCE, (at + 1) * CHANGED_AT_ONCE),
  }));
  const reading = (page: number, of: string): object => {
    return { name: `members page ${page}`, share: 2, status: 200, least: PAGE, requests: [{ path: of }] };
  };
  const changes = (name: string, method: string, status: number): object => {
    return { name, share: 2, status, requests: groups.map((body) => ({ method, path, body })) };
  };
  return [
    reading(1, `${path}?limit=${PAGE}`),
    ...[...pages].map(([page, of]) => reading(page, of)),
    changes('add members', 'POST', 200),
    changes('remove members', 'DELETE', 204),
  ];
}

function depthLine(figures: readonly CallFigures[]): string {
  const of = (page: number): number =>
    figures.find(({ name }) => name === `members page ${page}`)?.p50 ?? NaN;
  return `  page 1,900 takes ${(of(1_900) / of(1)).toFixed(2)} times what page 1 takes (p50)`;
}
