/**
 * Where a spreadsheet would begin a formula: at the beginning, or after what one of another country takes for the end of
 * a cell; it may step over blanks and quotes to it.
 */
const FORMULA = /(^|[;,\t\r\n])(?=[^\S\t\r\n]*(?:"[^\S\t\r\n]*)*[=+\-@＝＋－＠])/gu;

/** One line of CSV (RFC 4180), its line break included. What is no text stands as JSON; null is an empty cell. */
export function csvLine(values: readonly unknown[]): string {
  return `${values.map(cellOf).join(',')}\r\n`;
}

/** Whoever wrote a text wrote no formula: one that looks like it gets an apostrophe, which spreadsheets do not show. */
function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  // Within JSON an escaped semicolon is the same text, and ends no cell.
  if (typeof value !== 'string') return quoted(JSON.stringify(value).replaceAll(';', '\\u003b'));
  const text = value.replace(FORMULA, "$1'");
  return quoted(/^[\t\r\n]/.test(text) ? `'${text}` : text);
}

function quoted(text: string): string {
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
