import { hash } from 'node:crypto';

/** Of SHA-256. */
const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;

/**
 * HMAC-SHA-256 (RFC 2104) of short texts under one key, by hashes at once: making an HMAC of Node for each costs ten times
 * what it computes, and imports ask for three of a row.
 */
export class KeyedHash {
  private readonly inner: Buffer;
  private readonly outer: Buffer;

  /** @throws RangeError for a key longer than a block */
  constructor(key: Uint8Array) {
    if (key.length > BLOCK_BYTES) throw new RangeError('The key is longer than a block');
    const padded = Buffer.alloc(BLOCK_BYTES);
    padded.set(key);
    this.inner = padded.map((byte) => byte ^ 0x36) as Buffer;
    this.outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES);
    this.outer.set(padded.map((byte) => byte ^ 0x5c));
  }

  of(text: string): Buffer {
    const length = Buffer.byteLength(text);
    const message = Buffer.allocUnsafe(BLOCK_BYTES + length);
    message.set(this.inner);
    message.write(text, BLOCK_BYTES);
    this.outer.set(hash('sha256', message, 'buffer'), BLOCK_BYTES);
    return hash('sha256', this.outer, 'buffer');
  }
}
