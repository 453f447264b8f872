/** Stands in a draft for a text that nobody reads as a number, though JavaScript would. */
export const NO_NUMBER = 'NaN';

/**
 * Reads a number by how a locale writes numbers: `10.000` is ten thousand in Spanish and ten in English. A mark of
 * thousands that groups none is a decimal mark. Undefined for all else, and for digits that no number holds.
 */
export function readNumber(text: string, locale: string): number | undefined {
  const { group, decimal } = marksOf(locale);
  const [sign, digits] = /^(-?)(.*)$/s.exec(text.trim())?.slice(1) ?? [];
  if (digits === undefined || !/\d/.test(digits)) return undefined;
  const grouped = new RegExp(`^([1-9]\\d{0,2}(?:[${group}]\\d{3})+|\\d*)(?:[${decimal}](\\d*))?$`);
  const [, before = '', fraction = ''] =
    grouped.exec(digits) ?? new RegExp(`^(\\d+)[${group}](\\d*)$`).exec(digits) ?? [];
  const whole = before.replaceAll(group, '').replace(/^0+(?=\d)/, '') || '0';
  const number = Number(`${whole}.${fraction}`);
  const [heldWhole, heldFraction = ''] = exactly(number).split('.');
  const held = whole === heldWhole && fraction === heldFraction.padEnd(fraction.length, '0');
  if (before + fraction === '' || number > Number.MAX_SAFE_INTEGER || !held) return undefined;
  return sign === '-' && number !== 0 ? -number : number;
}

/** Tells whether a text most likely is a number; a postcode or a telephone number, whose zeros and signs count, is a text. */
export function isNumberText(text: string, locale: string): boolean {
  return /^-?(?:0(?!\d)|[1-9]).*\d$|^\d$/.test(text) && readNumber(text, locale) !== undefined;
}

/** Writes a number of a draft as one types it in a locale: without marks of thousands. What is none stays. */
export function writeNumber(plain: string, locale: string): string {
  const number = Number(plain);
  if (plain.trim() === '' || !Number.isFinite(number)) return plain;
  const written = new Intl.NumberFormat(locale, { useGrouping: false, maximumFractionDigits: 20 }).format(
    number,
  );
  return readNumber(written, locale) === number ? written : plain;
}

/** Returns what is typed as a draft holds it: a number as JSON writes it, else something that no number is read from. */
export function plainOf(typed: string, locale: string): string {
  const number = readNumber(typed, locale);
  if (number !== undefined) return String(number);
  if (typed.trim() === '') return '';
  return Number.isNaN(Number(typed)) ? typed : NO_NUMBER;
}

/** Returns lines as {@link plainOf} does each. */
export function plainLines(typed: string, locale: string): string {
  return typed
    .split('\n')
    .map((line) => plainOf(line.trim(), locale))
    .join('\n');
}

/** Returns lines as {@link writeNumber} does each. */
export function writtenLines(plain: string, locale: string): string {
  return plain
    .split('\n')
    .map((line) => writeNumber(line, locale))
    .join('\n');
}

/** All digits of a number, as they are counted. */
function exactly(number: number): string {
  return new Intl.NumberFormat('en', { useGrouping: false, maximumFractionDigits: 20 }).format(number);
}

function marksOf(locale: string): { group: string; decimal: string } {
  const parts = new Intl.NumberFormat(locale).formatToParts(1_234_567.8);
  const mark = (type: string): string => parts.find((part) => part.type === type)?.value ?? '';
  return { group: mark('group'), decimal: mark('decimal') };
}
