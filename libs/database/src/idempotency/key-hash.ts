import { createHash } from 'node:crypto';

/** What a key is kept as: callers put invoice numbers and worse into keys. */
export function keyHash(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
