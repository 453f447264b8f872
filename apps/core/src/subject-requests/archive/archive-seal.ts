import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { encryptionConfig, keyringOf, readConfig, type Keyring } from '@customer-platform/config';
import { KeySeal } from '@customer-platform/database';

const PURPOSE = 'core subject archives at rest';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** What is sealed, and where it stands. */
interface PieceName {
  readonly part: 'rows' | 'file';
  readonly seq: number;
}

/** Of which archive. */
export interface ArchiveName {
  readonly organization_id: string;
  readonly subject_request_id: string;
}

/** The seal of the keys of archives; for whoever seals them anew by another key. */
export function sealOfArchives(keyring: Keyring): KeySeal {
  return new KeySeal(keyring, PURPOSE);
}

/** Where the sealed key of an archive belongs. */
export function placeOfArchive({
  organization_id: organization,
  subject_request_id: request,
}: ArchiveName): string {
  return `${organization}\n${request}`;
}

/**
 * Archives at rest: each has a key of its own, which alone is sealed by the platform's keys. So its bytes stay as they
 * are when these are replaced, and nothing opens them once its row is gone.
 */
@Injectable()
export class ArchiveSeal {
  private readonly keys = sealOfArchives(keyringOf(readConfig(encryptionConfig)));

  /** A new key, sealed. */
  newKey(archive: ArchiveName): string {
    return this.keys.seal(placeOfArchive(archive), randomBytes(KEY_BYTES).toString('base64url'));
  }

  /** The key of an archive; throws where it is another's, or was altered. */
  keyOf(archive: ArchiveName, sealed: string): ArchiveKey {
    return new ArchiveKey(Buffer.from(this.keys.open(placeOfArchive(archive), sealed), 'base64url'));
  }
}

/** Seals and opens the pieces of one archive with AES-256-GCM, each bound to its place. */
export class ArchiveKey {
  constructor(private readonly key: Buffer) {}

  /** iv, tag, ciphertext. */
  seal(name: PieceName, bytes: Buffer): Buffer {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.key, iv).setAAD(placeOf(name));
    const sealed = Buffer.concat([cipher.update(bytes), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
  }

  /** Throws where the piece is another, or was altered. */
  open(name: PieceName, sealed: Buffer): Buffer {
    const content = IV_BYTES + TAG_BYTES;
    const decipher = createDecipheriv('aes-256-gcm', this.key, sealed.subarray(0, IV_BYTES), {
      authTagLength: TAG_BYTES,
    })
      .setAAD(placeOf(name))
      .setAuthTag(sealed.subarray(IV_BYTES, content));
    return Buffer.concat([decipher.update(sealed.subarray(content)), decipher.final()]);
  }
}

function placeOf({ part, seq }: PieceName): Buffer {
  return Buffer.from(`${part}\n${String(seq)}`);
}
