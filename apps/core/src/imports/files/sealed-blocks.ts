import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Bytes of plain content in a block: what is read at least to read anything. */
export const BLOCK_BYTES = 64 * 1024;
const TAG_BYTES = 16;
const SEALED_BYTES = BLOCK_BYTES + TAG_BYTES;

/** A block is not what was written, or not of this file. */
export class FileDamaged extends Error {
  override readonly name = 'FileDamaged';
}

/** A key that seals one file and nothing else. */
export function newFileKey(): Buffer {
  return randomBytes(32);
}

/** A block as it lies on the disk: AES-256-GCM, its place in the file being the nonce, for each key seals one file. */
export function sealBlock(key: Buffer, index: number, plain: Uint8Array): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonceOf(index));
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** @throws FileDamaged */
export function openBlock(key: Buffer, index: number, sealed: Buffer): Buffer {
  const end = sealed.length - TAG_BYTES;
  if (end < 0) throw new FileDamaged('A block of the file is cut');
  const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(index), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(sealed.subarray(end));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(0, end)), decipher.final()]);
  } catch (error) {
    throw new FileDamaged('A block of the file is not what was written', { cause: error });
  }
}

/** Where a block lies in the sealed file, and how long it is. */
export function placeOfBlock(index: number): { from: number; length: number } {
  return { from: index * SEALED_BYTES, length: SEALED_BYTES };
}

function nonceOf(index: number): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntBE(index, 6, 6);
  return nonce;
}
