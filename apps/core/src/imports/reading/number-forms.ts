import type { NumberForm } from '../../vocabulary/attributes/declared-cells.js';
import { targetOf, type ImportOptions } from '../import-options.js';
import { readCsv } from './cells.js';
import type { RawRecord } from './record-splitter.js';

/** The forms by the keys of the attributes that columns fill. */
export type FormsOfNumbers = Readonly<Record<string, NumberForm>>;

/** Signs of a form that the cells of a column have shown so far. */
interface Signs {
  readonly key: string;
  readonly index: number;
  comma: boolean;
  dot: boolean;
  /** One separator before three digits: thousands here, decimals there. */
  either: boolean;
}

const COMMA = /^-?(?:\d+|\d{1,3}(?:\.\d{3})+),\d+$|^-?\d{1,3}(?:\.\d{3}){2,}$/;
const DOT = /^-?(?:\d+|\d{1,3}(?:,\d{3})+)\.\d+$|^-?\d{1,3}(?:,\d{3}){2,}$/;
const EITHER = /^-?[1-9]\d{0,2}[.,]\d{3}$/;

/**
 * Learns, while a file comes, how the numbers of its columns are written: the whole column decides, before its first row
 * is written. Where the delimiter is a semicolon, that is; a comma between cells leaves the dot to the decimals. What is
 * no number says nothing.
 */
export class NumberForms {
  private readonly columns: Signs[] = [];

  constructor(
    private readonly options: ImportOptions,
    private readonly header: readonly string[],
  ) {
    if (options.format !== 'csv' || options.delimiter !== ';') return;
    for (const [index, name] of header.entries()) {
      const target = targetOf(options.mapping[name] ?? '');
      if (target?.kind === 'attribute')
        this.columns.push({ key: target.key, index, comma: false, dot: false, either: false });
    }
  }

  look(records: readonly RawRecord[]): void {
    if (this.columns.length === 0 || records.length === 0) return;
    for (const read of readCsv(records, this.options, this.header.length))
      if ('cells' in read) for (const column of this.columns) note(column, read.cells[column.index] ?? '');
  }

  /** The forms of all columns that fill attributes; null where the delimiter has decided. */
  get all(): FormsOfNumbers | null {
    if (this.columns.length === 0) return null;
    return Object.fromEntries(this.columns.map((signs) => [signs.key, formOf(signs)]));
  }
}

/** Tells how the numbers of an attribute are written in a file; unclear where the release before took it and did not look. */
export function formIn(
  { format, delimiter }: Pick<ImportOptions, 'format' | 'delimiter'>,
  forms: FormsOfNumbers | null,
  key: string,
): NumberForm {
  if (format !== 'csv' || delimiter !== ';') return 'dot';
  return forms && Object.hasOwn(forms, key) ? (forms[key] ?? 'unclear') : 'unclear';
}

/** Longer cells are no numbers. */
const LONGEST = 60;

function note(signs: Signs, cell: string): void {
  if (cell.length > LONGEST) return;
  const text = cell.trim();
  if (EITHER.test(text)) signs.either = true;
  else if (COMMA.test(text)) signs.comma = true;
  else if (DOT.test(text)) signs.dot = true;
}

function formOf({ comma, dot, either }: Signs): NumberForm {
  if (comma) return dot ? 'unclear' : 'comma';
  return dot || !either ? 'dot' : 'unclear';
}
