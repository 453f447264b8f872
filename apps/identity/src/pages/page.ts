import type { ServerResponse } from 'node:http';
import { html, Html, type Piece } from './html.js';
import { NO_BRANDING, type Branding } from '../vocabulary/organizations/branding.js';
import type { Language } from './languages.js';
import { brandStyle, sourceOf, STYLE, STYLE_SOURCE } from './style.js';

/** A page as it is answered. */
export interface Page {
  readonly status: number;
  readonly html: Html;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a page is made of. */
interface PageContent {
  readonly language: Language;
  readonly title: string;
  /** Where it says more than the title. */
  readonly heading?: Html;
  readonly body: Piece;
  readonly status?: number;
  readonly footer?: Piece;
  readonly branding?: Branding;
  /** Whose logo it is, for who does not see it. */
  readonly logoOf?: string;
  /** Where the browser goes on by itself; see `leavingPage`. */
  readonly refresh?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

// The policy names the hash of what stands in the element, to the last blank.
const STYLE_ELEMENT = new Html(`<style>${STYLE}</style>`);

/**
 * No script, no resource from elsewhere but an organization's logo, in nobody's frame; forms lead back here alone, save
 * where `targets` names to which origins a form's answer redirects, which browsers hold to the same rule.
 */
export function pageHeaders(targets: readonly string[] = [], branding = NO_BRANDING): Record<string, string> {
  const { color, logo_url: logo } = branding;
  const styles = [STYLE_SOURCE, ...(color === null ? [] : [sourceOf(brandStyle(color))])];
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': [
      "default-src 'none'",
      `style-src ${styles.join(' ')}`,
      ...(logo === null ? [] : [`img-src ${new URL(logo).origin}`]),
      ["form-action 'self'", ...targets].join(' '),
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ].join('; '),
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'X-Robots-Tag': 'noindex',
  };
}

const HEADERS = pageHeaders();

/** A whole page. */
export function page(content: PageContent): Page {
  const { language, title, heading = title, body, status = 200, footer, refresh, headers } = content;
  const { branding = NO_BRANDING, logoOf = '' } = content;
  const { color, logo_url: logo } = branding;
  const policy = color === null && logo === null ? {} : pageHeaders([], branding);
  return {
    status,
    headers: { ...policy, ...headers },
    html: html`<!doctype html>
      <html lang="${language}">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          ${refresh !== undefined && html`<meta http-equiv="refresh" content="0;url=${refresh}" />`}
          <title>${title}</title>
          ${STYLE_ELEMENT}${color !== null && new Html(`<style>${brandStyle(color)}</style>`)}
        </head>
        <body>
          <main>
            ${logo !== null && html`<img class="logo" src="${logo}" alt="${logoOf}" />`}
            <h1>${heading}</h1>
            ${body}
          </main>
          ${footer !== undefined && html`<footer>${footer}</footer>`}
        </body>
      </html> `,
  };
}

/** Sends a page, and the cookies that go with it. */
export function sendPage(response: ServerResponse, { status, html: text, headers }: Page): void {
  const bytes = Buffer.from(text.text);
  response.statusCode = status;
  for (const [name, value] of Object.entries({ ...HEADERS, ...headers })) response.setHeader(name, value);
  response.setHeader('Content-Length', bytes.length);
  response.end(response.req.method === 'HEAD' ? undefined : bytes);
}
