import { isUtf8 } from 'node:buffer';
import { isStorableText, parseJsonBytes } from '@customer-platform/http';
import { Problem, type FieldError } from '@customer-platform/problem-json';
import { CsvError, parse } from 'csv-parse/sync';
import { MOST_COLUMNS, tooManyColumns, type ImportOptions } from '../import-options.js';
import type { RawRecord, RecordForm } from './record-splitter.js';

/** Longer records are not read, in bytes: a contact has 64 KiB of attributes at most. */
const MOST_RECORD_BYTES = 1024 * 1024;

/** Why a record has no cells. */
export type RecordFault =
  'malformed_row' | 'row_too_large' | 'wrong_column_count' | 'invalid_encoding' | 'invalid_format';

/** The cells of a record in the order of the columns, or why there are none, and in which column. */
type Cells = { readonly cells: string[] } | { readonly fault: RecordFault; readonly column?: number };

/** How records of such a file are told apart. */
export function recordForm({ format, delimiter }: Pick<ImportOptions, 'format' | 'delimiter'>): RecordForm {
  return { delimiter: format === 'csv' ? delimiter.charCodeAt(0) : null, most: MOST_RECORD_BYTES };
}

const WINDOWS_1252 = new TextDecoder('windows-1252');
const NOT_ASCII = /[\u0080-\u00ff]/;

/**
 * The texts of the cells of records of CSV, as many as `columns`. Bytes are read as Latin-1, one character for each, so
 * that a cell of another encoding is one cell's fault; all that matters to the parser is ASCII.
 */
export function readCsv(
  records: readonly RawRecord[],
  { delimiter, encoding }: Pick<ImportOptions, 'delimiter' | 'encoding'>,
  columns: number,
): Cells[] {
  const faults = records.map((record): RecordFault | undefined => {
    if (record.bytes === null) return 'row_too_large';
    if (record.unclosed) return 'malformed_row';
    return hasMoreCells(record.bytes, delimiter, columns) ? 'wrong_column_count' : undefined;
  });
  const whole = parsed(
    records.filter((_, at) => faults[at] === undefined),
    delimiter,
  );
  let read = 0;
  return records.map((record, at) => {
    const fault = faults[at];
    if (fault !== undefined) return { fault };
    // One that is no CSV would spoil the others: then each is read by itself.
    const row = whole ? whole[read] : parsed([record], delimiter)?.[0];
    read += 1;
    if (!row) return { fault: 'malformed_row' };
    return row.length === columns ? decoded(row, encoding) : { fault: 'wrong_column_count' };
  });
}

/** The names of the columns. @throws Problem `invalid_mapping` */
export function readHeader(record: RawRecord, options: ImportOptions): string[] {
  if (record.bytes && hasMoreCells(record.bytes, options.delimiter, MOST_COLUMNS)) throw tooManyColumns();
  const row = record.bytes && !record.unclosed ? parsed([record], options.delimiter)?.[0] : undefined;
  const read = row && decoded(row, options.encoding);
  if (read && 'cells' in read) return read.cells;
  const detail = 'Line 1 is no header of columns in this encoding.';
  throw Problem.validation([{ pointer: '/mapping', code: 'invalid_mapping', detail }]);
}

/**
 * Whether a record has more cells than it may have, without making any of them: a megabyte of delimiters would be a
 * million texts. Of a record that the parser takes, each quote opens or closes.
 */
function hasMoreCells(bytes: Buffer, delimiter: string, most: number): boolean {
  const between = delimiter.charCodeAt(0);
  let cells = 1;
  let isQuoted = false;
  for (const byte of bytes) {
    if (byte === QUOTE) isQuoted = !isQuoted;
    else if (byte === between && !isQuoted) {
      cells += 1;
      if (cells > most) return true;
    }
  }
  return false;
}

const QUOTE = 0x22;

function parsed(records: readonly RawRecord[], delimiter: string): string[][] | undefined {
  const lines = records.flatMap(({ bytes }) => [bytes ?? Buffer.alloc(0), LINE_FEED]);
  try {
    const rows: string[][] = parse(Buffer.concat(lines).toString('latin1'), {
      delimiter,
      record_delimiter: ['\r\n', '\n'],
      relax_column_count: true,
    });
    return rows.length === records.length ? rows : undefined;
  } catch (error) {
    if (error instanceof CsvError) return undefined;
    throw error;
  }
}

const LINE_FEED = Buffer.from('\n');

function decoded(row: readonly string[], encoding: ImportOptions['encoding']): Cells {
  const cells: string[] = [];
  for (const [column, text] of row.entries()) {
    const cell = decode(text, encoding);
    if (cell === undefined) return { fault: 'invalid_encoding', column };
    if (!isStorableText(cell)) return { fault: 'invalid_format', column };
    cells.push(cell);
  }
  return { cells };
}

function decode(text: string, encoding: ImportOptions['encoding']): string | undefined {
  if (!NOT_ASCII.test(text)) return text;
  const bytes = Buffer.from(text, 'latin1');
  if (encoding === 'windows-1252') return WINDOWS_1252.decode(bytes);
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

/** A line of JSON as it was read, or why not, and by which of its fields. */
type JsonLine =
  | { readonly row: Record<string, unknown> }
  | { readonly fault: RecordFault | FieldError['code']; readonly name?: string };

/** The object of a line of JSON; a fault where it is none, or holds what no body may. */
export function readJsonLine({ bytes }: RawRecord, encoding: ImportOptions['encoding']): JsonLine {
  if (bytes === null) return { fault: 'row_too_large' };
  if (encoding === 'utf-8' && !isUtf8(bytes)) return { fault: 'invalid_encoding' };
  try {
    const value = parseJsonBytes(utf8Of(bytes, encoding));
    if (isObject(value)) return { row: value };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const [first] = error.errors ?? [];
    const [, name] = /^\/([^/]+)/.exec(first?.pointer ?? '') ?? [];
    if (first && name !== undefined)
      return { fault: first.code, name: name.replaceAll('~1', '/').replaceAll('~0', '~') };
  }
  return { fault: 'malformed_row' };
}

/** The names of a line's fields, whatever their values are; undefined where it is no object of JSON. */
export function readNames(record: RawRecord, encoding: ImportOptions['encoding']): string[] | undefined {
  const read = readJsonLine(record, encoding);
  if ('row' in read) return Object.keys(read.row);
  if (read.name === undefined || record.bytes === null) return undefined;
  const value: unknown = JSON.parse(utf8Of(record.bytes, encoding).toString('utf8'));
  return isObject(value) ? Object.keys(value) : undefined;
}

function utf8Of(bytes: Buffer, encoding: ImportOptions['encoding']): Buffer {
  return encoding === 'utf-8' ? bytes : Buffer.from(WINDOWS_1252.decode(bytes));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
