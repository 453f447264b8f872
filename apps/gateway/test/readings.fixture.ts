import { gunzipSync } from 'node:zlib';

/** So many coats of encoding are taken off: an answer kept as JSON text in a JSON column has two. */
const DEEPEST = 4;
const BASE64 = /[A-Za-z0-9+/_-]{16,}={0,2}/g;
const HEX = /(?:[0-9a-f]{2}){12,}/gi;
const GZIP = 0x1f8b;

/**
 * All that a content says: as it stands, with the escapes of JSON and URLs undone, and what hexadecimal, base64 and gzip
 * hold within it. In lower case, composed as NFC.
 */
export function readings(content: string | Buffer, depth = DEEPEST): string[] {
  const text = typeof content === 'string' ? content : textIn(content);
  if (typeof content !== 'string' && isZipped(content)) return readings(gunzipSync(content), depth);
  const own = [text.normalize('NFC').toLowerCase()];
  if (depth === 0) return own;
  const deeper = new Set<string | Buffer>();
  if (text.includes('\\')) deeper.add(unescaped(text));
  if (/%[0-9a-f]{2}/i.test(text)) deeper.add(text.replaceAll(/(%[0-9a-f]{2})+/gi, decoded));
  for (const [run] of text.matchAll(HEX)) keepBytes(deeper, Buffer.from(run, 'hex'));
  for (const [run] of text.matchAll(BASE64)) keepBytes(deeper, Buffer.from(run, 'base64url'));
  return own.concat(...[...deeper].map((each) => readings(each, depth - 1)));
}

/** What is neither a text nor zipped says nothing: a key, a hash, something sealed. */
function keepBytes(kept: Set<string | Buffer>, bytes: Buffer): void {
  if (isZipped(bytes)) kept.add(bytes);
  else if (isText(bytes)) kept.add(bytes.toString('utf8'));
}

function isText(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function isZipped(bytes: Buffer): boolean {
  if (bytes.length < 18 || bytes.readUInt16BE(0) !== GZIP) return false;
  try {
    gunzipSync(bytes);
    return true;
  } catch {
    return false;
  }
}

function textIn(bytes: Buffer): string {
  return bytes.toString(isText(bytes) ? 'utf8' : 'latin1');
}

function unescaped(text: string): string {
  return text
    .replaceAll(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)))
    .replaceAll(/\\(["\\/])/g, '$1');
}

function decoded(run: string): string {
  try {
    return decodeURIComponent(run);
  } catch {
    return run;
  }
}
