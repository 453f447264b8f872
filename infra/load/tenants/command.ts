/**
 * `npm run load -- tenants [--rate N] [--duration S] [--organizations 1,100,1000]`: what an event costs, and how soon it
 * is stored, when the same load comes from one organization, from a hundred, from a thousand. Each part is warmed up
 * first, so that no figure shows the making of organizations, contacts and first credentials.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { adminUrl, connected } from '@customer-platform/kit/databases.ts';
import type { Platform } from '@customer-platform/kit/platform.ts';
import { readUsage, starterOf, type Usage } from '@customer-platform/kit/processes.ts';
import type pg from 'pg';
import { runK6 } from '../k6.ts';
import { foundOrganization } from '../organizations.ts';

/** What is loaded, and how. */
interface TenantsLoad {
  platform: Platform;
  k6: string;
  /** Events a second, of all organizations together. */
  rate: number;
  /** Seconds of each part. */
  duration: number;
  /** How many organizations share the load, part by part. */
  organizations: readonly number[];
}

/** Below each other: an organization has a thousand children at most. */
const CHILDREN_EACH = 250;
const MADE_AT_ONCE = 4;
const WARM_UP_S = 15;
/** After the last event was stored the other modules follow; the CPU that takes is the events' own. */
const SETTLE_MS = 5_000;
const LOOK_EVERY_MS = 50;
const PATIENCE_MS = 120_000;

interface Part {
  organizations: number;
  microseconds: number;
}

/** Runs the parts and prints their figures, the cost of each beside that of the first. */
export async function runTenants(load: TenantsLoad, say: (line: string) => void): Promise<void> {
  const { platform, organizations } = load;
  const folder = mkdtempSync(join(tmpdir(), 'load-'));
  const database = await connected(adminUrl(platform, 'core'));
  try {
    const keys = await keysOf(platform, Math.max(...organizations), say);
    const parts: Part[] = [];
    for (const count of organizations) {
      const file = join(folder, `${count}.json`);
      writeFileSync(file, JSON.stringify(keys.slice(0, count)));
      await measured({ ...load, duration: WARM_UP_S }, database, file);
      say(`\n${count} organizations, ${load.rate} events/s together for ${load.duration} s`);
      const part = await measured(load, database, file, say);
      parts.push({ organizations: count, microseconds: part });
    }
    const [first] = parts;
    const ratios = parts.map(({ microseconds }) => (microseconds / (first?.microseconds ?? NaN)).toFixed(2));
    say(`\nCPU an event, besides k6: ${ratios.join(' : ')}`);
  } finally {
    await database.end();
    rmSync(folder, { recursive: true });
  }
}

/** As many organizations below the demo's, each with a key of its own. */
async function keysOf(platform: Platform, count: number, say: (line: string) => void): Promise<string[]> {
  say(`tenants: making ${count} organizations …`);
  const keys: string[] = [];
  let parent = platform;
  const make = async (): Promise<void> => {
    while (keys.length < count) {
      if (keys.length % CHILDREN_EACH === 0)
        parent = { ...platform, admin_key: await foundOrganization(platform) };
      const at = keys.push('') - 1;
      keys[at] = await foundOrganization(parent);
    }
  };
  await Promise.all(Array.from({ length: MADE_AT_ONCE }, make));
  return keys;
}

/** One part; µs of CPU an event of all processes but k6. */
async function measured(
  { platform, k6, rate, duration }: TenantsLoad,
  database: pg.Client,
  keys: string,
  say: (line: string) => void = () => undefined,
): Promise<number> {
  const summary = `${keys}.summary`;
  const stored = await consumed(database);
  const starter = starterOf(platform.base_url);
  const before = readUsage(starter);
  let whileSending: Usage = before;
  const sampling = setInterval(() => (whileSending = readUsage(starter)), 500);
  const environment = {
    TARGET: platform.base_url,
    KEYS: keys,
    RATE: String(rate),
    DURATION: String(duration),
    RUN: randomUUID(),
  };
  await runK6(k6, join(import.meta.dirname, 'tenants.k6.js'), environment, summary);
  clearInterval(sampling);
  const sent = performance.now();
  const metrics = JSON.parse(readFileSync(summary, 'utf8')) as Record<
    string,
    { values: Record<string, number> }
  >;
  const of = (metric: string, value: string): number => metrics[metric]?.values[value] ?? 0;
  const accepted = of('checks', 'passes');
  while ((await consumed(database)) - stored < accepted) {
    if (performance.now() - sent > PATIENCE_MS)
      throw new Error('What was accepted is not stored after two minutes.');
    await pause(LOOK_EVERY_MS);
  }
  const behind = performance.now() - sent;
  await pause(SETTLE_MS);
  const after = readUsage(starter);
  const costs = [...after.cpu].flatMap(([name, seconds]): [string, number][] =>
    name === 'k6' ? [] : [[name, ((seconds - (before.cpu.get(name) ?? 0)) / accepted) * 1e6]],
  );
  const k6Cost = (((whileSending.cpu.get('k6') ?? 0) - (before.cpu.get('k6') ?? 0)) / accepted) * 1e6;
  const total = costs.reduce((sum, [, cost]) => sum + cost, 0);
  const times = ['med', 'p(95)', 'p(99)'].map((value) => of('http_req_duration', value).toFixed(0));
  say(
    `  track p50 ${times[0]}, p95 ${times[1]}, p99 ${times[2]} ms; ${accepted} accepted, ` +
      `${of('checks', 'fails')} refused, ${of('dropped_iterations', 'count')} dropped`,
  );
  say(`  all stored ${(behind / 1000).toFixed(1)} s after the last 202`);
  say(
    `  µs of CPU an event: ${total.toFixed(0)} (${costs.map(([name, cost]) => `${name} ${cost.toFixed(0)}`).join(', ')}); k6 ${k6Cost.toFixed(0)}`,
  );
  return total;
}

/** Events that the worker has taken off the queue, whatever became of them, of all organizations. */
async function consumed(database: pg.Client): Promise<number> {
  const { rows } = await database.query<{ events: string }>(
    'SELECT coalesce(sum(consumed), 0)::text AS events FROM usage_days',
  );
  return Number(rows[0]?.events ?? 0);
}
