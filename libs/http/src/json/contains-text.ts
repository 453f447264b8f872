/**
 * Whether a text contains another, as `String.prototype.includes` says, in time proportional to both together: the
 * engine's own search takes their product for texts made for it (Knuth–Morris–Pratt). Both come from callers.
 */
export function containsText(text: string, part: string): boolean {
  if (part.length > text.length) return false;
  if (part === '') return true;
  const borders = bordersOf(part);
  let matched = 0;
  for (let at = 0; at < text.length; at++) {
    matched = extended(part, borders, matched, text.charCodeAt(at));
    if (matched === part.length) return true;
  }
  return false;
}

/** For each beginning of a text, by the place of its last unit: how long a beginning of it is its end as well. */
function bordersOf(part: string): Uint32Array {
  const borders = new Uint32Array(part.length);
  let matched = 0;
  for (let at = 1; at < part.length; at++) {
    matched = extended(part, borders, matched, part.charCodeAt(at));
    borders[at] = matched;
  }
  return borders;
}

/** How much of the part is matched after one more unit. Over a whole text it steps back no more often than ahead. */
function extended(part: string, borders: Uint32Array, matched: number, unit: number): number {
  let length = matched;
  while (length > 0 && part.charCodeAt(length) !== unit) length = borders[length - 1] ?? 0;
  return part.charCodeAt(length) === unit ? length + 1 : length;
}
