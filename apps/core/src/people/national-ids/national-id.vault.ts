import { createHmac, hkdfSync } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Keyring } from '@customer-platform/config';
import { KeySeal } from '@customer-platform/database';
import { maskNationalId } from '../../vocabulary/national-ids/national-id.js';
import type { NationalIdType } from '../../vocabulary/national-ids/national-id-types.js';

/** The injection token of the keyring that keys are derived from. */
export const MASTER_KEY = Symbol('MASTER_KEY');

/** A national id as it is stored: none of the three tells the value without the key, beyond what the mask shows. */
interface SealedNationalId {
  readonly type: NationalIdType;
  /** Keyed hash, equal for equal values of one organization. */
  readonly index: string;
  /** As `KeySeal` has it. */
  readonly sealed: string;
  readonly masked: string;
}

/**
 * National ids at rest (core.md §2): sealed, bound to organization and type, so that a ciphertext copied elsewhere
 * does not open, beside an HMAC by which equal values are found. The HMAC's key is derived from `ENCRYPTION_KEY`, which
 * stays when the keys that seal are replaced: equal values must go on being equal.
 */
@Injectable()
export class NationalIdVault {
  private readonly keys: KeySeal;
  private readonly indexKey: Buffer;

  constructor(@Inject(MASTER_KEY) keyring: Keyring) {
    this.keys = new KeySeal(keyring, 'core national ids at rest');
    const index = hkdfSync('sha256', keyring.root, Buffer.alloc(0), 'core national id index', 32);
    this.indexKey = Buffer.from(index);
  }

  /** @param value as `normalizeNationalId` answered it */
  seal(organizationId: string, type: NationalIdType, value: string): SealedNationalId {
    const place = placeOf(organizationId, type);
    const index = createHmac('sha256', this.indexKey).update(`${place}\n${value}`).digest('base64url');
    return { type, index, sealed: this.keys.seal(place, value), masked: maskNationalId(type, value) };
  }

  /** The value; throws where the key is another or the text was altered. */
  open(organizationId: string, type: NationalIdType, sealed: string): string {
    return this.keys.open(placeOf(organizationId, type), sealed);
  }

  /** The text sealed by the key that seals now; undefined if it is already. Throws as `open`. */
  renew(organizationId: string, type: string, sealed: string): string | undefined {
    return this.keys.renew(placeOf(organizationId, type), sealed);
  }
}

function placeOf(organizationId: string, type: string): string {
  return `${organizationId}\n${type}`;
}
