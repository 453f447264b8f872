import { createHmac, hkdfSync } from 'node:crypto';
import type { Keyring } from '@customer-platform/config';
import { KeySeal } from '@customer-platform/database';

/** A secret as it is stored: unreadable without the key, and recognisable by its fingerprint. */
export interface SealedSecret {
  /** As `KeySeal` has it. */
  readonly sealed: string;
  /** 8 hex digits that tell one value from another and nothing more. */
  readonly fingerprint: string;
  readonly updated_at: string;
}

/** A stored secret that does not open: another key, another place, or altered. */
export class UnreadableSecret extends Error {
  constructor() {
    super('a stored secret does not open with ENCRYPTION_KEYS or ENCRYPTION_KEY');
    this.name = 'UnreadableSecret';
  }
}

/**
 * Secrets at rest: sealed, bound to the place they belong to, so that a ciphertext copied to another organization,
 * channel or field does not open there.
 */
export class SecretBox {
  private readonly keys: KeySeal;
  private readonly fingerprints: Buffer;

  constructor(keyring: Keyring) {
    this.keys = new KeySeal(keyring, 'messaging secrets at rest');
    // Of the key that stays: a fingerprint shows that a secret is still the same.
    const key = hkdfSync('sha256', keyring.root, Buffer.alloc(0), 'messaging fingerprints', 32);
    this.fingerprints = Buffer.from(key);
  }

  seal(secret: string, place: string, now: Date): SealedSecret {
    const mac = createHmac('sha256', this.fingerprints).update(`${place}\n${secret}`);
    return {
      sealed: this.keys.seal(place, secret),
      fingerprint: mac.digest('hex').slice(0, 8),
      updated_at: now.toISOString(),
    };
  }

  /** @throws UnreadableSecret */
  open(secret: SealedSecret, place: string): string {
    try {
      return this.keys.open(place, secret.sealed);
    } catch {
      throw new UnreadableSecret();
    }
  }

  /** The secret sealed by the key that seals now; the very same object if it is already. @throws UnreadableSecret */
  renew<S extends SealedSecret>(secret: S, place: string): S {
    try {
      const sealed = this.keys.renew(place, secret.sealed);
      return sealed === undefined ? secret : { ...secret, sealed };
    } catch {
      throw new UnreadableSecret();
    }
  }
}
