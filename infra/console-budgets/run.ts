/**
 * `npm run console:budgets -- [--data DIR] [--events N] [--minutes M] [--items N]`
 *
 * What the Console of the running platform costs a browser: JavaScript, largest contentful paint, layout shift, long
 * tasks and the slowest interaction of each page; long tasks and memory of the live view while N events a second come in
 * (100 unless given) for M minutes (a third of one unless given); and with `--items` the frames of a timeline of so
 * many while it is scrolled. It prints, and asserts nothing: the budgets beside the figures are those of
 * docs/spec/console.md.
 */
import { cpus, loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { pagesOf } from '@customer-platform/kit/console-pages.ts';
import { visitConsole } from '@customer-platform/kit/console-visit.ts';
import { runningPlatform } from '@customer-platform/kit/platform.ts';
import { startChromium } from '@customer-platform/testing';
import { figuresOf, heading, OBSERVE, row } from './pages.ts';
import { liveFigures } from './live.ts';
import { scrollFigures } from './scrolling.ts';

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: join(resolve(import.meta.dirname, '../..'), '.data') },
    events: { type: 'string', default: '100' },
    minutes: { type: 'string', default: '0.33' },
    items: { type: 'string', default: '0' },
  },
});

const print = (line: string): boolean => process.stdout.write(`${line}\n`);

async function main(): Promise<void> {
  const platform = await runningPlatform(values.data);
  const browser = await startChromium();
  const [cpu] = cpus();
  print(
    `${String(cpus().length)} × ${cpu?.model ?? '?'}, load ${loadavg()[0]?.toFixed(1) ?? '?'}, Chromium ${browser.version()}\n`,
  );
  try {
    const visit = await visitConsole(values.data, browser, { viewport: { width: 1_440, height: 900 } });
    await visit.page.context().addInitScript(OBSERVE);
    for (const line of heading()) print(line);
    for (const path of await pagesOf(platform)) print(row(path, await figuresOf(visit, path)));
    print('');
    const span = { perSecond: Number(values.events), minutes: Number(values.minutes) };
    for (const line of await liveFigures(visit, platform, span)) print(line);
    const items = Number(values.items);
    if (items > 0) for (const line of await scrollFigures(visit, platform, items)) print(line);
  } finally {
    await browser.close();
  }
}

await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
