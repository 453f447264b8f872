import { plainText } from '@customer-platform/http';

/** What programs send when they have no identifier (core.md §3), in lower case and without brackets. */
const PLACEHOLDERS = new Set([
  'null',
  'nil',
  'none',
  'undefined',
  'unknown',
  'anonymous',
  'guest',
  'n/a',
  'nan',
  'true',
  'false',
  '-1',
  'object object',
]);
const ZEROS_AND_DASHES = /^[0-]*$/;
/** One character of what a value may be wrapped in. */
const WRAPPING = /[\s"'`´‘’“”«»()[\]{}<>]/;

/**
 * Whether a value stands for "no identifier": any case, quoted or bracketed, as often as may be. Such a value
 * would join all the people without an identifier into one contact.
 */
export function isPlaceholder(value: string): boolean {
  // Nothing on the list is longer than 15 characters, unless it is wrapped or made of zeros and dashes only.
  const bare = unwrapped(plainText(value).normalize('NFKC'));
  return ZEROS_AND_DASHES.test(bare) || (bare.length <= 15 && PLACEHOLDERS.has(bare.toLowerCase()));
}

/** From both ends inwards, so that a text of blanks costs its length and not the square of it. */
function unwrapped(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && WRAPPING.test(text.charAt(start))) start += 1;
  while (end > start && WRAPPING.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}
