import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, 'page');
const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
const style = read('page.css');
const script = read('page.js');
const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The page in one answer, so that it shows at once. */
export const PAGE = read('page.html')
  .replace('<!-- style -->', () => `<style>${style}</style>`)
  .replace('<!-- script -->', () => `<script type="module">${script}</script>`);

/** Only the page's own style and script run; a mail's HTML is in a frame with a policy of its own. */
export const PAGE_POLICY = `default-src 'none'; style-src ${hash(style)}; script-src ${hash(script)}; connect-src 'self'; frame-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** A mail's HTML may look as it likes; it runs nothing, sends nothing and fetches nothing. */
export const MAIL_POLICY =
  "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data: cid:; font-src data:";
