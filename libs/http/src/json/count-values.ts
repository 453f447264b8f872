const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;

/**
 * How many values a JSON text holds, counted on its bytes without reading them: one each that a bracket opens or a
 * comma parts (an empty list counts as if it held one). What reading, checking and storing a body cost goes by this
 * and not by its bytes.
 */
export function countJsonValues(bytes: Buffer): number {
  let count = 1;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfJsonString(bytes, at);
    else if (byte === COMMA || byte === OPEN_BRACE || byte === OPEN_BRACKET) count += 1;
  }
  return count;
}

/** The position of the quote that ends the string which begins at `from`, or the end of a text that lacks it. */
export function endOfJsonString(bytes: Buffer, from: number): number {
  let end = bytes.indexOf(QUOTE, from + 1);
  while (end !== -1) {
    let before = end - 1;
    while (bytes[before] === BACKSLASH) before -= 1;
    // An odd number of backslashes before a quote makes it part of the string.
    if ((end - before) % 2 === 1) return end;
    end = bytes.indexOf(QUOTE, end + 1);
  }
  return bytes.length;
}
