import { eventually, startChromium, type Browser, type Page } from '@customer-platform/testing';
import { bundled } from './page.fixture.js';
import { Receiver } from './receiver.fixture.js';

type Context = Awaited<ReturnType<Browser['newContext']>>;
interface Options {
  flushAfterMs?: number;
  storage?: string;
  key?: string;
  queue?: string;
}

let browser: Browser;
let script: string;
let receiver: Receiver;
let context: Context;
beforeAll(async () => {
  script = await bundled();
  browser = await startChromium();
});
afterAll(() => browser.close());
beforeEach(async () => {
  receiver = await Receiver.start();
  receiver.pages.set('/track.js', ['text/javascript', script]);
  receiver.pages.set('/', ['text/html', '<!doctype html><title>A shop</title>']);
  receiver.pages.set('/favicon.ico', ['image/x-icon', '']);
  context = await browser.newContext();
});
afterEach(async () => {
  await context.close();
  await receiver.stop();
});

/** A page of the shop, with a tracker. */
async function aPage(options: Options = {}): Promise<Page> {
  const page = await context.newPage();
  await page.goto(receiver.site);
  await tracker(page, options);
  return page;
}

async function tracker(page: Page, options: Options = {}): Promise<void> {
  const all = { url: receiver.url, key: 'cpk_live_test', externalId: 'person-1', ...options };
  await page.evaluate(`(async () => {
    const { createTracker } = await import('/track.js');
    window.kept = [];
    window.tracker = createTracker(${JSON.stringify(all)});
  })()`);
}

const track = (page: Page, ...names: string[]): Promise<unknown> =>
  page.evaluate(`Promise.all(${JSON.stringify(names)}.map((name) => window.tracker.track(name)))`);
const counts = (page: Page): Promise<unknown> => page.evaluate('window.tracker.counts');
const stored = (page: Page): Promise<number> => page.evaluate('localStorage.length');
const arrived = (names: string[]): Promise<void> =>
  eventually(async () => expect(receiver.names).toEqual(names));

describe('a page', () => {
  it('sends to another origin, and its queue is empty afterwards', async () => {
    const page = await aPage({ flushAfterMs: 1 });
    expect(await track(page, 'a', 'b')).toEqual(['stored', 'stored']);
    await eventually(async () => expect(await counts(page)).toMatchObject({ queued: 0, delivered: 2 }));
    expect([receiver.names, receiver.repeats, await stored(page)]).toEqual([['a', 'b'], 0, 0]);
  });

  it('that is closed at once loses nothing, though its browser has asked for no leave yet', async () => {
    const page = await aPage();
    await page.evaluate("void window.tracker.track('last')");
    await page.close({ runBeforeUnload: true });
    await arrived(['last']);
    expect(receiver.preflights).toBe(1);
  });

  it('that is left for another one loses nothing', async () => {
    const page = await aPage();
    await page.evaluate("window.tracker.track('clicked'); location.href = '/?next'");
    await page.waitForURL(/next/);
    await arrived(['clicked']);
  });

  it('with more than a browser sends for a page that has ended leaves the rest to the next page', async () => {
    const page = await aPage();
    await page.evaluate(`(() => {
      const text = 'x'.repeat(10_000);
      for (let i = 0; i < 20; i += 1) void window.tracker.track('event-' + i, { text });
      location.href = '/?next';
    })()`);
    await page.waitForURL(/next/);
    await tracker(page);
    await eventually(async () => expect(receiver.events).toHaveLength(20));
    await eventually(async () => expect(await stored(page)).toBe(0));
  });

  it('in an outage keeps what it has over its own end', async () => {
    receiver.fault = () => ({ status: 503, body: { code: 'queue_unavailable' } });
    const page = await aPage({ flushAfterMs: 1 });
    await track(page, 'a', 'b');
    await eventually(async () => expect(receiver.batches.length).toBeGreaterThan(0));
    await page.close({ runBeforeUnload: true });
    receiver.fault = () => undefined;
    const next = await aPage();
    await arrived(['a', 'b']);
    await eventually(async () => expect(await stored(next)).toBe(0));
  });

  it('without network sends as soon as there is one', async () => {
    const page = await aPage({ flushAfterMs: 1 });
    await context.setOffline(true);
    await track(page, 'a');
    await eventually(async () =>
      expect(await page.evaluate('window.tracker.sender.failures')).toBeGreaterThan(2),
    );
    await context.setOffline(false);
    await arrived(['a']);
  });

  it('that comes back as it was goes on', async () => {
    const page = await aPage();
    await track(page, 'before');
    await page.goto(`${receiver.site}/?other`);
    await page.goBack();
    // Where the browser made the page anew, there is another tracker with the same queue.
    if (!(await page.evaluate("'tracker' in window"))) await tracker(page);
    await track(page, 'after');
    await arrived(['after', 'before']);
    await eventually(async () => expect(await stored(page)).toBe(0));
  });
});

describe('two pages of one site', () => {
  it('send each event of both once', async () => {
    const pages = [await aPage({ flushAfterMs: 1 }), await aPage({ flushAfterMs: 1 })];
    const all = await Promise.all(
      pages.map(async (page, at) => {
        const names = Array.from({ length: 200 }, (_, i) => `${at}-${i}`);
        await page.evaluate(`(async () => {
          for (const name of ${JSON.stringify(names)}) {
            void window.tracker.track(name);
            await new Promise((done) => setTimeout(done));
          }
        })()`);
        return names;
      }),
    );
    await arrived(all.flat().sort());
    for (const page of pages) await eventually(async () => expect(await stored(page)).toBe(0));
    expect(receiver.repeats).toBe(0);
  });

  it('without Web Locks send some twice at most, which are one by their keys', async () => {
    await context.addInitScript("Object.defineProperty(navigator, 'locks', { value: undefined })");
    const pages = [await aPage({ flushAfterMs: 1 }), await aPage({ flushAfterMs: 1 })];
    await Promise.all(
      pages.map((page, at) => track(page, ...Array.from({ length: 50 }, (_, i) => `${at}-${i}`))),
    );
    await eventually(async () => expect(receiver.events).toHaveLength(100));
    for (const page of pages) await eventually(async () => expect(await stored(page)).toBe(0));
  });

  it('one of which hangs do not wait for it longer than for an answer', async () => {
    receiver.fault = (events) =>
      events.some(({ event }) => event === 'stuck') ? { status: 'hang' } : undefined;
    const stuck = await aPage({ flushAfterMs: 1 });
    await track(stuck, 'stuck');
    await eventually(async () => expect(receiver.batches).toHaveLength(1));
    const other = await aPage({ flushAfterMs: 1 });
    await track(other, 'free');
    receiver.fault = () => undefined;
    await stuck.close();
    await arrived(['free', 'stuck']);
  });
});

describe('a queue', () => {
  it.each<[string, Options, Options, number]>([
    ['one key', {}, {}, 1],
    ['two keys', {}, { key: 'cpk_live_other' }, 0],
    ['two keys and one name', { queue: 'shop' }, { queue: 'shop', key: 'cpk_live_other' }, 1],
    ['a name and none', { queue: 'events' }, {}, 0],
    ['names of which one begins with the other', { queue: 'events:shop' }, { queue: 'events' }, 0],
    ['names of which one is the other, escaped', { queue: 'a:b' }, { queue: 'a%3Ab' }, 0],
  ])('of two trackers with %s', async (_name, first, second, shared) => {
    receiver.fault = () => ({ status: 503, body: { code: 'queue_unavailable' } });
    const page = await aPage(first);
    expect(await track(page, 'a')).toEqual(['stored']);
    await tracker(page, second);
    expect(await counts(page)).toMatchObject({ queued: shared });
  });

  it.each([
    ['no JSON', 'z', '{"event":"half'],
    ['nothing', '0', ''],
    ['no object', '0', '[1]'],
    ['larger than an event', '0', JSON.stringify({ event: 'x'.repeat(33_000) })],
    ['two events', '0', '{},{}'],
    ['the end of the list and another list', 'z', '{}],"events":[{}'],
  ])('into which a script has put %s sends its events', async (_name, id, text) => {
    const page = await aPage({ queue: 'shop' });
    await page.evaluate(`localStorage.setItem('cp-track:shop:${id}', ${JSON.stringify(text)})`);
    await tracker(page, { queue: 'shop' });
    receiver.fault = (events) => {
      const refusal = { code: 'event_invalid', retryable: false };
      const results = events.map(({ event }, index) => ({ index, ...(event ? { event_id: 'e' } : refusal) }));
      return { status: 202, body: { results } };
    };
    await track(page, 'good');
    await page.evaluate('window.tracker.flush()');
    expect(await counts(page)).toEqual({ queued: 0, delivered: 1, dropped: {} });
    expect(receiver.batches.map((batch) => batch.map(({ event }) => event))).toEqual([['good']]);
    expect(await stored(page)).toBe(0);
  });
});

describe('a browser that stores nothing', () => {
  it.each([
    ['has no storage', "Object.defineProperty(window, 'localStorage', { value: null })"],
    [
      'refuses to show it',
      "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError') } })",
    ],
    ['is full', "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }"],
  ])('because it %s: memory it is', async (_name, init) => {
    await context.addInitScript(init);
    const page = await aPage();
    expect(await track(page, 'a', 'b')).toEqual(['memory', 'memory']);
    await page.close({ runBeforeUnload: true });
    await arrived(['a', 'b']);
  });
});
