/**
 * `npm run console:budgets -- [--data DIR] [--events N]`
 *
 * What the Console of the running platform costs a browser: JavaScript, largest contentful paint, layout shift, long
 * tasks and the slowest interaction of each page, and what the live view does while N events a second come in (100
 * unless given). It prints; the budgets beside the figures are those of docs/spec/console.md.
 */
import { randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { visitConsole, type ConsoleVisit } from '@customer-platform/kit/console-visit.ts';
import { runningPlatform, type Platform } from '@customer-platform/kit/platform.ts';
import { startChromium } from '@customer-platform/testing';

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: join(resolve(import.meta.dirname, '../..'), '.data') },
    events: { type: 'string', default: '100' },
  },
});

const PAGES = [
  '',
  'events',
  'contacts',
  'segments',
  'messages',
  'loyalty',
  'developers',
  'organization',
  'audit',
];
const SETTLED_MS = 2_000;
const STREAMED_S = 20;

interface Figures {
  scriptBytes: number;
  paintMs: number;
  shift: number;
  longTasks: number;
  longestMs: number;
  interactionMs: number;
}

/** Notes from the first moment of a page on what its performance entries say. */
const OBSERVE = `
  window.figures = { paintMs: 0, shift: 0, longTasks: 0, longestMs: 0, interactionMs: 0 };
  const note = (type, take, options = {}) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true, ...options });
  note('largest-contentful-paint', (entry) => { window.figures.paintMs = entry.startTime; });
  note('layout-shift', (entry) => { if (!entry.hadRecentInput) window.figures.shift += entry.value; });
  note('longtask', ({ duration }) => {
    window.figures.longTasks += 1;
    window.figures.longestMs = Math.max(window.figures.longestMs, duration);
  });
  note('event', ({ duration, interactionId }) => {
    if (interactionId) window.figures.interactionMs = Math.max(window.figures.interactionMs, duration);
  }, { durationThreshold: 16 });`;

async function figuresOf({ page, at }: ConsoleVisit, path: string): Promise<Figures> {
  await page.goto(at(path));
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await pause(SETTLED_MS);
  // An interaction that every page has: the palette, opened, written into and closed.
  await page.keyboard.press('Control+K');
  await page.getByRole('combobox').waitFor();
  await page.keyboard.type('an');
  await page.keyboard.press('Escape');
  await pause(SETTLED_MS);
  const scriptBytes = await page.evaluate<number>(`performance.getEntriesByType('resource')
    .filter(({ name }) => new URL(name).pathname.endsWith('.js'))
    .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`);
  return { ...(await page.evaluate<Omit<Figures, 'scriptBytes'>>('window.figures')), scriptBytes };
}

function printed(path: string, figures: Figures): string {
  const { scriptBytes, paintMs, shift, longTasks, longestMs, interactionMs } = figures;
  return [
    (path === '' ? 'home' : path).padEnd(14),
    `${(scriptBytes / 1_024).toFixed(0)} kB`.padStart(8),
    `${paintMs.toFixed(0)} ms`.padStart(9),
    shift.toFixed(3).padStart(8),
    `${interactionMs.toFixed(0)} ms`.padStart(12),
    `${longTasks} (${longestMs.toFixed(0)} ms)`.padStart(14),
  ].join('');
}

/** Sends events at a steady rate, a tenth of a second's at a time. */
async function stream({ base_url: base, ingestion_key: key }: Platform, perSecond: number): Promise<void> {
  for (let sent = 0; sent < STREAMED_S * 10; sent += 1) {
    const events = Array.from({ length: Math.ceil(perSecond / 10) }, (_, at) => ({
      event: 'page_viewed',
      external_id: `visitor-${at}`,
      idempotency_key: randomUUID(),
      occurred_at: new Date().toISOString(),
      properties: { path: `/products/${at}` },
    }));
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const [answer] = await Promise.all([
      fetch(`${base}/v1/core/batch`, { method: 'POST', headers, body: JSON.stringify({ events }) }),
      pause(100),
    ]);
    await answer.body?.cancel();
  }
}

async function main(): Promise<void> {
  const platform = await runningPlatform(values.data);
  const browser = await startChromium();
  try {
    const visit = await visitConsole(values.data, browser, { viewport: { width: 1_440, height: 900 } });
    await visit.page.context().addInitScript(OBSERVE);
    process.stdout.write('page          JS, gzip      LCP   shift  interaction    long tasks\n');
    process.stdout.write('budget         200 kB  1,500 ms     0.0       100 ms\n');
    for (const path of PAGES) process.stdout.write(`${printed(path, await figuresOf(visit, path))}\n`);
    await visit.page.goto(visit.at('events'));
    await visit.page.getByRole('heading', { level: 1 }).waitFor();
    await stream(platform, Number(values.events));
    const { longTasks, longestMs } = await visit.page.evaluate<Figures>('window.figures');
    const during = `${values.events} events a second for ${STREAMED_S} s`;
    process.stdout.write(
      `live, ${during}: ${longTasks} long tasks, the longest ${longestMs.toFixed(0)} ms\n`,
    );
  } finally {
    await browser.close();
  }
}

await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
