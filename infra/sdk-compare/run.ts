/**
 * `npm run sdk:compare -- [--runs N] [--outage SECONDS]`
 *
 * Holds libs/track beside Segment's and RudderStack's senders, as they come from npm: what they cost a page and what they
 * lose; with `--runs 0` only the outage. All send to a stand-in on this machine, which remembers what arrives; requests to anywhere else fail, and are
 * named. Prints figures, asserts none.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Browser, startChromium } from '@customer-platform/testing';
import { NODE_SENDERS, type NodeSender, PAGE_SENDERS, type PageSender } from './senders.ts';
import { calls, Shop, someNames } from './shop.ts';
import { StandIn } from './stand-in.ts';

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '10' }, outage: { type: 'string', default: '20' } },
});
/** Within the repository: from there the senders' packages are found. */
const DATA = join(import.meta.dirname, '../../.data');
const RUNS = Number(values.runs);
const OUTAGE_MS = 1_000 * Number(values.outage);
/** What a page that is gone may still have on its way. */
const GONE_MS = 4_000;
/** What a former page has left may have to wait until it is certain that the page is gone. */
const NEXT_PAGE_MS = 30_000;
const IN_OUTAGE = 20;
/** Retries' pauses have grown by then, to as long as the outage has been. */
const RECOVER_MS = 60_000 + OUTAGE_MS;
/** Fewer than make any of them send at once, which it would have to do with a page that ends. */
const EVENTS = 7;
const MANY = 100;

type Row = Record<string, string | number>;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(): Promise<void> {
  mkdirSync(DATA, { recursive: true });
  const scratch = mkdtempSync(join(DATA, 'sdk-compare-'));
  const browser = await startChromium();
  try {
    const shops: [PageSender, Shop][] = [];
    for (const sender of PAGE_SENDERS) shops.push([sender, await Shop.open(sender, browser, scratch)]);
    const rows: Record<string, Row> = {};
    for (const [{ name }, shop] of shops) rows[name] = await ofPages(shop);
    // An outage is waiting, for the most part: of all of them at once.
    const outages = await Promise.all(shops.map(([, shop]) => outage(shop)));
    for (const [at, [{ name }, shop]] of shops.entries()) {
      const besides = { 'asked besides': [...shop.strangers].join(' ') || 'nobody' };
      rows[name] = { ...rows[name], ...outages[at], ...besides };
      shop.close();
    }
    print(rows);
    say(
      `The outage took ${OUTAGE_MS / 1_000} s; ${RECOVER_MS / 1_000} s were waited at most after it.\n` +
        `Medians of ${RUNS} pages; ${RUNS} pages left, and ${RUNS} processes killed, in the task of ${EVENTS} calls.\n`,
    );
    if (RUNS === 0) return;
    const kills: Record<string, Row> = {};
    for (const sender of NODE_SENDERS) kills[sender.name] = await ofKills(sender, scratch);
    print(kills);
  } finally {
    await browser.close();
    rmSync(scratch, { recursive: true });
  }
}

/** As a table of Markdown: senders beside each other. */
function print(rows: Record<string, Row>): void {
  const names = Object.keys(rows);
  const line = (cells: readonly (string | number)[]): void => say(`| ${cells.join(' | ')} |`);
  line(['', ...names]);
  line(['---', ...names.map(() => '---')]);
  for (const figure of Object.keys(rows[names[0] ?? ''] ?? {}))
    line([figure, ...names.map((name) => rows[name]?.[figure] ?? '')]);
  say('');
}

async function ofPages(shop: Shop): Promise<Row> {
  if (RUNS === 0) return {};
  const { loading, sending } = await mainThread(shop);
  const { atOnce, afterNext } = await leaving(shop);
  const of = (count: number): string => `${count} of ${RUNS * EVENTS}`;
  return {
    'kB of script, gzipped': shop.kilobytes.toFixed(1),
    'main thread, loading, ms': loading.toFixed(0),
    [`main thread, ${MANY} events, ms`]: sending.toFixed(0),
    'lost with a page left at once': of(atOnce),
    'lost after the next page': of(afterNext),
  };
}

/** Milliseconds of the main thread's tasks for loading, and for events until they have arrived: medians. */
async function mainThread(shop: Shop): Promise<{ loading: number; sending: number }> {
  const times: { loading: number; sending: number }[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const visitor = await shop.visitor();
    const page = await shop.emptyPage(visitor);
    const session = await visitor.newCDPSession(page);
    // The thread's own time: what else the machine does is not in it.
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    const spent = async (): Promise<number> => {
      const { metrics } = await session.send('Performance.getMetrics');
      return 1_000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0);
    };
    const before = await spent();
    await shop.load(page);
    const loaded = await spent();
    const names = someNames(MANY);
    await page.evaluate(calls(names));
    await shop.arrived(names, NEXT_PAGE_MS);
    times.push({ loading: loaded - before, sending: (await spent()) - loaded });
    await visitor.close();
  }
  const median = (list: number[]): number => list.sort((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0;
  return {
    loading: median(times.map(({ loading }) => loading)),
    sending: median(times.map(({ sending }) => sending)),
  };
}

type Visitor = Awaited<ReturnType<Browser['newContext']>>;

/** Pages that are left in the task in which the events come, and the next page of the same visitors. */
async function leaving(shop: Shop): Promise<{ atOnce: number; afterNext: number }> {
  const all: string[] = [];
  const visitors: Visitor[] = [];
  let atOnce = 0;
  for (let run = 0; run < RUNS; run += 1) {
    const visitor = await shop.visitor();
    const page = await shop.page(visitor);
    const names = someNames(EVENTS);
    const gone = page.waitForURL('**/next', { waitUntil: 'commit' });
    await page.evaluate(`${calls(names)} location.href = '/next'`);
    await gone;
    await page.close({ runBeforeUnload: true });
    await shop.arrived(names, GONE_MS);
    atOnce += shop.events.lost(names);
    all.push(...names);
    visitors.push(visitor);
  }
  for (const visitor of visitors) await shop.page(visitor);
  await shop.arrived(all, NEXT_PAGE_MS);
  for (const visitor of visitors) await visitor.close();
  return { atOnce, afterNext: shop.events.lost(all) };
}

/** Events that come during an outage: to a page that stays, and to one that is closed before it ends. */
async function outage(shop: Shop): Promise<Row> {
  const [stays, leaves] = [await shop.visitor(), await shop.visitor()];
  const [staying, closing] = [await shop.page(stays), await shop.page(leaves)];
  const [ofStaying, ofClosing] = [someNames(IN_OUTAGE), someNames(IN_OUTAGE)];
  shop.events.isOut = true;
  for (const [at, name] of ofStaying.entries()) {
    await staying.evaluate(calls([name]));
    await closing.evaluate(calls(ofClosing.slice(at, at + 1)));
    await pause(OUTAGE_MS / ofStaying.length);
  }
  await closing.close({ runBeforeUnload: true });
  await pause(GONE_MS);
  shop.events.isOut = false;
  const told = async (names: readonly string[]): Promise<string> => {
    const seconds = await shop.arrived(names, RECOVER_MS);
    const lost = shop.events.lost(names);
    const last =
      lost < names.length ? `, ${lost > 0 ? 'waited' : 'the last after'} ${seconds.toFixed(0)} s` : '';
    return `${lost} of ${names.length}${last}`;
  };
  const next = shop.page(leaves).then(() => told(ofClosing));
  const row = {
    'lost in an outage': await told(ofStaying),
    'lost with a page closed in it, after the next page': await next,
  };
  await stays.close();
  await leaves.close();
  return row;
}

/** Programs that are killed when the sender has what was called, each started once more. */
async function ofKills({ name: sender, module }: NodeSender, scratch: string): Promise<Row> {
  const standIn = await StandIn.start();
  const program = join(scratch, `${sender.replace(/\W/g, '')}.node.mjs`);
  const [imports = '', ...rest] = module.split('\n');
  const names = `const [url, file, ...names] = process.argv.slice(2);
const say = (name) => process.stdout.write(name + '\\n');`;
  writeFileSync(program, [imports, names, ...rest].join('\n'));
  let called = 0;
  let missing = 0;
  for (let run = 0; run < RUNS; run += 1) {
    const file = join(scratch, `queue-${sender.replace(/\W/g, '')}-${run}`);
    const events = someNames(EVENTS);
    const said = await kill(program, [standIn.url, file, ...events], events.length);
    called += said.length;
    await kill(program, [standIn.url, file], 0);
    missing += standIn.lost(said);
  }
  standIn.stop();
  return { 'lost at kill -9, after the next start': `${missing} of ${called}` };
}

/** Starts a program and kills it after so many lines, or after a while where it is to say nothing. */
async function kill(program: string, words: string[], lines: number): Promise<string[]> {
  const child = spawn(process.execPath, [program, ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((done) => child.once('exit', done));
  const said: string[] = [];
  const timer = lines === 0 ? setTimeout(() => child.kill('SIGKILL'), GONE_MS) : undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line);
    if (said.length === lines) child.kill('SIGKILL');
  }
  await ended;
  clearTimeout(timer);
  return said;
}

await main();
