import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** What `npm start` writes into `.data/demo.json`. */
export interface Platform {
  base_url: string;
  console_url?: string;
  core_url?: string;
  mail_url: string;
  organization_id: string;
  ingestion_key: string;
  admin_key: string;
  kafka_brokers: string;
  /** Each module's database, as its owner. */
  database_urls?: Record<string, string>;
  /** The server as its administrator. */
  postgres_url?: string;
}

const LOOPBACK = /^https?:\/\/(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])(?::\d+)?(?:\/|$)/;

/** @throws Error with the remedy where nothing has been started, or what was started is not on this machine. */
export function readPlatform(dataFolder: string): Platform {
  const file = join(dataFolder, 'demo.json');
  if (!existsSync(file)) throw new Error(`${file} is not there: start the platform first with "npm start".`);
  const platform = JSON.parse(readFileSync(file, 'utf8')) as Platform;
  if (!LOOPBACK.test(platform.base_url)) {
    throw new Error(`Load is only sent to this machine; ${platform.base_url} is another one.`);
  }
  return platform;
}

/** How long a front door may take to answer anything at all before it counts as gone. */
const ANSWERS_WITHIN_MS = 10_000;

/** As {@link readPlatform}, and it runs. @throws Error with the remedy where nobody answers at its address. */
export async function runningPlatform(dataFolder: string): Promise<Platform> {
  const platform = readPlatform(dataFolder);
  try {
    const answer = await fetch(platform.base_url, { signal: AbortSignal.timeout(ANSWERS_WITHIN_MS) });
    await answer.body?.cancel();
  } catch (cause) {
    const remedy = 'It has ended, or hangs: start it again with "npm start".';
    throw new Error(`Nobody answers at ${platform.base_url}, where the platform ran. ${remedy}`, { cause });
  }
  return platform;
}

/** GET with the administrator key. @throws Error with status and problem code. */
export async function get<T>(platform: Platform, path: string): Promise<T> {
  return (await request(platform, 'GET', path)).body as T;
}

/** For so long a call is made again that was denied because a busy machine kept identity from answering in time. */
const DENIED_FOR_MS = 15_000;
const AGAIN_AFTER_MS = 250;

/**
 * Any call with the administrator key. One that is denied as `authorization_unavailable` has had no effect, and is made
 * again for a while.
 *
 * @throws Error with status, code and detail of every answer that is neither 2xx nor one of `allow`.
 */
export async function request(
  platform: Platform,
  method: string,
  path: string,
  body?: unknown,
  options: { allow?: number[]; headers?: Record<string, string> } = {},
): Promise<{ status: number; body: unknown }> {
  for (const giveUpAt = Date.now() + DENIED_FOR_MS; ; await pause(AGAIN_AFTER_MS)) {
    const answer = await fetch(platform.base_url + path, {
      method,
      headers: {
        authorization: `Bearer ${platform.admin_key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    const parsed = (text === '' ? {} : JSON.parse(text)) as { code?: string; detail?: string };
    if (answer.ok || options.allow?.includes(answer.status)) return { status: answer.status, body: parsed };
    if (parsed.code === 'authorization_unavailable' && Date.now() < giveUpAt) continue;
    throw new Error(`${method} ${path}: ${answer.status} ${parsed.code ?? ''} ${parsed.detail ?? ''}`);
  }
}

export interface EventCounts {
  accepted: number;
  stored: number;
  duplicates: number;
  dead_lettered: number;
  pending: number;
  refused: number;
}

/** The conservation counters over today and yesterday (UTC), so that a run across midnight is whole. */
export async function readCounts(platform: Platform): Promise<EventCounts> {
  const day = (offset: number): string =>
    new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);
  const usage = await get<{ totals: { events: EventCounts } }>(
    platform,
    `/v1/core/usage?from=${day(-1)}&to=${day(0)}`,
  );
  return usage.totals.events;
}

/** Waits until the queue is empty, at most `seconds`. */
export async function drained(platform: Platform, seconds: number): Promise<EventCounts> {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const counts = await readCounts(platform);
    if (counts.pending === 0 || Date.now() > deadline) return counts;
    await pause(AGAIN_AFTER_MS);
  }
}
