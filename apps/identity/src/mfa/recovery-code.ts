import { createHash, randomBytes } from 'node:crypto';

/** How many a user gets at once (identity.md §5). */
export const RECOVERY_CODES = 10;

/** Crockford's base 32: no letter that looks like a digit. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** 24 characters of 5 bits: 120 bits. */
const LENGTH = 24;
const GROUP = 6;

/** `4F9A2C-…`: four groups of six. */
export function newRecoveryCode(): string {
  const characters = [...randomBytes(LENGTH)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
  return (characters.match(new RegExp(`.{${String(GROUP)}}`, 'g')) ?? []).join('-');
}

/** By which a code is found; dashes, spaces, case and letters that look like digits are forgiven. */
export function hashRecoveryCode(code: string): Buffer {
  const plain = code.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1');
  return createHash('sha256').update(plain).digest();
}
