import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { maskNationalId } from '../../national-ids/national-id.js';
import type { NationalIdType } from '../../national-ids/national-id-types.js';

/** The injection token of the 32 bytes that keys are derived from. */
export const MASTER_KEY = Symbol('MASTER_KEY');

/** A national id as it is stored: none of the three tells the value without the key, beyond what the mask shows. */
export interface SealedNationalId {
  readonly type: NationalIdType;
  /** Keyed hash, equal for equal values of one organization. */
  readonly index: string;
  /** `v1.<iv>.<tag>.<ciphertext>`, base64url. */
  readonly sealed: string;
  readonly masked: string;
}

const VERSION = 'v1';

/**
 * National ids at rest (core.md §2): AES-256-GCM, bound to organization and type, so that a ciphertext copied elsewhere
 * does not open, beside an HMAC by which equal values are found. Both keys are derived from `ENCRYPTION_KEY`.
 */
@Injectable()
export class NationalIdVault {
  private readonly key: Buffer;
  private readonly indexKey: Buffer;

  constructor(@Inject(MASTER_KEY) master: Buffer) {
    this.key = derive(master, 'core national ids at rest');
    this.indexKey = derive(master, 'core national id index');
  }

  /** @param value as `normalizeNationalId` answered it */
  seal(organizationId: string, type: NationalIdType, value: string): SealedNationalId {
    const place = placeOf(organizationId, type);
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.key, iv).setAAD(Buffer.from(place));
    const ciphertext = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
    const pieces = [iv, cipher.getAuthTag(), ciphertext].map((piece) => piece.toString('base64url'));
    const index = createHmac('sha256', this.indexKey).update(`${place}\n${value}`).digest('base64url');
    return { type, index, sealed: [VERSION, ...pieces].join('.'), masked: maskNationalId(type, value) };
  }

  /** The value; throws where the key is another or the text was altered. */
  open(organizationId: string, type: NationalIdType, sealed: string): string {
    const [version, iv = '', tag = '', ciphertext = ''] = sealed.split('.');
    if (version !== VERSION) throw new Error('A sealed national id has an unknown form');
    const decipher = createDecipheriv('aes-256-gcm', this.key, Buffer.from(iv, 'base64url'))
      .setAAD(Buffer.from(placeOf(organizationId, type)))
      .setAuthTag(Buffer.from(tag, 'base64url'));
    return decipher.update(ciphertext, 'base64url', 'utf8') + decipher.final('utf8');
  }
}

function placeOf(organizationId: string, type: NationalIdType): string {
  return `${organizationId}\n${type}`;
}

function derive(master: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', master, Buffer.alloc(0), purpose, 32));
}
