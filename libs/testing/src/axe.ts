import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const require = createRequire(import.meta.url);

/** Read once in a file. */
let source: Promise<string> | undefined;

/**
 * What is right is neither collected nor told: that is most of a page. Style sheets are not taken apart: the one rule that
 * reads them is not among those that run.
 */
const RUN = `axe.run(document, { resultTypes: ['violations'], preload: { assets: ['media'] } }).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
  nodes.map(({ html, failureSummary = '' }) => \`\${id}: \${html} \${failureSummary}\`)))`;

/** What axe finds wrong on a page, best practices included: the rule and the elements. */
export async function axeFindings(page: Page): Promise<string[]> {
  const isThere = await page.evaluate<boolean>("'axe' in window");
  source ??= readFile(require.resolve('axe-core/axe.min.js'), 'utf8');
  if (!isThere) await page.evaluate(await source);
  return page.evaluate<string[]>(RUN);
}
