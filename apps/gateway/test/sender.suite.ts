import { spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  type Browser,
  eventually,
  type Page,
  type PlatformUnderTest,
  sharedBrowser,
  START_WITHIN_MS,
  type Tenant,
} from '@customer-platform/testing';
import { journeyPlatform } from './journey.fixture.js';
import { createTracker, type Failure } from '@customer-platform/track';

const DIST = join(import.meta.dirname, '../../../libs/track/dist');
type Context = Awaited<ReturnType<Browser['newContext']>>;

const WITHIN = { within: 60_000 };

interface EventPage {
  data: { type: string; event: string | null }[];
  page: { next_cursor: string | null };
}

let platform: PlatformUnderTest;
let tenant: Tenant;

/** Names of the events that are stored of somebody, or their types, sorted; one stored twice would be there twice. */
async function storedOf(externalId: string): Promise<string[]> {
  const names: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const path: string = `/v1/core/events?limit=200&external_id=${externalId}${cursor && `&cursor=${cursor}`}`;
    const { data, page }: EventPage = (await tenant.admin.get<EventPage>(path)).body;
    names.push(...data.map(({ type, event }) => event ?? type));
    cursor = page.next_cursor;
  }
  return names.sort();
}

/** Where the pages are. Served, not made up: a page that came from nowhere may not call an address of this machine. */
async function aShop(): Promise<Server> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (!pathname.endsWith('.js')) {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>A shop</title>');
      return;
    }
    response.writeHead(200, { 'content-type': 'text/javascript' });
    createReadStream(join(DIST, pathname)).pipe(response);
  });
  await new Promise<void>((listening) => server.listen(0, 'localhost', listening));
  return server;
}

describe('senders, on the platform', () => {
  beforeAll(async () => {
    platform = await journeyPlatform();
    tenant = await platform.tenant();
  }, START_WITHIN_MS);

  describe('in a page of another origin', () => {
    let browser: Browser;
    let shop: Server;
    beforeAll(async () => {
      browser = await sharedBrowser();
      shop = await aShop();
    });
    afterAll(() => void shop.close());
    const contexts: Context[] = [];
    afterEach(async () => {
      await Promise.all(contexts.splice(0).map((context) => context.close()));
    });

    async function aContext(): Promise<Context> {
      const context = await browser.newContext();
      contexts.push(context);
      return context;
    }

    async function aPage(context: Context, externalId: string): Promise<Page> {
      const page = await context.newPage();
      await page.goto(`http://localhost:${String((shop.address() as AddressInfo).port)}/`);
      const options = { url: platform.url, key: tenant.ingestionKey, externalId };
      await page.evaluate(`(async () => {
      const { createTracker } = await import('/index.js');
      window.tracker = createTracker(${JSON.stringify(options)});
    })()`);
      return page;
    }

    it('sends, identifies, and is closed at once without a loss', async () => {
      const context = await aContext();
      const page = await aPage(context, 'closing');
      await page.evaluate(`void window.tracker.track('viewed');
      void window.tracker.identify('closing', { first_name: 'Ana' });
      void window.tracker.track('left')`);
      await page.close({ runBeforeUnload: true });
      await eventually(
        async () => expect(await storedOf('closing')).toEqual(['identify', 'left', 'viewed']),
        WITHIN,
      );
      const { body } = await tenant.admin.get<{ data: object[] }>('/v1/core/contacts?external_id=closing');
      expect(body.data).toMatchObject([{ first_name: 'Ana' }]);
    });

    it('that was closed in an outage is sent by the next one', async () => {
      const context = await aContext();
      const page = await aPage(context, 'outage');
      await platform.processes['core']?.crash();
      await page.evaluate("Promise.all(['a', 'b'].map((name) => window.tracker.track(name)))");
      await page.evaluate('window.tracker.flush()');
      expect(await page.evaluate('window.tracker.counts')).toMatchObject({ queued: 2, delivered: 0 });
      await page.close({ runBeforeUnload: true });
      await platform.restart('core');
      await aPage(context, 'next');
      await eventually(async () => expect(await storedOf('outage')).toEqual(['a', 'b']), WITHIN);
    });
  });

  /** Sends as fast as it can and says which events are stored, until it is killed. */
  const SENDER = `const { createFileTracker } = await import(process.argv[1]);
const [url, key, file, round] = process.argv.slice(2);
const tracker = await createFileTracker({ url, key, file, externalId: 'killed', flushAfterMs: 1, flushAt: 20 });
for (let i = 0; i < 5_000; i += 1) {
  const name = round + '-' + i;
  if ((await tracker.track(name)) === 'stored') process.stdout.write(name + '\\n');
}`;

  describe('in Node', () => {
    it('that is killed loses none of the events that were stored, and doubles none', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'sender-'));
      const confirmed: string[] = [];
      for (const [round, most] of [20, 150, 60].entries()) {
        const words = [platform.url, tenant.ingestionKey, join(folder, 'queue'), String(round)];
        const child = spawn(
          process.execPath,
          ['--input-type=module', '-e', SENDER, join(DIST, 'node.js'), ...words],
          { env: {}, stdio: ['ignore', 'pipe', 'inherit'] },
        );
        const ended = new Promise((done) => child.once('exit', done));
        let lines = 0;
        for await (const name of createInterface({ input: child.stdout })) {
          confirmed.push(name);
          lines += 1;
          if (lines === most) child.kill('SIGKILL');
        }
        await ended;
      }
      const last = `const { createFileTracker } = await import(process.argv[1]);
      const [url, key, file] = process.argv.slice(2);
      const tracker = await createFileTracker({ url, key, file });
      while ((await tracker.flush()).queued > 0);
      await tracker.close();`;
      const words = [join(DIST, 'node.js'), platform.url, tenant.ingestionKey, join(folder, 'queue')];
      const child = spawn(process.execPath, ['--input-type=module', '-e', last, ...words], { env: {} });
      expect(await new Promise((done) => child.once('exit', done))).toBe(0);
      await eventually(async () => {
        const stored = await storedOf('killed');
        expect(confirmed.filter((name) => !stored.includes(name))).toEqual([]);
        expect(new Set(stored).size).toBe(stored.length);
      }, WITHIN);
      await rm(folder, { recursive: true });
    });

    it('keeps what a revoked key would not send, and asks again after its longest pause', async () => {
      const revoked = await platform.keyWith(tenant, ['core.events.write']);
      const failures: Failure[] = [];
      const options = {
        url: platform.url,
        externalId: 'revoked',
        onFailure: (one: Failure) => failures.push(one),
      };
      const tracker = createTracker({ ...options, key: revoked.key });
      await tracker.track('before');
      await eventually(async () => expect(await tracker.flush()).toMatchObject({ delivered: 1 }));
      expect((await tenant.admin.delete(`/v1/identity/api-keys/${revoked.id}`)).status).toBe(204);
      await eventually(async () => {
        await tracker.track('after');
        await tracker.flush();
        expect(failures.at(-1)).toMatchObject({ status: 401, retryInMs: 300_000 });
      });
      expect(tracker.counts.queued).toBe(1);
      await tracker.close();
    });
  });
});
