import { isProblemCode, PROBLEMS } from './registry.js';
import type { ProblemDefinition } from './problem-definition.js';

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem;color:#1b1f24;background:#fff}' +
  'code{font-family:ui-monospace,monospace;background:#eef1f4;padding:.1em .3em;border-radius:3px}' +
  'table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.35rem .6rem;border-bottom:1px solid #d8dee4}' +
  'a{color:#0a58ca}@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}code{background:#21262d}' +
  'td,th{border-color:#30363d}a{color:#6cb6ff}}';

/**
 * The page of a code, served at `/problems/<code>`; of an unknown one a page that says so and leads to the index.
 * @returns a complete HTML document without scripts.
 */
export function problemPage(code: string): string {
  if (!isProblemCode(code)) {
    return page('Unknown problem', '<p>There is no such code. <a href="/problems">All codes</a></p>');
  }
  const { status, title, meaning, remedy } = PROBLEMS[code];
  return page(
    title,
    `<p><code>${code}</code> &middot; HTTP ${status}</p>` +
      `<h2>What it means</h2><p>${text(meaning)}</p><h2>What to do</h2><p>${text(remedy)}</p>` +
      '<p><a href="/problems">All codes</a></p>',
  );
}

/** The index of all codes, served at `/problems`, by status. */
export function problemIndexPage(): string {
  const rows = Object.entries<ProblemDefinition>(PROBLEMS)
    .sort(([, a], [, b]) => a.status - b.status)
    .map(
      ([code, { status, meaning }]) =>
        `<tr><td>${status}</td><td><a href="/problems/${code}"><code>${code}</code></a></td><td>${text(meaning)}</td></tr>`,
    );
  return page(
    'Problems',
    `<table><thead><tr><th>Status</th><th>Code</th><th>Meaning</th></tr></thead><tbody>${rows.join('')}</tbody></table>`,
  );
}

function page(title: string, content: string): string {
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">' +
    '<meta name="viewport" content="width=device-width,initial-scale=1">' +
    `<title>${text(title)}</title><style>${STYLE}</style></head><body><h1>${text(title)}</h1>${content}</body></html>\n`
  );
}

/** Escapes HTML and shows `code` in backticks as code. */
function text(plain: string): string {
  return plain
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(/`([^`]+)`/g, '<code>$1</code>');
}
