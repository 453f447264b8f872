import { setTimeout as pause } from 'node:timers/promises';
import type { ConsoleVisit } from '@customer-platform/kit/console-visit.ts';

const SETTLED_MS = 700;
const COLUMNS = [30, 10, 9, 10, 8, 13, 16] as const;
const ID = /[0-9a-f]{8}-[0-9a-f-]{27}/;

/** What a page cost. */
export interface Figures {
  /** Until the largest content was there, and with what is loaded after it and for the interaction. */
  firstBytes: number;
  scriptBytes: number;
  paintMs: number;
  shift: number;
  longTasks: number;
  longestMs: number;
  interactionMs: number;
}

/** Notes from the first moment of a page on what its performance entries say. */
export const OBSERVE = `
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

/** A page as it is opened by its address, with an interaction that every page has: the palette, written into and closed. */
export async function figuresOf({ page, at }: ConsoleVisit, path: string): Promise<Figures> {
  await page.goto(at(path));
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await pause(SETTLED_MS);
  await page.keyboard.press('Control+K');
  await page.getByRole('combobox').last().waitFor();
  await page.keyboard.type('an');
  await page.keyboard.press('Escape');
  await pause(SETTLED_MS);
  const { paintMs, ...figures } =
    await page.evaluate<Omit<Figures, 'firstBytes' | 'scriptBytes'>>('window.figures');
  const scripts = await page.evaluate<
    { at: number; bytes: number }[]
  >(`performance.getEntriesByType('resource')
    .filter(({ name }) => new URL(name).pathname.endsWith('.js'))
    .map(({ startTime: at, encodedBodySize: bytes }) => ({ at, bytes }))`);
  const sum = (until: number): number =>
    scripts.reduce((before, { at: begun, bytes }) => before + (begun <= until ? bytes : 0), 0);
  return { ...figures, paintMs, firstBytes: sum(paintMs), scriptBytes: sum(Infinity) };
}

/** The lines above the pages. */
export function heading(): string[] {
  return [
    aligned(['page', 'first JS', 'all JS', 'LCP', 'shift', 'interaction', 'long tasks']),
    aligned(['budget', '200 kB', '', '1,500 ms', '0.000', '100 ms', '']),
  ];
}

/** A page's line. */
export function row(path: string, figures: Figures): string {
  const { firstBytes, scriptBytes, paintMs, shift, longTasks, longestMs, interactionMs } = figures;
  return aligned([
    path === '' ? 'home' : path.replace(ID, '…'),
    `${(firstBytes / 1_000).toFixed(0)} kB`,
    `${(scriptBytes / 1_000).toFixed(0)} kB`,
    `${paintMs.toFixed(0)} ms`,
    shift.toFixed(3),
    `${interactionMs.toFixed(0)} ms`,
    `${String(longTasks)} (${longestMs.toFixed(0)} ms)`,
  ]);
}

function aligned(cells: string[]): string {
  return cells
    .map((cell, at) => (at === 0 ? cell.padEnd(COLUMNS[0]) : cell.padStart(COLUMNS[at] ?? 0)))
    .join('');
}
