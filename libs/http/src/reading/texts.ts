/**
 * What nobody sees and nobody means: soft hyphens, zero-width spaces, marks of direction and byte order. Joiners and
 * variation selectors are none of them: they belong to the letters before them.
 */
const INVISIBLE =
  '\\u00ad\\u061c\\u180e\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u2064\\u2066-\\u2069\\ufeff';
const INVISIBLES = new RegExp(`[${INVISIBLE}]+`, 'gu');
const AT_END = new RegExp(`[\\s${INVISIBLE}]`, 'u');

/** A text without the blanks and invisible characters at its ends. It costs its length, whatever it holds. */
export function cutEnds(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && AT_END.test(text.charAt(start))) start += 1;
  while (end > start && AT_END.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** A text in NFC without invisible characters, wherever they stand; its blanks stay. */
export function plainText(text: string): string {
  return text.replaceAll(INVISIBLES, '').normalize('NFC');
}
