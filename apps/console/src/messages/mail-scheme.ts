/** In which light a mail is looked at. */
export type Scheme = 'light' | 'dark';

const CONDITION = /\(\s*prefers-color-scheme\s*:\s*(light|dark)\s*\)/gi;

/**
 * A mail as a reader with this scheme sees it, whatever that of whoever looks at it here: what it asks of the scheme is
 * answered in its text. What a mail program turns dark by itself, each does in its own way, is not shown.
 */
export function inScheme(html: string, scheme: Scheme): string {
  return html.replace(CONDITION, (_condition, wanted: string) =>
    wanted.toLowerCase() === scheme ? '(min-width: 0)' : '(max-width: 0)',
  );
}
