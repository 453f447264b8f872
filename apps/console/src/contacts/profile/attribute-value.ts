import { isNumberText, readNumber, writeNumber } from '../../ui/number-text.ts';

/** Digits alone. */
const WHOLE = /^-?\d+$/;

/**
 * What was typed as the value that it stands for: a number as the page's language writes one, JSON where it is some,
 * else the text itself. Digits that no number of JavaScript holds stay a text, in place of a number next to them.
 */
export function asValue(typed: string, locale: string): unknown {
  if (isNumberText(typed, locale)) return readNumber(typed, locale);
  const number = Number(typed);
  if (WHOLE.test(typed) && !(Number.isFinite(number) && BigInt(number) === BigInt(typed))) return typed;
  try {
    return JSON.parse(typed) as unknown;
  } catch {
    return typed;
  }
}

/** A value as one would type it: a text that would be read as something else stands in quotation marks. */
export function asTyped(value: unknown, locale: string): string {
  if (typeof value === 'number') return writeNumber(String(value), locale);
  if (typeof value === 'string' && asValue(value, locale) === value) return value;
  return JSON.stringify(value);
}
