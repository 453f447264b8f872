import { readJson } from '../../ui/exact-json.ts';
import { isNumberText, readNumber, writeNumber } from '../../ui/number-text.ts';

/**
 * Reads what was typed as the value that it stands for: a number as the page's language writes one, JSON where it is some,
 * else the text itself, and so it is of numbers that JavaScript does not hold, wherever they stand in it.
 */
export function asValue(typed: string, locale: string): unknown {
  if (isNumberText(typed, locale)) return readNumber(typed, locale);
  const read = readJson(typed);
  return 'value' in read ? read.value : typed;
}

/** A value as one would type it: a text that would be read as something else stands in quotation marks. */
export function asTyped(value: unknown, locale: string): string {
  if (typeof value === 'number') return writeNumber(String(value), locale);
  if (typeof value === 'string' && asValue(value, locale) === value) return value;
  return JSON.stringify(value);
}
