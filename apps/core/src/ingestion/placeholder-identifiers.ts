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
const WRAPPING = /^[\s"'`´‘’“”«»()[\]{}<>]+|[\s"'`´‘’“”«»()[\]{}<>]+$/g;

/**
 * Whether a value stands for "no identifier": any case, quoted or bracketed, as often as may be. Such a value
 * would join all the people without an identifier into one contact.
 */
export function isPlaceholder(value: string): boolean {
  // Nothing on the list is longer than 15 characters, unless it is wrapped or made of zeros and dashes only.
  const bare = value.normalize('NFKC').replace(WRAPPING, '');
  return ZEROS_AND_DASHES.test(bare) || (bare.length <= 15 && PLACEHOLDERS.has(bare.toLowerCase()));
}
