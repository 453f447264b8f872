/**
 * `npm run pictures -- [--data DIR] [--out DIR] [--every-page [--only PATH]]`
 *
 * Takes the pictures that the documentation shows of the platform that `npm start` runs, on a desktop and on a phone: the
 * mail catcher with a marketing mail written in MJML, the first page of a sign-in, and the Console. With `CHROMIUM` by that browser.
 * With `--every-page` it takes sheets of every page of the Console instead, by default into `.data/pictures`: three widths in
 * both themes, and what a page shows while the API has not answered, refuses, and is away.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { visitConsole } from '@customer-platform/kit/console-visit.ts';
import { type Platform, runningPlatform } from '@customer-platform/kit/platform.ts';
import { adminOf } from '@customer-platform/kit/public-api.ts';
import { startChromium, type Browser, type Page } from '@customer-platform/testing';
import { keepEveryPage } from './every-page.ts';
import { NEWSLETTER } from './newsletter.ts';

const root = resolve(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: {
    data: { type: 'string', default: join(root, '.data') },
    out: { type: 'string' },
    'every-page': { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
  },
});

const everyPage = values['every-page'];
const out = values.out ?? (everyPage ? join(values.data, 'pictures') : join(root, 'docs/pictures'));

const SCREENS = {
  desktop: { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
};
const CAUGHT_WITHIN_S = 10;

/** @returns the catcher's id of the mail */
async function sendNewsletter(platform: Platform): Promise<string> {
  const admin = await adminOf(platform);
  const template = {
    name: `Pictures ${randomUUID()}`,
    channel: 'email' as const,
    default_locale: 'es',
    locales: { es: NEWSLETTER },
  };
  const { id } = (await admin.POST('/v1/messaging/templates', { body: template })).data;
  const correlationId = randomUUID();
  const send = {
    channel: 'email' as const,
    recipient: { address: 'ana.rojas@example.com' },
    template_id: id,
    category: 'marketing' as const,
    data: { name: 'Ana', points: '1.240' },
  };
  const headers = { 'x-correlation-id': correlationId };
  await admin.POST('/v1/messaging/sends', { body: send, headers });
  const query = `correlation_id=${correlationId}&limit=1&wait=${CAUGHT_WITHIN_S}`;
  const caught = (await (await fetch(`${platform.mail_url}/messages?${query}`)).json()) as {
    data: { id: string }[];
  };
  await admin.DELETE('/v1/messaging/templates/{id}', { params: { path: { id } } });
  const [mail] = caught.data;
  if (!mail) throw new Error(`The mail has not come within ${CAUGHT_WITHIN_S} s.`);
  return mail.id;
}

/** Where a sign-in for an application of the organization begins. @returns the address, and the client to remove */
async function beginSignIn(platform: Platform): Promise<{ address: string; clientId: string }> {
  const redirectUri = 'https://shop.example/signed-in';
  const admin = await adminOf(platform);
  const body = { name: 'Example Shop', type: 'public' as const, redirect_uris: [redirectUri] };
  const { id: clientId } = (await admin.POST('/v1/identity/oauth-clients', { body })).data;
  const parameters = new URLSearchParams({
    client_id: clientId,
    response_type: 'code',
    redirect_uri: redirectUri,
    scope: 'openid',
    code_challenge: createHash('sha256').update(randomUUID()).digest('base64url'),
    code_challenge_method: 'S256',
    ui_locales: 'en',
  });
  return { address: `${platform.base_url}/oauth/authorize?${parameters.toString()}`, clientId };
}

async function main(): Promise<void> {
  const platform = await runningPlatform(values.data);
  if (everyPage) return lookAtEveryPage(platform);
  const mail = await sendNewsletter(platform);
  const { address, clientId } = await beginSignIn(platform);
  const browser = await startChromium();
  mkdirSync(out, { recursive: true });
  try {
    for (const [name, screen] of Object.entries(SCREENS)) {
      const page = await browser.newPage(screen);
      // The mail is in a frame that nobody may look into.
      const shown = page.waitForResponse((answer) => answer.url().endsWith('/html'));
      await page.goto(`${platform.mail_url}/#${mail}`);
      await (await shown).finished();
      await keep(page, `mail-${name}`);
      await page.goto(address);
      await page.getByLabel('Email').waitFor();
      await keep(page, `sign-in-${name}`);
      await page.close();
    }
    await keepConsole(platform, browser);
  } finally {
    await browser.close();
    const admin = await adminOf(platform);
    await admin.DELETE('/v1/identity/oauth-clients/{id}', { params: { path: { id: clientId } } });
  }
}

async function lookAtEveryPage(platform: Platform): Promise<void> {
  const browser = await startChromium();
  try {
    await keepEveryPage({ platform, browser, data: values.data, out, only: values.only });
  } finally {
    await browser.close();
  }
}

/** The Console's first page, and a purchase in a timeline, opened to what it led to. */
async function keepConsole(platform: Platform, browser: Browser): Promise<void> {
  const contact = await trackPurchase(platform);
  const looks = {
    light: SCREENS.desktop,
    dark: { ...SCREENS.desktop, colorScheme: 'dark' },
    phone: SCREENS.phone,
  } as const;
  for (const [name, screen] of Object.entries(looks)) {
    const { page, at } = await visitConsole(values.data, browser, { ...screen, locale: 'en' });
    await page.goto(at(''));
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.waitForLoadState('networkidle');
    await keep(page, `console-home-${name}`);
    await page.goto(at(`contacts/${contact}`));
    await page.getByText('purchase_completed').first().click();
    await page.waitForLoadState('networkidle');
    await keep(page, `console-timeline-${name}`);
    await page.context().close();
  }
}

/** @returns the contact whose timeline shows it */
async function trackPurchase(platform: Platform): Promise<string> {
  const event = {
    event: 'purchase_completed',
    external_id: 'customer-1001',
    idempotency_key: randomUUID(),
    occurred_at: new Date().toISOString(),
    properties: { amount: 12_990, currency: 'CLP', invoice_id: 'B-1001' },
  };
  const admin = await adminOf(platform);
  await admin.POST('/v1/core/track', { body: event });
  const query = { external_id: event.external_id, limit: 1 };
  const [contact] = (await admin.GET('/v1/core/contacts', { params: { query } })).data.data;
  if (!contact) throw new Error('The demo organization has no customer-1001.');
  return contact.id;
}

async function keep(page: Page, name: string): Promise<void> {
  const file = join(out, `${name}.png`);
  const picture = await page.screenshot({ path: file });
  process.stdout.write(`${file}  ${Math.ceil(picture.length / 1024)} kB\n`);
}

await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
