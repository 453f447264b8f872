import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const VERSION = 'v1';

/**
 * Private keys at rest: AES-256-GCM under a key derived from `ENCRYPTION_KEY`, bound to what the key is for, so that
 * a row copied to another purpose does not open and nobody can put in a key of their own.
 */
export class KeySeal {
  private readonly key: Buffer;

  /** For one purpose: what was sealed for another it cannot open. */
  constructor(master: Buffer, purpose: string) {
    this.key = Buffer.from(hkdfSync('sha256', master, Buffer.alloc(0), purpose, 32));
  }

  /** `v1.<iv>.<tag>.<ciphertext>`, base64url. */
  seal(place: string, text: string): string {
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.key, iv).setAAD(Buffer.from(place));
    const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    const pieces = [iv, cipher.getAuthTag(), ciphertext].map((piece) => piece.toString('base64url'));
    return [VERSION, ...pieces].join('.');
  }

  /** The text; throws where the key or the place is another, or the text was altered. */
  open(place: string, sealed: string): string {
    const [version, iv = '', tag = '', ciphertext = ''] = sealed.split('.');
    if (version !== VERSION) throw new Error('A sealed key has an unknown form');
    const decipher = createDecipheriv('aes-256-gcm', this.key, Buffer.from(iv, 'base64url'), {
      authTagLength: 16,
    })
      .setAAD(Buffer.from(place))
      .setAuthTag(Buffer.from(tag, 'base64url'));
    return decipher.update(ciphertext, 'base64url', 'utf8') + decipher.final('utf8');
  }
}
