import { createPrivateKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';

/** Before the private key of an asymmetric signature. It is shown to nobody. */
const PRIVATE_PREFIX = 'whsk_';
const PUBLIC_PREFIX = 'whpk_';
const KEY_BYTES = 32;
/** What stands before the 32 bytes of a private key in PKCS #8 (RFC 8410 §7). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

/** A pair as Standard Webhooks writes it. */
interface Ed25519Pair {
  /** `whsk_`: the 32 private bytes and the 32 public ones after them, in base64. */
  readonly secret: string;
  /** `whpk_`: the 32 public bytes, in base64. */
  readonly publicKey: string;
}

/** A fresh pair. */
export function newEd25519Pair(): Ed25519Pair {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const [hidden, shown] = [lastBytes(privateKey, 'pkcs8'), lastBytes(publicKey, 'spki')];
  return {
    secret: `${PRIVATE_PREFIX}${Buffer.concat([hidden, shown]).toString('base64')}`,
    publicKey: `${PUBLIC_PREFIX}${shown.toString('base64')}`,
  };
}

/** Whether a secret is the private half of a pair. */
export function isEd25519Secret(secret: string): boolean {
  return secret.startsWith(PRIVATE_PREFIX);
}

/** The signature of some bytes, in base64. */
export function signEd25519(secret: string, signed: Buffer): string {
  const hidden = Buffer.from(secret.slice(PRIVATE_PREFIX.length), 'base64').subarray(0, KEY_BYTES);
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, hidden]), format: 'der', type: 'pkcs8' });
  return sign(null, signed, key).toString('base64');
}

/** Both encodings end with the 32 bytes of the key. */
function lastBytes(key: KeyObject, type: 'pkcs8' | 'spki'): Buffer {
  return Buffer.from(key.export({ format: 'der', type } as never)).subarray(-KEY_BYTES);
}
