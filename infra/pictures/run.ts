/**
 * `npm run pictures -- [--data DIR] [--out DIR]`
 *
 * Takes the pictures that the documentation shows of the platform that `npm start` runs, on a desktop and on a phone: the
 * mail catcher with a marketing mail written in MJML, and the first page of a sign-in. With `CHROMIUM` by that browser.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Platform, runningPlatform, request } from '@customer-platform/kit/platform.ts';
import { startChromium, type Page } from '@customer-platform/testing';
import { NEWSLETTER } from './newsletter.ts';

const root = resolve(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: {
    data: { type: 'string', default: join(root, '.data') },
    out: { type: 'string', default: join(root, 'docs/pictures') },
  },
});

const SCREENS = {
  desktop: { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
};
/** The mail's frame, which the page may not look into, has been loaded. */
const MAIL_SHOWN = `performance.getEntriesByType('resource').some(({ name }) => name.endsWith('/html'))`;
const CAUGHT_WITHIN_S = 10;

/** @returns the catcher's id of the mail */
async function sendNewsletter(platform: Platform): Promise<string> {
  const template = {
    name: `Pictures ${randomUUID()}`,
    channel: 'email',
    default_locale: 'es',
    locales: { es: NEWSLETTER },
  };
  const made = await request(platform, 'POST', '/v1/messaging/templates', template);
  const { id } = made.body as { id: string };
  const correlationId = randomUUID();
  const send = {
    channel: 'email',
    recipient: { address: 'ana.rojas@example.com' },
    template_id: id,
    category: 'marketing',
    data: { name: 'Ana', points: '1.240' },
  };
  const headers = { 'idempotency-key': correlationId, 'x-correlation-id': correlationId };
  await request(platform, 'POST', '/v1/messaging/sends', send, { headers });
  const query = `correlation_id=${correlationId}&limit=1&wait=${CAUGHT_WITHIN_S}`;
  const caught = (await (await fetch(`${platform.mail_url}/messages?${query}`)).json()) as {
    data: { id: string }[];
  };
  await request(platform, 'DELETE', `/v1/messaging/templates/${id}`);
  const [mail] = caught.data;
  if (!mail) throw new Error(`The mail has not come within ${CAUGHT_WITHIN_S} s.`);
  return mail.id;
}

/** Where a sign-in for an application of the organization begins. @returns the address, and the client to remove */
async function beginSignIn(platform: Platform): Promise<{ address: string; clientId: string }> {
  const redirectUri = 'https://shop.example/signed-in';
  const client = { name: 'Example Shop', type: 'public', redirect_uris: [redirectUri] };
  const made = await request(platform, 'POST', '/v1/identity/oauth-clients', client);
  const { id: clientId } = made.body as { id: string };
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
  const mail = await sendNewsletter(platform);
  const { address, clientId } = await beginSignIn(platform);
  const browser = await startChromium();
  mkdirSync(values.out, { recursive: true });
  try {
    for (const [name, screen] of Object.entries(SCREENS)) {
      const page = await browser.newPage(screen);
      await page.goto(`${platform.mail_url}/#${mail}`);
      await page.waitForFunction(MAIL_SHOWN);
      await keep(page, `mail-${name}`);
      await page.goto(address);
      await page.getByLabel('Email').waitFor();
      await keep(page, `sign-in-${name}`);
      await page.close();
    }
  } finally {
    await browser.close();
    await request(platform, 'DELETE', `/v1/identity/oauth-clients/${clientId}`);
  }
}

async function keep(page: Page, name: string): Promise<void> {
  const file = join(values.out, `${name}.png`);
  const picture = await page.screenshot({ path: file });
  process.stdout.write(`${file}  ${Math.ceil(picture.length / 1024)} kB\n`);
}

await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
