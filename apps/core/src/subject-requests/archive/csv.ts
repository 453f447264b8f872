/** What a spreadsheet takes for the beginning of a formula, or would step over to one. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/u;

/** One line of CSV (RFC 4180), its line break included. */
export function csvLine(values: readonly unknown[]): string {
  return `${values.map(cellOf).join(',')}\r\n`;
}

/** Whoever wrote a text wrote no formula: one that looks like it gets an apostrophe, which spreadsheets do not show. */
function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return quoted(JSON.stringify(value));
  return quoted(FORMULA.test(value) ? `'${value}` : value);
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
