import { axeFindings, startChromium, type Browser, type Page } from '@customer-platform/testing';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { refusals } from '../src/pages/pages.fixture.js';

/** Two of it lie beside each other on a sheet, small enough to be read at a look. */
const SCREEN = { width: 420, height: 560 };
const IN_A_ROW = 6;
const OUT = join(import.meta.dirname, '../../../dist/pictures/refusals');

/** Every page that says no, as pictures in `dist/pictures/refusals`: one each, and a sheet of all in a language. */
describe.each([
  ['en', 'light'],
  ['es', 'dark'],
] as const)('the pages that say no, in %s, %s', (language, colorScheme) => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startChromium();
    await mkdir(join(OUT, language), { recursive: true });
  });
  afterAll(() => browser.close());

  it('are shown whole, with a way on', async () => {
    const pictures: [string, Buffer][] = [];
    for (const [name, { html }] of Object.entries(refusals(language))) {
      const page = await browser.newPage({ viewport: SCREEN, colorScheme });
      await page.setContent(html.text);
      expect([name, await page.locator('a, main button').count()]).not.toEqual([name, 0]);
      expect([name, await axeFindings(page)]).toEqual([name, []]);
      const picture = await page.screenshot({ fullPage: true });
      await writeFile(join(OUT, language, `${name}.png`), picture);
      pictures.push([name, picture]);
      await page.close();
    }
    await sheet(await browser.newPage({ viewport: { width: 1_600, height: 900 } }), pictures, language);
  }, 300_000);
});

async function sheet(page: Page, pictures: readonly [string, Buffer][], language: string): Promise<void> {
  const figures = pictures.map(
    ([name, picture]) =>
      `<figure><figcaption>${name}</figcaption><img src="data:image/png;base64,${picture.toString('base64')}"></figure>`,
  );
  await page.setContent(
    `<style>body{display:grid;grid-template-columns:repeat(${String(IN_A_ROW)},1fr);font:12px sans-serif}
     figure{margin:4px}img{width:100%}</style>${figures.join('')}`,
  );
  await page.screenshot({ path: join(OUT, `${language}.png`), fullPage: true });
  await page.close();
}
