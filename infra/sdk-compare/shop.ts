import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from '@customer-platform/testing';
import { rolldown } from 'rolldown';
import type { PageSender } from './senders.ts';
import { StandIn } from './stand-in.ts';

type Context = Awaited<ReturnType<Browser['newContext']>>;

/** Nothing listens there: what is not asked of this machine is asked of nobody. */
const NOBODY = 'http://127.0.0.1:1';
/** Time for a sender to be ready, which not all of them are when their script has run. */
const READY_MS = 1_000;

let series = 0;
/** Names that no event has had. */
export function someNames(count: number): string[] {
  series += 1;
  return Array.from({ length: count }, (_, i) => `event-${series}-${i}`);
}

/** A site whose pages have a sender, and where its events go. */
export class Shop {
  /** Hosts that pages asked besides. */
  readonly strangers = new Set<string>();
  readonly events: StandIn;
  private readonly browser: Browser;

  private constructor(events: StandIn, browser: Browser) {
    this.events = events;
    this.browser = browser;
  }

  /** @param scratch a folder from which the senders' packages are found */
  static async open(sender: PageSender, browser: Browser, scratch: string): Promise<Shop> {
    const events = await StandIn.start();
    for (const [path, code] of await bundle(sender, scratch)) events.scripts.set(path, code);
    return new Shop(events, browser);
  }

  /** A visitor, with a storage of their own. */
  async visitor(): Promise<Context> {
    const context = await this.browser.newContext({
      proxy: { server: NOBODY, bypass: 'localhost,127.0.0.1' },
    });
    await context.addInitScript(`window.URL_OF_EVENTS = ${JSON.stringify(this.events.url)}`);
    // Looked at and not held: a request that is held ends with its page, which browsers spare it.
    context.on('request', (request) => {
      const { hostname } = new URL(request.url());
      if (hostname !== '127.0.0.1' && hostname !== 'localhost') this.strangers.add(hostname);
    });
    return context;
  }

  /** A page without the sender. */
  async emptyPage(visitor: Context): Promise<Page> {
    const page = await visitor.newPage();
    await page.goto(this.events.site);
    return page;
  }

  async load(page: Page): Promise<void> {
    await page.addScriptTag({ url: '/sender.js', type: 'module' });
    await page.waitForFunction('window.track !== undefined');
    await page.waitForTimeout(READY_MS);
  }

  async page(visitor: Context): Promise<Page> {
    const page = await this.emptyPage(visitor);
    await this.load(page);
    return page;
  }

  /** Waits until all have arrived, not for ever. @returns seconds that it took */
  async arrived(names: readonly string[], withinMs: number): Promise<number> {
    const began = performance.now();
    while (this.events.lost(names) > 0 && performance.now() - began < withinMs)
      await new Promise((resolve) => setTimeout(resolve, 50));
    return (performance.now() - began) / 1_000;
  }

  /** kB of the scripts that pages have loaded, each compressed as a server would. */
  get kilobytes(): number {
    const codes = [...this.events.loaded].map((path) => this.events.scripts.get(path) ?? '');
    return codes.reduce((sum, code) => sum + gzipSync(code, { level: 9 }).length, 0) / 1_000;
  }

  close(): void {
    this.events.stop();
  }
}

/** What calls the sender in a page. */
export const calls = (names: readonly string[]): string =>
  `for (const name of ${JSON.stringify(names)}) window.track(name);`;

/** The page's scripts by their paths: what a sender imports only when it needs it stays apart. */
async function bundle({ name, module }: PageSender, scratch: string): Promise<Map<string, string>> {
  const folder = join(scratch, name.replace(/\W/g, ''));
  mkdirSync(folder);
  const input = join(folder, 'sender.js');
  writeFileSync(input, module);
  const built = await rolldown({ input, platform: 'browser', logLevel: 'silent' });
  const { output } = await built.generate({ format: 'es', minify: true, entryFileNames: 'sender.js' });
  await built.close();
  const chunks = output.filter((one) => one.type === 'chunk');
  return new Map(chunks.map(({ fileName, code }) => [`/${fileName}`, code]));
}
