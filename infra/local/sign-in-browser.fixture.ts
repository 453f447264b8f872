/** The browser of a test: signs Ana in at the address given, by the pages as they are shown to a person. */
import { startChromium } from '@customer-platform/testing';

const [address = ''] = process.argv.slice(2);
const browser = await startChromium();
try {
  const page = await browser.newPage({ locale: 'en-US' });
  await page.goto(address);
  await page.getByLabel('Email').fill('ana@example.com');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByLabel('Password').fill('un paraguas verde bajo la lluvia');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'You can close this page.' }).waitFor();
} finally {
  await browser.close();
}
