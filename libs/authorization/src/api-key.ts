import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** What every API key begins with. */
export const API_KEY_MARK = 'cpk_live_';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const BODY_START = API_KEY_MARK.length;
const BODY_END = BODY_START + RANDOM_LENGTH;
/** Length of a whole key: the mark, 32 random characters, 6 of the checksum (contract.md §5). */
export const API_KEY_LENGTH = BODY_END + CHECKSUM_LENGTH;
const PREFIX_LENGTH = 13;
const BASE62 = /^[0-9A-Za-z]+$/;

/** A fresh key with 190 bits of randomness. It is shown once and stored nowhere. */
export function newApiKey(): string {
  let body = '';
  while (body.length < RANDOM_LENGTH) {
    for (const byte of randomBytes(RANDOM_LENGTH)) {
      // 248 is the largest multiple of 62 in a byte: taking more would favour the first characters.
      if (byte < 248 && body.length < RANDOM_LENGTH) body += DIGITS.charAt(byte % 62);
    }
  }
  return API_KEY_MARK + body + checksum(body);
}

/**
 * Whether a text can be a key at all: mark, length, alphabet and CRC-32. Garbage and mistyped keys are refused
 * by this alone, without a look-up. It says nothing about whether the key exists.
 */
export function isWellFormedApiKey(text: string): boolean {
  if (text.length !== API_KEY_LENGTH || !text.startsWith(API_KEY_MARK)) return false;
  const body = text.slice(BODY_START, BODY_END);
  return BASE62.test(body) && checksum(body) === text.slice(BODY_END);
}

/** What a key is stored and looked up by: its SHA-256, lower-case hex. A key is random enough to need no salt. */
export function hashApiKey(key: string): string {
  return hash('sha256', key, 'hex');
}

/** The part of a key that may be shown, so that its owner recognizes it (identity.md §6). */
export function apiKeyPrefix(key: string): string {
  return key.slice(0, PREFIX_LENGTH);
}

function checksum(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (let place = 0; place < CHECKSUM_LENGTH; place += 1) {
    text = DIGITS.charAt(rest % 62) + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}
