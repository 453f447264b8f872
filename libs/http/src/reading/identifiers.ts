import { plainText } from './texts.js';

/** Matches what no identifier of ASCII holds: those are compared byte by byte, and nothing more is asked for them. */
const BEYOND_ASCII = /[\u0080-\uffff]/;
/** A blank beyond ASCII, as no-break and ideographic ones are: it comes with what was pasted. */
const WIDE_BLANK = /[^\S\t\n\v\f\r ]/;
const WIDE_BLANKS = new RegExp(WIDE_BLANK, 'gu');
/** NFC makes some texts longer. One of so many characters is taken everywhere, as external ids are. */
const TAKEN_EVERYWHERE = 200;

/**
 * The form in which an identifier of another system is kept: in NFC, without what nobody sees, wide blanks cut at the ends
 * and plain ones inside. Case, and the blanks of ASCII, are its system's affair.
 */
export function plainIdentifier(value: string): string {
  if (!BEYOND_ASCII.test(value)) return value;
  const text = plainText(value);
  let [start, end] = [0, text.length];
  while (start < end && WIDE_BLANK.test(text.charAt(start))) start += 1;
  while (end > start && WIDE_BLANK.test(text.charAt(end - 1))) end -= 1;
  const plain = text.slice(start, end).replaceAll(WIDE_BLANKS, ' ');
  const isTooLong = plain.length > Math.max(value.length, TAKEN_EVERYWHERE);
  return plain === '' || isTooLong ? value : plain;
}

/**
 * The forms under which an identifier may stand, in the order in which they are meant: as it is written, as it is kept
 * now, and in NFD, in which some systems write it and releases before kept it. Of ASCII that is one.
 */
export function identifierForms(value: string): string[] {
  if (!BEYOND_ASCII.test(value)) return [value];
  const plain = plainIdentifier(value);
  return [...new Set([value, plain, plain.normalize('NFD')])];
}
