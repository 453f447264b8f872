import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from '@customer-platform/testing';

/** Who signs in to the Console of the running platform, as `npm start` writes it into `.data/demo.json`. */
interface DemoUser {
  base_url: string;
  user_email: string;
  user_password: string;
}

/** How the Console is looked at. */
type Screen = Parameters<Browser['newContext']>[0];

/** The Console of the running platform, signed in to as its demo user. */
export interface ConsoleVisit {
  page: Page;
  /** The address of a page of the demo organization: `contacts`. */
  at: (path: string) => string;
}

/** @throws Error where the platform was started before it had a Console */
export async function visitConsole(
  data: string,
  browser: Browser,
  screen: Screen = {},
): Promise<ConsoleVisit> {
  const facts = JSON.parse(readFileSync(join(data, 'demo.json'), 'utf8')) as Partial<DemoUser>;
  const { base_url: base, user_email: email, user_password: password } = facts;
  if (base === undefined || email === undefined || password === undefined)
    throw new Error('This platform has no Console yet: stop it, and start it again with "npm start".');
  const page = await (await browser.newContext(screen)).newPage();
  await page.goto(`${base}/console/`);
  await page.waitForURL(/\/oauth\/interactions\//);
  await page.getByRole('textbox').first().fill(email);
  await page.getByRole('button').first().click();
  await page.locator('input[type=password]').fill(password);
  await page.locator('button').first().click();
  await page.waitForURL(/\/console\/o\//);
  await page.getByRole('heading', { level: 1 }).waitFor();
  const organization = /^.*\/console\/o\/[a-z0-9-]+/.exec(page.url())?.[0] ?? '';
  return { page, at: (path) => (path === '' ? organization : `${organization}/${path}`) };
}
