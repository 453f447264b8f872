import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** What a secret begins with, for people and for scanners of source code. */
const MARK = 'cps_';

/** A secret of 256 random bits. */
export function newClientSecret(): string {
  return MARK + randomBytes(32).toString('base64url');
}

/** What is kept of a secret. Nobody guesses 256 bits, so a slow hash would slow down only ourselves. */
export function hashClientSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Whether a secret is the one of that hash, in a time that tells nothing. */
export function isClientSecret(secret: string, hash: string): boolean {
  const [given, kept] = [Buffer.from(hashClientSecret(secret)), Buffer.from(hash)];
  return given.length === kept.length && timingSafeEqual(given, kept);
}
