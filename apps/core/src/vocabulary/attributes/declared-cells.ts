import { checkDeclared, MOST_EXACT, type Checked, type Declaration } from './declaration.js';

/**
 * How the numbers of a column of CSV are written: `1234.5`, or `1.234,5`. Of one whose cells disagree, or could all be
 * either, only integers without separators are read.
 */
export type NumberForm = 'dot' | 'comma' | 'unclear';

/** Tells how numbers are written in the column that fills an attribute. */
export type CellForms = (key: string) => NumberForm;

const LONGEST_NUMBER = 40;
const NUMBERS: Record<NumberForm, RegExp> = {
  dot: /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/,
  comma: /^-?(?:0|[1-9]\d*|[1-9]\d{0,2}(?:\.\d{3})+)(?:,\d+)?$/,
  unclear: /^-?(?:0|[1-9]\d*)$/,
};
const EXPECTED: Record<NumberForm, string> = {
  dot: 'a number, such as 1234.56, as its definition declares',
  comma: 'a number, such as 1.234,56 or 1234,56 as others of its column, and as its definition declares',
  unclear:
    'a number that can be read in one way: the cells of its column have commas and dots that do not agree, or that ' +
    'may stand for thousands as well as for decimals',
};

/** Words that spreadsheets and people write for booleans, in any case. */
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...['true', '1', 'yes', 'sí', 'si', 'verdadero'].map((word) => [word, true] as const),
  ...['false', '0', 'no', 'falso'].map((word) => [word, false] as const),
]);

/** Separates the items of a list. */
const BETWEEN_ITEMS = '|';

/**
 * Reads a cell of CSV, which is a text, as a value of the declared type; blanks around it are passed over. A text stays as
 * it is. Bounds and allowed values are not looked at here.
 */
export function readCell(declaration: Declaration, cell: string, form: NumberForm): Checked {
  const text = cell.trim();
  switch (declaration.type) {
    case 'string':
      return { value: cell };
    case 'integer':
    case 'number':
      return readNumber(declaration.type, text, form);
    case 'boolean': {
      const value = BOOLEANS.get(text.normalize('NFC').toLowerCase());
      return value === undefined
        ? mismatch('true or false (1, 0, yes, no, sí), as its definition declares')
        : { value };
    }
    case 'string_list': {
      const items = text.split(BETWEEN_ITEMS).map((item) => item.trim());
      const value = items.filter((item) => item !== '');
      return value.length > 0
        ? { value }
        : mismatch('a list of texts with `|` between them, as its definition declares');
    }
    case 'date':
    case 'datetime':
      return checkDeclared(declaration, text);
  }
}

function readNumber(type: 'integer' | 'number', text: string, form: NumberForm): Checked {
  if (text.length > LONGEST_NUMBER || !NUMBERS[form].test(text)) return mismatch(EXPECTED[form]);
  const plain = form === 'comma' ? text.replaceAll('.', '').replace(',', '.') : text;
  if (type === 'integer' && plain.includes('.')) return mismatch('an integer, as its definition declares');
  const value = Number(plain);
  if (Math.abs(value) > MOST_EXACT)
    return { code: 'out_of_range', detail: 'It has more digits than a number holds exactly.' };
  return { value: value === 0 ? 0 : value };
}

function mismatch(what: string): Checked {
  return { code: 'attribute_type_mismatch', detail: `It must be ${what}.` };
}
