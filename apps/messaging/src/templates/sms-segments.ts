/** GSM 03.38: the default alphabet, and the characters that take two places. */
const BASIC = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
);
const EXTENDED = new Set('^{}\\[~]|€\f');

/** How many messages a provider makes of a text: 160 septets or 70 UTF-16 units, less the header when several. */
export function smsSegments(text: string): number {
  let septets = 0;
  for (const character of text) {
    if (BASIC.has(character)) septets += 1;
    else if (EXTENDED.has(character)) septets += 2;
    else return pieces(text.length, 70, 67);
  }
  return pieces(septets, 160, 153);
}

function pieces(length: number, single: number, joined: number): number {
  return length <= single ? 1 : Math.ceil(length / joined);
}
