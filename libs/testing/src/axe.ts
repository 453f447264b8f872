import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const require = createRequire(import.meta.url);

/** What is right is neither collected nor told: that is most of a page. */
const RUN = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
  nodes.map(({ html, failureSummary = '' }) => \`\${id}: \${html} \${failureSummary}\`)))`;

/** What axe finds wrong on a page, best practices included: the rule and the elements. */
export async function axeFindings(page: Page): Promise<string[]> {
  const isThere = await page.evaluate<boolean>("'axe' in window");
  if (!isThere) await page.evaluate(await readFile(require.resolve('axe-core'), 'utf8'));
  return page.evaluate<string[]>(RUN);
}
