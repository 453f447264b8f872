import type { Step } from './proof-tree.js';

/** The proof of one record: the signature over the root of its tree, and the way there. */
export interface Proof {
  readonly kid: string;
  readonly signature: Buffer;
  readonly path: readonly Step[];
}

/*
 *   0   1  version of this format
 *   1   1  length of the key's id
 *   2   n  the key's id
 *   …  64  Ed25519 signature
 *   …  33  for each step: 0 left, 1 right; the hash that stands there
 */
const VERSION = 1;
const SIGNATURE_BYTES = 64;
const HASH_BYTES = 32;
const STEP_BYTES = 1 + HASH_BYTES;
/** A tree of more levels than this is none of ours. */
const MOST_STEPS = 16;

/** What a proof takes up of a record at most, its header's name and lengths included: of records that are signed 32 at a time. */
export const PROOF_BYTES = 288;

/** The bytes that travel as a header. */
export function encodeProof({ kid, signature, path }: Proof): Buffer {
  const signatureAt = 2 + kid.length;
  const bytes = Buffer.allocUnsafe(signatureAt + SIGNATURE_BYTES + path.length * STEP_BYTES);
  bytes[0] = VERSION;
  bytes[1] = kid.length;
  bytes.write(kid, 2, 'latin1');
  signature.copy(bytes, signatureAt);
  let at = signatureAt + SIGNATURE_BYTES;
  for (const { side, hash } of path) {
    bytes[at] = side === 'left' ? 0 : 1;
    hash.copy(bytes, at + 1);
    at += STEP_BYTES;
  }
  return bytes;
}

/** Reads what {@link encodeProof} wrote; undefined for anything else. */
export function decodeProof(bytes: Buffer): Proof | undefined {
  const [version, idLength = 0] = bytes;
  const signatureAt = 2 + idLength;
  const stepsAt = signatureAt + SIGNATURE_BYTES;
  const count = (bytes.length - stepsAt) / STEP_BYTES;
  if (version !== VERSION || !Number.isInteger(count) || count < 0 || count > MOST_STEPS) return undefined;
  const path: Step[] = [];
  for (let at = stepsAt; at < bytes.length; at += STEP_BYTES) {
    if (bytes[at] !== 0 && bytes[at] !== 1) return undefined;
    path.push({ side: bytes[at] === 0 ? 'left' : 'right', hash: bytes.subarray(at + 1, at + STEP_BYTES) });
  }
  return {
    kid: bytes.toString('latin1', 2, signatureAt),
    signature: bytes.subarray(signatureAt, stepsAt),
    path,
  };
}
