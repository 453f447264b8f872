/** Texts and numbers of JSON, in their order: what looks like a number inside of a text is none. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** The value that was read of a text; or why none was. */
export type ReadJson = { value: unknown } | { fault: 'noJson' } | { fault: 'inexact'; number: string };

/**
 * Reads JSON as the API does: a number beyond 2^53 that JavaScript would change is refused, not read as the number next
 * to it.
 */
export function readJson(text: string): ReadJson {
  let value: unknown;
  try {
    value = JSON.parse(text) as unknown;
  } catch {
    return { fault: 'noJson' };
  }
  const number = text.match(TOKENS)?.find((token) => !token.startsWith('"') && isInexact(token));
  return number === undefined ? { value } : { fault: 'inexact', number };
}

/** Returns the object that a text of JSON is; undefined for any other value. */
export function objectOf(read: ReadJson): Record<string, unknown> | undefined {
  if (!('value' in read)) return undefined;
  const { value } = read;
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

function isInexact(written: string): boolean {
  const number = Number(written);
  if (Math.abs(number) <= Number.MAX_SAFE_INTEGER) return false;
  if (!Number.isFinite(number)) return true;
  const [, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(written) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.slice(0, digits.length - trailingZeros(digits));
  const shift = Number(exponent) - fraction.length + digits.length - significant.length;
  // Every number of this size is whole: a part behind the decimal mark is lost.
  return shift < 0 || BigInt(significant) * 10n ** BigInt(shift) !== BigInt(Math.abs(number));
}

function trailingZeros(digits: string): number {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === '0') end -= 1;
  return digits.length - end;
}
