import { axeFindings, startChromium } from '@customer-platform/testing';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { html, Html } from './html.js';
import { languageOf, type Language } from './languages.js';
import { sendPage } from './page.js';
import { aFrame, HOSTILE_NAMES, refusals, samplePages } from './pages.fixture.js';

const LANGUAGES: readonly Language[] = ['en', 'es'];
/** Each language and each theme, in two looks. */
const LOOKS = [
  ['en', 'light'],
  ['es', 'dark'],
] as const;
const MOST_BYTES = 30 * 1024;
const LOGO = 'https://logo.example/of/us.svg?v="1"';

let browser: Browser;
let server: Server;
let origin: string;

beforeAll(async () => {
  browser = await startChromium();
  // The pages as they are sent, headers included: `/<language>/<page>`, with a hostile name `/<language>/<page>/<which>`,
  // with a colour and a logo `/<language>/<page>?rrggbb`.
  server = createServer((request, response) => {
    const [path = '', color] = (request.url ?? '').split('?');
    const [, language, name = '', hostile] = path.split('/');
    const named = hostile === undefined ? undefined : (HOSTILE_NAMES[Number(hostile)] ?? '');
    const spoken = language === 'es' ? 'es' : 'en';
    const names = named === undefined ? {} : { application: named, organization: named };
    const branding = color === undefined ? {} : { branding: { color: `#${color}`, logo_url: LOGO } };
    const page = samplePages(spoken, aFrame(spoken, { ...names, ...branding }))[name];
    if (page) sendPage(response, page);
    else response.writeHead(404).end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  origin = `http://localhost:${String((server.address() as AddressInfo).port)}`;
}, 120_000);

afterAll(async () => {
  await browser.close();
  server.closeAllConnections();
  server.close();
});

describe('markup', () => {
  it('escapes what is put in, in text and in attributes, and nothing twice', () => {
    const name = `<b a="1" b='2'>&`;
    const inner = html`<i title="${name}">${name}</i>`;
    expect(html`<p>${inner}${['<', html`<i>b</i>`]}${undefined}${false}${3}</p>`.text).toBe(
      '<p><i title="&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;">&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;</i>&lt;<i>b</i>3</p>',
    );
    expect(inner).toBeInstanceOf(Html);
  });
});

describe('the language of a page', () => {
  it.each([
    [undefined, undefined, 'en'],
    [undefined, 'es-CL,es;q=0.9,en;q=0.8', 'es'],
    [undefined, 'de-DE,de;q=0.9,es;q=0.2', 'es'],
    [undefined, 'pt-BR', 'en'],
    ['en es', 'es-CL', 'en'],
    ['fr es-419', 'en', 'es'],
    [['es'], 'en', 'en'],
    ['<script>', 'esperanto', 'en'],
  ])('%j and %j: %s', (uiLocales, acceptLanguage, language) => {
    expect(languageOf(uiLocales, acceptLanguage)).toBe(language);
  });
});

describe('every page', () => {
  const names = Object.keys(samplePages('en'));

  it.each(names)('%s: small, in nobody’s frame, without script, and nothing from elsewhere', async (name) => {
    for (const language of LANGUAGES) {
      const answer = await fetch(`${origin}/${language}/${name}`);
      const text = await answer.text();
      expect(Buffer.byteLength(text)).toBeLessThan(MOST_BYTES);
      expect(text).not.toMatch(/<script|javascript:|\son[a-z]+=|\sstyle=/i);
      const policy = answer.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      });
    }
  });

  it.each(Object.keys(refusals('en')))('%s: says no, what to do, and leads there', (name) => {
    for (const language of LANGUAGES)
      expect(refusals(language)[name]?.html.text).toMatch(/<a [^>]*href="[^"]+|<form method="post"/);
  });

  it.each(Object.keys(refusals('en')))(
    '%s: asks nobody to load it anew, which sends its form again',
    (name) => {
      for (const language of LANGUAGES)
        expect(refusals(language)[name]?.html.text).not.toMatch(/load the page|cargarla|cargar la página/i);
    },
  );

  it.each(names)(
    '%s: readable at 360 px in both languages and themes, and axe finds nothing',
    async (name) => {
      for (const [language, colorScheme] of LOOKS) {
        const context = await browser.newContext({ viewport: { width: 360, height: 740 }, colorScheme });
        const page = await context.newPage();
        const refused: string[] = [];
        page.on('console', (message) => refused.push(message.text()));
        // Where a page leads by itself there is nothing, so that the browser stays.
        await page.route('https://app.example/**', (route) => route.fulfill({ status: 204 }));
        await page.goto(`${origin}/${language}/${name}`, { waitUntil: 'domcontentloaded' });
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
        // The sheet is let in by its hash.
        expect(await page.evaluate('getComputedStyle(document.querySelector("main")).borderTopWidth')).toBe(
          '1px',
        );
        expect(await axeFindings(page)).toEqual([]);
        expect(refused.filter((text) => text.includes('Content Security Policy'))).toEqual([]);
        await context.close();
      }
    },
    60_000,
  );
});

describe('a name that somebody chose to do harm', () => {
  it.each(HOSTILE_NAMES.map((name, index): [string, number] => [name, index]))(
    '%s is text',
    async (_, index) => {
      for (const name of ['email', 'consent', 'organization-many', 'enrolment']) {
        const page = await browser.newPage({ viewport: { width: 360, height: 740 } });
        const answer = await page.goto(`${origin}/es/${name}/${String(index)}`);
        expect(((await answer?.body()) ?? Buffer.alloc(MOST_BYTES)).length).toBeLessThan(MOST_BYTES);
        expect(await page.title()).not.toBe('taken');
        expect(await page.locator('script, img, main style').count()).toBe(0);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
        const shown = await page.locator('bdi').first().textContent();
        expect(shown).toBe(HOSTILE_NAMES[index]);
        expect(await axeFindings(page)).toEqual([]);
        await page.close();
      }
    },
    60_000,
  );
});

describe('an organization’s colour and logo', () => {
  it.each(['1d4ed8', 'ffff00', '777777', '767676', 'ffffff', '000000', 'FF00aa'])(
    'are shown with %s, readable in both themes, and let in by the policy alone',
    async (color) => {
      for (const colorScheme of ['light', 'dark'] as const) {
        const page = await browser.newPage({ viewport: { width: 360, height: 740 }, colorScheme });
        const refused: string[] = [];
        const asked: string[] = [];
        page.on('console', (message) => refused.push(message.text()));
        page.on('request', (request) => asked.push(request.url()));
        const body =
          '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="30"><rect width="90" height="30"/></svg>';
        await page.route('https://logo.example/**', (route) =>
          route.fulfill({ contentType: 'image/svg+xml', body }),
        );
        await page.goto(`${origin}/es/password?${color}`);
        await page.getByRole('img', { name: 'Tienda del Sur' }).waitFor();
        expect(await page.evaluate('document.querySelector("img.logo").naturalWidth')).toBe(90);
        const [red, green, blue] = [0, 2, 4].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
        expect(
          await page.evaluate('getComputedStyle(document.querySelector("button")).backgroundColor'),
        ).toBe(`rgb(${String(red)}, ${String(green)}, ${String(blue)})`);
        expect(await axeFindings(page)).toEqual([]);
        expect(refused.filter((text) => text.includes('Content Security Policy'))).toEqual([]);
        expect(asked.filter((url) => !url.startsWith(origin))).toEqual([LOGO.replaceAll('"', '%22')]);
        await page.close();
      }
    },
    60_000,
  );
});

describe('in another’s frame', () => {
  it('a page does not show', async () => {
    const page = await browser.newPage();
    await page.setContent(`<iframe src="${origin}/en/email"></iframe>`);
    const frame = page.frames()[1];
    await frame?.waitForLoadState();
    expect(await frame?.locator('form').count()).toBe(0);
    await page.close();
  });
});
