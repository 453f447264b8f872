import { ARCHIVE_TEXTS, type ArchiveLocale } from './texts.js';

/** Rows of a resource that the page shows; all of them are in its files. */
export const SHOWN_ROWS = 20;
/** Characters of a value that the page shows. */
const SHOWN_CHARACTERS = 500;

/** What the page says of itself. */
export interface IndexHead {
  readonly locale: ArchiveLocale;
  readonly portable: boolean;
  readonly requestId: string;
  readonly madeAt: Date;
}

/** A resource of the archive, with its first rows. */
export interface IndexedResource {
  readonly module: string;
  readonly resource: string;
  readonly rows: number;
  readonly first: readonly Readonly<Record<string, unknown>>[];
}

/** Nothing is loaded and nothing runs, whatever a value holds. */
const POLICY = `default-src 'none'; style-src 'unsafe-inline'`;

const STYLE = `
body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#16202e}
h2{margin-top:2.5rem;border-bottom:1px solid #c8d0dc}
div{overflow-x:auto}table{border-collapse:collapse;font-size:.875rem}
th,td{border:1px solid #c8d0dc;padding:.25rem .5rem;text-align:start;vertical-align:top;overflow-wrap:anywhere;min-width:6rem}`;

/** The page that explains an archive to the person whose it is, in pieces. Every value stands in it as text. */
export function* indexPage(head: IndexHead, resources: readonly IndexedResource[]): Generator<string> {
  const texts = ARCHIVE_TEXTS[head.locale];
  const title = escaped(head.portable ? texts.portability : texts.access);
  yield `<!doctype html>\n<html lang="${head.locale}"><head><meta charset="utf-8">`;
  yield `<meta http-equiv="Content-Security-Policy" content="${escaped(POLICY)}">`;
  yield `<meta name="viewport" content="width=device-width"><title>${title}</title><style>${STYLE}</style></head>\n`;
  yield `<body><h1>${title}</h1><p>${escaped(texts.lead)}</p>\n`;
  yield `<p>${escaped(texts.made)} ${head.madeAt.toISOString()} · ${escaped(texts.request)} ${escaped(head.requestId)}</p>\n`;
  if (resources.length === 0) yield `<p>${escaped(texts.nothing)}</p>\n`;
  for (const [module, own] of Map.groupBy(resources, (each) => each.module)) {
    yield `<section><h2>${escaped(texts.modules[module] ?? module)}</h2>\n`;
    for (const resource of own) yield* resourceIn(head.locale, resource);
    yield '</section>\n';
  }
  yield '</body></html>\n';
}

function* resourceIn(
  locale: ArchiveLocale,
  { module, resource, rows, first }: IndexedResource,
): Generator<string> {
  const texts = ARCHIVE_TEXTS[locale];
  const file = encodeURI(`${module}/${resource}`);
  yield `<h3>${escaped(texts.resources[resource] ?? resource)}</h3>\n<p>${escaped(texts.rows)}: ${String(rows)}. `;
  yield `${escaped(texts.files)} <a href="${file}.json">JSON</a>, <a href="${file}.csv">CSV</a>.`;
  if (rows > first.length) yield ` ${escaped(texts.first)} ${String(first.length)}.`;
  const names = Object.keys(first[0] ?? {});
  yield `</p>\n<div><table><thead><tr>${names.map((name) => `<th>${escaped(name)}</th>`).join('')}</tr></thead><tbody>\n`;
  for (const row of first)
    yield `<tr>${names.map((name) => `<td><bdi>${shown(row[name])}</bdi></td>`).join('')}</tr>\n`;
  yield '</tbody></table></div>\n';
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return escaped(text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
