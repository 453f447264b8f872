import { createPublicKey, type JsonWebKey } from 'node:crypto';

/** A public key that verifies an organization's tenant tokens. */
export interface MemberJwk {
  kty: string;
  kid: string;
  alg: string;
  crv?: string;
  x?: string;
  y?: string;
  n?: string;
  e?: string;
}

const FEWEST_RSA_BITS = 2_048;
const LONGEST_KID = 200;
const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

/** Which algorithm a key is for, by its own form. */
function algorithmOf({ kty, crv }: JsonWebKey): string | undefined {
  if (kty === 'RSA') return 'RS256';
  if (kty === 'EC' && crv === 'P-256') return 'ES256';
  if (kty === 'OKP' && crv === 'Ed25519') return 'EdDSA';
  return undefined;
}

/** The public key, reduced to what verifies; a sentence on what is wrong with it otherwise. */
export function readMemberJwk(given: unknown): MemberJwk | string {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return 'A key is a JWK, an object.';
  const key = given as JsonWebKey & { kid?: unknown };
  if (PRIVATE.some((part) => part in key)) return 'A public key only: this one holds private parts.';
  if (typeof key.kid !== 'string' || key.kid === '' || key.kid.length > LONGEST_KID)
    return `A key has a kid of 1 to ${String(LONGEST_KID)} characters.`;
  const alg = algorithmOf(key);
  if (alg === undefined) return 'A key is for RS256, ES256 (P-256) or EdDSA (Ed25519).';
  if (key['alg'] !== undefined && key['alg'] !== alg) return `This key is for ${alg}.`;
  const bits = modulusBits(key);
  if (bits === undefined) return 'This is no valid key.';
  if (alg === 'RS256' && bits < FEWEST_RSA_BITS)
    return `An RSA key has at least ${String(FEWEST_RSA_BITS)} bits.`;
  const { kty = '', crv, x, y, n, e } = key;
  const parts = Object.entries({ crv, x, y, n, e }).filter(([, part]) => part !== undefined);
  return { kty, kid: key.kid, alg, ...Object.fromEntries(parts) };
}

/** The length of an RSA key's modulus, 0 for others; undefined for what is no key. */
function modulusBits(key: JsonWebKey): number | undefined {
  try {
    return createPublicKey({ key, format: 'jwk' }).asymmetricKeyDetails?.modulusLength ?? 0;
  } catch {
    return undefined; // what Node cannot read verifies nothing
  }
}
