/** Languages in which the platform writes. */
export type Language = 'en' | 'es';

/** The texts of one mail in one language: plain text, whatever stands in it. */
export interface MailTexts {
  readonly subject: string;
  readonly title: string;
  readonly paragraphs: readonly string[];
  /** The link of a mail that leads somewhere. */
  readonly button?: string;
  /** Before the link in full, for who cannot press the button. */
  readonly instead?: string;
  /** Small, at the end. */
  readonly closing: string;
}

/** A mail as it is composed. */
export interface RenderedMail {
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

const FONT = `font-family: -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif`;
const STYLE = `
    body { margin: 0; padding: 0; width: 100%; background: #f2f4f7; }
    a { color: #2350d8; }
    @media (max-width: 600px) { .frame { padding: 16px 12px !important; } .card { padding: 28px 22px !important; } }
    @media (prefers-color-scheme: dark) {
      body, .frame { background: #14171c !important; }
      .card { background: #1f242c !important; }
      .title, .text { color: #f0f2f5 !important; }
      .small { color: #a9b1bd !important; }
      .link { color: #9db7ff !important; }
    }`;

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}

/**
 * A mail of one message and, where it leads anywhere, one button: tables and inline styles, which is what mail programs
 * agree on; one column that fits a phone, colours for the dark, and the link in full for those who see no button.
 */
export function renderMail(locale: string, texts: MailTexts, link: string | null): RenderedMail {
  const { subject, title, paragraphs, button = '', closing } = texts;
  const body = paragraphs
    .map((paragraph) => `<p class="text" style="${FONT}; ${TEXT}">${escaped(paragraph)}</p>`)
    .join('\n            ');
  const html = `<!doctype html>
<html lang="${locale}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="supported-color-schemes" content="light dark">
    <title>${escaped(title)}</title>
    <style>${STYLE}
    </style>
  </head>
  <body>
    <table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">
      <tr>
        <td class="frame" align="center" style="background: #f2f4f7; padding: 40px 16px;">
          <table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width: 560px;">
            <tr><td class="card" style="background: #ffffff; border-radius: 12px; padding: 40px;">
            <h1 class="title" style="${FONT}; ${TITLE}">${escaped(title)}</h1>
            ${body}${link === null ? '' : linked(texts, link)}
            <p class="small" style="${FONT}; ${SMALL}; margin: 0;">${escaped(closing)}</p>
            </td></tr>
          </table>
        </td>
      </tr>
    </table>
  </body>
</html>`;
  const steps = link === null ? [] : [`${button}:\n${link}`];
  const text = [title, ...paragraphs, ...steps, closing].join('\n\n');
  return { subject, html, text };
}

function linked({ button = '', instead = '' }: MailTexts, link: string): string {
  const href = escaped(link);
  return `
            <table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin: 28px 0;">
              <tr><td style="background: #2350d8; border-radius: 8px;">
                <a href="${href}" style="${FONT}; ${BUTTON}">${escaped(button)}</a>
              </td></tr>
            </table>
            <p class="small" style="${FONT}; ${SMALL}">${escaped(instead)}<br>
              <a class="link" href="${href}" style="color: #2350d8; word-break: break-all;">${href}</a></p>`;
}

const TITLE = 'font-size: 24px; line-height: 32px; font-weight: 700; color: #14171c; margin: 0 0 16px';
const TEXT = 'font-size: 16px; line-height: 25px; color: #2d3440; margin: 0 0 12px';
const SMALL = 'font-size: 13px; line-height: 20px; color: #5c6675; margin: 0 0 16px';
const BUTTON =
  'display: inline-block; font-size: 16px; line-height: 20px; font-weight: 600; color: #ffffff; ' +
  'text-decoration: none; padding: 14px 28px; border-radius: 8px';
