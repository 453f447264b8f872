import { endOfJsonString } from '@customer-platform/http';

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/**
 * The items of the array under `name` at the top of a JSON object, as the bytes that were received: what a dead
 * letter keeps, and what an item's size is measured by. The text must already have been read as valid JSON.
 *
 * Where a name is repeated the last one counts, as it does when the text is read.
 */
export function sliceArrayItems(bytes: Buffer, name: string): Buffer[] {
  let items: Buffer[] = [];
  let at = skipSpace(bytes, skipSpace(bytes, 0) + 1);
  while (bytes[at] === QUOTE) {
    const nameEnd = skipString(bytes, at);
    const isWanted = JSON.parse(bytes.toString('utf8', at, nameEnd)) === name;
    const start = skipSpace(bytes, skipSpace(bytes, nameEnd) + 1);
    const end = skipValue(bytes, start);
    if (isWanted) items = bytes[start] === OPEN_BRACKET ? itemsOf(bytes, start) : [];
    at = skipSpace(bytes, end);
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1);
  }
  return items;
}

function itemsOf(bytes: Buffer, open: number): Buffer[] {
  const items: Buffer[] = [];
  let at = skipSpace(bytes, open + 1);
  while (at < bytes.length && bytes[at] !== CLOSE_BRACKET) {
    const end = skipValue(bytes, at);
    items.push(bytes.subarray(at, end));
    at = skipSpace(bytes, end);
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1);
  }
  return items;
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  for (let byte = bytes[at]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;) {
    at += 1;
    byte = bytes[at];
  }
  return at;
}

/** The position behind a string that begins at `from`. */
function skipString(bytes: Buffer, from: number): number {
  return Math.min(endOfJsonString(bytes, from) + 1, bytes.length);
}

function skipValue(bytes: Buffer, from: number): number {
  let depth = 0;
  let at = from;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = skipString(bytes, at);
      if (depth === 0) return at;
      continue;
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (depth === 0) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (depth === 0 && isEndOfScalar(byte)) return at;
    at += 1;
  }
  return at;
}

function isEndOfScalar(byte: number | undefined): boolean {
  return byte === COMMA || byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
