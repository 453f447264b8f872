import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

/** A secret as it is stored: unreadable without the key, and recognisable by its fingerprint. */
export interface SealedSecret {
  /** `v1.<iv>.<tag>.<ciphertext>`, base64url. */
  readonly sealed: string;
  /** 8 hex digits that tell one value from another and nothing more. */
  readonly fingerprint: string;
  readonly updated_at: string;
}

/** A stored secret that does not open: another key, another place, or altered. */
export class UnreadableSecret extends Error {
  constructor() {
    super('a stored secret does not open with ENCRYPTION_KEY');
    this.name = 'UnreadableSecret';
  }
}

const VERSION = 'v1';

/**
 * Secrets at rest: AES-256-GCM, bound to the place they belong to, so that a ciphertext copied to another
 * organization, channel or field does not open there.
 */
export class SecretBox {
  private readonly key: Buffer;
  private readonly fingerprints: Buffer;

  /** @param master 32 bytes */
  constructor(master: Buffer) {
    this.key = derive(master, 'secrets at rest');
    this.fingerprints = derive(master, 'fingerprints');
  }

  seal(secret: string, place: string, now: Date): SealedSecret {
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.key, iv).setAAD(Buffer.from(place));
    const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
    const pieces = [iv, cipher.getAuthTag(), ciphertext].map((piece) => piece.toString('base64url'));
    const mac = createHmac('sha256', this.fingerprints).update(`${place}\n${secret}`);
    return {
      sealed: [VERSION, ...pieces].join('.'),
      fingerprint: mac.digest('hex').slice(0, 8),
      updated_at: now.toISOString(),
    };
  }

  /** @throws UnreadableSecret */
  open(secret: SealedSecret, place: string): string {
    const [version, iv = '', tag = '', ciphertext = ''] = secret.sealed.split('.');
    try {
      if (version !== VERSION) throw new UnreadableSecret();
      const decipher = createDecipheriv('aes-256-gcm', this.key, Buffer.from(iv, 'base64url'))
        .setAAD(Buffer.from(place))
        .setAuthTag(Buffer.from(tag, 'base64url'));
      return decipher.update(ciphertext, 'base64url', 'utf8') + decipher.final('utf8');
    } catch {
      throw new UnreadableSecret();
    }
  }
}

function derive(master: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', master, Buffer.alloc(0), `messaging ${purpose}`, 32));
}
