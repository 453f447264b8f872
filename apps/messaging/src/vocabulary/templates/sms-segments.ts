/** GSM 03.38: the default alphabet, and the characters that take two places. */
const BASIC = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
);
const EXTENDED = new Set('^{}\\[~]|€\f');

/** How many messages a provider makes of a text: 160 septets or 70 UTF-16 units, less the header when several. */
export function smsSegments(text: string): number {
  const characters = [...text];
  const septets = characters.map((character) =>
    BASIC.has(character) ? 1 : EXTENDED.has(character) ? 2 : undefined,
  );
  return septets.every((places) => places !== undefined)
    ? pieces(septets, 160, 153)
    : pieces(
        characters.map(({ length }) => length),
        70,
        67,
      );
}

/** A character that takes two places stands in one piece whole: where one place is left, it begins the next. */
function pieces(places: readonly number[], single: number, joined: number): number {
  if (places.reduce((sum, each) => sum + each, 0) <= single) return 1;
  let count = 1;
  let taken = 0;
  for (const each of places) {
    if (taken + each > joined) {
      count += 1;
      taken = 0;
    }
    taken += each;
  }
  return count;
}
