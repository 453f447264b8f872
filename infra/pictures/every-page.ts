import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pagesOf } from '@customer-platform/kit/console-pages.ts';
import { visitConsole, type ConsoleVisit } from '@customer-platform/kit/console-visit.ts';
import type { Platform } from '@customer-platform/kit/platform.ts';
import type { Browser, Page } from '@customer-platform/testing';

const ID = /[0-9a-f]{8}-[0-9a-f-]{27}/;
const SETTLED_MS = 1_500;
const TRIED_MS = 2_500;
/** Of a screen's own size, how large it is on a sheet. */
const SCALE = 0.5;

const WIDE = { width: 1_440, height: 900 };
const SCREENS = [WIDE, { width: 768, height: 900 }, { width: 360, height: 900 }] as const;
const LOOKS = [
  { colorScheme: 'light', locale: 'es' },
  { colorScheme: 'dark', locale: 'en' },
] as const;

/** What the API does meanwhile, and what a page says of it. */
const STATES = {
  loading: undefined,
  refused: { status: 403, code: 'permission_denied', title: 'Not allowed' },
  away: { status: 503, code: 'dependency_unavailable', title: 'Away' },
} as const;
type State = keyof typeof STATES;
const stateNames = Object.keys(STATES) as State[];

interface Options {
  platform: Platform;
  browser: Browser;
  /** Of the platform, with its `demo.json`. */
  data: string;
  out: string;
  /** Pages whose address begins so; all without it. */
  only: string;
}

/**
 * Two sheets of every page of the Console: at three widths in both themes and languages, and what it shows while the API
 * has not answered, refuses, and is away.
 */
export async function keepEveryPage({ platform, browser, data, out, only }: Options): Promise<void> {
  mkdirSync(out, { recursive: true });
  const paths = (await pagesOf(platform)).filter((path) => path.startsWith(only));
  const visits: ConsoleVisit[] = [];
  for (const look of LOOKS) visits.push(await visitConsole(data, browser, { viewport: WIDE, ...look }));
  const sheet = await browser.newPage();
  for (const path of paths) {
    const name = path === '' ? 'home' : path.replace(ID, 'one').replaceAll(/[/?=]/g, '-');
    const looks: Buffer[] = [];
    for (const visit of visits) for (const screen of SCREENS) looks.push(await lookAt(visit, path, screen));
    await keepSheet(sheet, looks, join(out, `${name}.png`));
    const states: Buffer[] = [];
    for (const visit of visits.slice(0, 1))
      for (const state of stateNames) states.push(await lookWhile(visit, path, state));
    await keepSheet(sheet, states, join(out, `${name}.states.png`));
  }
}

async function lookAt({ page, at }: ConsoleVisit, path: string, viewport: typeof WIDE): Promise<Buffer> {
  await page.setViewportSize(viewport);
  await page.goto(at(path));
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  // A page that follows something live is never quiet, so that there is nothing to wait for.
  await pause(SETTLED_MS);
  return page.screenshot();
}

async function lookWhile({ page, at }: ConsoleVisit, path: string, state: State): Promise<Buffer> {
  const answer = STATES[state];
  const calls = '**/v1/**';
  await page.setViewportSize(WIDE);
  await page.route(calls, async (route) => {
    if (answer === undefined) return;
    const { status, ...problem } = answer;
    const body = JSON.stringify({ type: `/problems/${answer.code}`, status, ...problem });
    await route.fulfill({ status, body, contentType: 'application/problem+json' });
  });
  await page.goto(at(path), { waitUntil: 'commit' });
  await page.waitForLoadState('load');
  await pause(TRIED_MS);
  const picture = await page.screenshot();
  await page.unroute(calls);
  return picture;
}

/** Pictures beside each other, a row for each look, as one. */
async function keepSheet(page: Page, pictures: readonly Buffer[], file: string): Promise<void> {
  const images = pictures.map(
    (picture) =>
      `<img style="zoom:${String(SCALE)}" src="data:image/png;base64,${picture.toString('base64')}">`,
  );
  const rows = images.length > SCREENS.length ? LOOKS.length : 1;
  const each = images.length / rows;
  const lines = Array.from({ length: rows }, (_, row) => images.slice(row * each, (row + 1) * each).join(''));
  await page.setContent(
    `<body style="margin:0;display:inline-block;background:#888">${lines.map((line) => `<div style="display:flex;gap:8px;margin:8px">${line}</div>`).join('')}`,
  );
  await page.locator('body').screenshot({ path: file });
  process.stdout.write(`${file}\n`);
}
