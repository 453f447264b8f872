import { percentile } from '@customer-platform/kit/percentile.ts';
import type { ConsoleVisit } from '@customer-platform/kit/console-visit.ts';
import type { Platform } from '@customer-platform/kit/platform.ts';
import { adminOf } from '@customer-platform/kit/public-api.ts';

/** More than an answer of the platform has: what is measured here is scrolling, and not the way there. */
const PAGE_OF = 5_000;
const SCROLLED_FOR_MS = 5_000;
const LOADED_WITHIN_MS = 60_000;
/** A frame that took longer than this was missed at 60 a second. */
const LATE_MS = 1_000 / 60 + 8;
const LEAST_ROW_PX = 40;
const APART_MS = 600_000;

interface Item {
  id: string;
  occurred_at: string;
  correlation_id: string;
  data: Record<string, unknown>;
}

/** Runs `move` once a frame, and answers how long each frame took. */
const scrolling = (move: string): string => `new Promise((resolve) => {
  const page = document.getElementById('content');
  const frames = [];
  const begun = performance.now();
  let before = begun, down = 1;
  const step = (now) => {
    frames.push(now - before);
    before = now;
    const end = page.scrollHeight - page.clientHeight;
    if (page.scrollTop >= end - 2) down = -1;
    if (page.scrollTop <= 1) down = 1;
    ${move}
    if (now - begun < ${String(SCROLLED_FOR_MS)}) requestAnimationFrame(step);
    else resolve(frames.slice(1));
  };
  requestAnimationFrame(step);
})`;

/** As a quick hand does. */
const STEADY = scrolling('page.scrollTop += down * 60;');
/** As one who drags the bar does: each frame shows rows that were not there. */
const THROWN = scrolling('page.scrollTop = Math.abs(Math.sin(frames.length * 12.9898)) * end;');
/** Nothing but an empty page's frames, for what the machine can do. */
const IDLE = scrolling('');

/** Reads on until all of it is there. */
const toTheEnd = (items: number): string => `new Promise((resolve, reject) => {
  const page = document.getElementById('content');
  const given = setTimeout(() => reject(new Error('The timeline was not read to its end.')), ${String(LOADED_WITHIN_MS)});
  const timer = setInterval(() => {
    page.scrollTop = page.scrollHeight;
    if (page.scrollHeight < ${String(items * LEAST_ROW_PX)}) return;
    clearInterval(timer);
    clearTimeout(given);
    resolve();
  }, 100);
})`;

/**
 * How a timeline of so many items scrolls. The platform's answers are made up here, of what it answers for the contact of
 * the demo: reading a hundred thousand items is measured by `npm run load -- timeline`, drawing them by this.
 */
export async function scrollFigures(
  { page, at }: ConsoleVisit,
  platform: Platform & { contact_id?: string },
  items: number,
): Promise<string[]> {
  const { contact_id: contact = '' } = platform;
  const admin = await adminOf(platform);
  const params = { path: { id: contact }, query: { limit: 50 } };
  const { data: timeline } = await admin.GET('/v1/crm/contacts/{id}/timeline', { params });
  const models = timeline.data as unknown as Item[];
  await page.route(/\/v1\/crm\/contacts\/[^/]+\/timeline\?/, (route) => {
    const asked = new URL(route.request().url()).searchParams;
    const from = Number(asked.get('cursor') ?? 0);
    const isHead = asked.get('limit') === '50';
    const to = Math.min(from + (isHead ? 50 : PAGE_OF), items);
    const data = Array.from({ length: to - from }, (_, index) => copied(models, from + index));
    const next_cursor = to < items ? String(to) : null;
    return route.fulfill({ json: { data, page: { limit: 100, next_cursor }, unreachable: [] } });
  });
  await page.goto(at(`contacts/${contact}`));
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.evaluate(toTheEnd(items));
  const costs = await costsOf(page);
  const idle = await costs(IDLE);
  const steady = await costs(STEADY);
  const thrown = await costs(THROWN);
  const nodes = await page.evaluate<number>('document.querySelectorAll("*").length');
  return [
    `timeline of ${String(items)} items, ${String(nodes)} elements:`,
    `  standing still:           ${idle}`,
    `  scrolled 60 px a frame:   ${steady}`,
    `  thrown about every frame: ${thrown}`,
  ];
}

/** The item at a place of the made-up timeline: each a chain of its own, ten minutes before the one above it. */
function copied(models: readonly Item[], place: number): Item {
  const model = models[place % models.length];
  if (model === undefined) throw new Error('The demo contact has no timeline yet: run "npm run demo" first.');
  const occurred_at = new Date(BEGUN - place * APART_MS).toISOString();
  const id = `00000000-0000-7000-8000-${String(place).padStart(12, '0')}`;
  const data = { ...model.data, id, occurred_at, received_at: occurred_at, correlation_id: id };
  return { ...model, id, occurred_at, correlation_id: id, data };
}

const BEGUN = Date.now();

/** What the browser's main thread does, by the names of its own counters; in seconds since the page began. */
const WORK = { script: 'ScriptDuration', style: 'RecalcStyleDuration', layout: 'LayoutDuration' } as const;

/**
 * Scrolls, and tells the frames and what each of them cost the main thread: on a machine that has other work, too, frames
 * a second are those of the machine, and milliseconds a frame those of the page.
 */
async function costsOf(page: ConsoleVisit['page']): Promise<(scrolled: string) => Promise<string>> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable');
  const spent = async (): Promise<Map<string, number>> =>
    new Map((await devtools.send('Performance.getMetrics')).metrics.map(({ name, value }) => [name, value]));
  return async (scrolled) => {
    const before = await spent();
    const frames = await page.evaluate<number[]>(scrolled);
    const after = await spent();
    const work = Object.entries(WORK).map(([name, counter]) => {
      const ms = ((after.get(counter) ?? 0) - (before.get(counter) ?? 0)) * 1_000;
      return `${name} ${(ms / frames.length).toFixed(1)}`;
    });
    return `${framesOf(frames)}; ms a frame: ${work.join(', ')}`;
  };
}

function framesOf(frames: number[]): string {
  const at = (share: number): string => percentile(frames, share).toFixed(1);
  const perSecond = (frames.length / frames.reduce((sum, ms) => sum + ms, 0)) * 1_000;
  const late = frames.filter((ms) => ms > LATE_MS).length;
  return (
    `${perSecond.toFixed(1)} frames a second; median ${at(0.5)} ms, p95 ${at(0.95)} ms, ` +
    `longest ${percentile(frames, 1).toFixed(0)} ms; ${String(late)} of ${String(frames.length)} late`
  );
}
