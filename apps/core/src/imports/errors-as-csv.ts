import type { ImportErrorDto } from './import.dto.js';

/** What stands above the errors of a file. */
export const CSV_HEAD = 'line,column,code,value\r\n';

/** An error as a line, with its end. */
export function csvLineOf({ line, column, code, value }: ImportErrorDto): string {
  return `${[String(line), column ?? '', code, value ?? ''].map(cellOf).join(',')}\r\n`;
}

/**
 * A value by RFC 4180. What a spreadsheet would work out as a formula is a text there, for a file is written by anybody:
 * also after what a spreadsheet of another country takes for the end of a cell.
 */
function cellOf(value: string): string {
  const text = value.replace(/(^|[;,\t\r\n])(?= ?[=+\-@＝＋－＠])/g, "$1'");
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
