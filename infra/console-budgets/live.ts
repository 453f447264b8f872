import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { ConsoleVisit } from '@customer-platform/kit/console-visit.ts';
import type { Platform } from '@customer-platform/kit/platform.ts';
import type { Figures } from './pages.ts';

/** How many events, for how long. */
interface Span {
  perSecond: number;
  minutes: number;
}

const TURNS_A_SECOND = 10;

/** What the live view does while events come in: its long tasks, and what it holds in memory at both ends. */
export async function liveFigures(visit: ConsoleVisit, platform: Platform, span: Span): Promise<string[]> {
  const { page, at } = visit;
  await page.goto(at('events'));
  await page.getByRole('heading', { level: 1 }).waitFor();
  const seconds = Math.round(span.minutes * 60);
  // The rows that the view keeps are all there after a while: what comes on top of them from then on would be a leak.
  const filling = Math.min(10, seconds / 2);
  const refusedAtFirst = await stream(platform, span.perSecond, filling);
  const before = await heldMegabytes(visit);
  const refused = refusedAtFirst + (await stream(platform, span.perSecond, seconds - filling));
  const after = await heldMegabytes(visit);
  const { longTasks, longestMs } = await page.evaluate<Figures>('window.figures');
  const nodes = await page.evaluate<number>('document.querySelectorAll("*").length');
  return [
    `live view, ${String(span.perSecond)} events a second for ${String(seconds)} s (${String(refused)} refused):`,
    `  ${String(longTasks)} long tasks, the longest ${longestMs.toFixed(0)} ms; ${String(nodes)} elements`,
    `  memory after ${filling.toFixed(0)} s ${before.toFixed(1)} MB, at the end ${after.toFixed(1)} MB`,
  ];
}

/** Sends events at a steady rate. @returns how many were not accepted */
async function stream({ base_url: base, ingestion_key: key }: Platform, perSecond: number, seconds: number) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  let refused = 0;
  for (let sent = 0; sent < seconds * TURNS_A_SECOND; sent += 1) {
    const events = Array.from({ length: Math.ceil(perSecond / TURNS_A_SECOND) }, (_, at) => ({
      event: 'page_viewed',
      external_id: `visitor-${String(at)}`,
      idempotency_key: randomUUID(),
      occurred_at: new Date().toISOString(),
      properties: { path: `/products/${String(at)}` },
    }));
    const [answer] = await Promise.all([
      fetch(`${base}/v1/core/batch`, { method: 'POST', headers, body: JSON.stringify({ events }) }),
      pause(1_000 / TURNS_A_SECOND),
    ]);
    if (!answer.ok) refused += events.length;
    await answer.body?.cancel();
  }
  return refused;
}

/** What the page's scripts hold once all that nobody needs has been collected. */
async function heldMegabytes({ page }: ConsoleVisit): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize / 1_000_000;
}
