/**
 * `npm run pictures -- [--data DIR] [--chromium PROGRAM] [--out DIR]`
 *
 * Takes the pictures of the mail catcher that the documentation shows: a marketing mail written in MJML, sent by the
 * platform that `npm start` runs, on a desktop and on a phone. Needs a Chromium, on the path or in `CHROMIUM`.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Platform, runningPlatform, request } from '@customer-platform/client/platform.ts';
import { Chromium, type Screen, findChromium } from './chromium.ts';
import { NEWSLETTER } from './newsletter.ts';

const root = resolve(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: {
    data: { type: 'string', default: join(root, '.data') },
    out: { type: 'string', default: join(root, 'docs/pictures') },
    chromium: { type: 'string' },
  },
});

const SCREENS: Record<string, Screen> = {
  'mail-desktop': { width: 1280, height: 800, mobile: false },
  'mail-phone': { width: 390, height: 844, mobile: true },
};
/** The mail's frame, which the page may not look into, has been loaded. */
const SHOWN = `performance.getEntriesByType('resource').some(({ name }) => name.endsWith('/html'))`;
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

async function main(): Promise<void> {
  const program = findChromium(values.chromium);
  const platform = await runningPlatform(values.data);
  const mail = await sendNewsletter(platform);
  const chromium = await Chromium.start(program);
  mkdirSync(values.out, { recursive: true });
  try {
    for (const [name, screen] of Object.entries(SCREENS)) {
      const picture = await chromium.picture(`${platform.mail_url}/#${mail}`, screen, SHOWN);
      const file = join(values.out, `${name}.png`);
      writeFileSync(file, picture);
      process.stdout.write(`${file}  ${Math.ceil(picture.length / 1024)} kB\n`);
    }
  } finally {
    await chromium.close();
  }
}

await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
