/**
 * `npm run load -- lists [--rate N] [--duration S]`: fills a list of the demo organization of the running platform with
 * 100,000 members, a thousand at once, and reads its pages while members are added and removed; after
 * `npm run load -- seed`, which makes the contacts. The list is left for the next run.
 */
import { join } from 'node:path';
import { percentile } from '@customer-platform/kit/percentile.ts';
import { ProgressBar } from '@customer-platform/replay/progress-bar.ts';
import type { Client } from '@customer-platform/client';
import type { Platform } from '@customer-platform/kit/platform.ts';
import { adminOf } from '@customer-platform/kit/public-api.ts';
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
interface ListsLoad {
  platform: Platform;
  k6: string;
  rate: number;
  duration: number;
}

/** Runs it and prints the figures of each call. */
export async function runLists(load: ListsLoad, say: (line: string) => void): Promise<void> {
  const { platform, k6, rate, duration } = load;
  say(`lists: ${rate} requests/s on a list of ${MEMBERS.toLocaleString('en')} members, for ${duration} s`);
  const admin = await adminOf(platform);
  const contacts = await contactsOf(admin);
  const list = await ensureList(admin);
  const path = `/v1/crm/lists/${list}/members`;
  await fill(admin, list, contacts, say);
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
  await add(admin, list, contacts.slice(-CHANGING));
  await walkWhole(platform, path);
  say(`  afterwards ${MEMBERS.toLocaleString('en')} members again, each once`);
  if (failed > 0) process.exitCode = 1;
}

async function contactsOf(admin: Client): Promise<string[]> {
  const ids: string[] = [];
  const query = { limit: 200, sort: 'created_at' };
  for await (const { id } of admin.items('/v1/core/contacts', { params: { query } })) {
    ids.push(id);
    if (ids.length === MEMBERS) break;
  }
  if (ids.length < MEMBERS)
    throw new Error(`There are ${ids.length} contacts of ${MEMBERS}: run "npm run load -- seed" first.`);
  return ids;
}

async function ensureList(admin: Client): Promise<string> {
  const { data: lists } = await admin.GET('/v1/crm/lists', { params: { query: { name: NAME } } });
  return lists.data[0]?.id ?? (await admin.POST('/v1/crm/lists', { body: { name: NAME } })).data.id;
}

async function add(admin: Client, list: string, contactIds: string[]): Promise<number> {
  const params = { path: { id: list } };
  const { data } = await admin.POST('/v1/crm/lists/{id}/members', {
    params,
    body: { contact_ids: contactIds },
  });
  const { added, rejected } = data;
  if (rejected.length > 0) throw new Error(`${rejected.length} contacts could not be added.`);
  return added;
}

async function fill(
  admin: Client,
  list: string,
  contacts: readonly string[],
  say: (line: string) => void,
): Promise<void> {
  const bar = new ProgressBar(MEMBERS);
  const milliseconds: number[] = [];
  let added = 0;
  for (let at = 0; at < MEMBERS; at += AT_ONCE) {
    const began = performance.now();
    added += await add(admin, list, contacts.slice(at, at + AT_ONCE));
    milliseconds.push(performance.now() - began);
    bar.show(at + AT_ONCE);
  }
  bar.end();
  const at = (share: number): string => percentile(milliseconds, share).toFixed(0);
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
