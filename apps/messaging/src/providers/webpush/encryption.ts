import { createCipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto';

/** The keys of one subscription, as a browser gives them (W3C Push API), in base64url. */
export interface SubscriptionKeys {
  readonly p256dh: string;
  readonly auth: string;
}

/** What is random of an encryption: made anew for each message, given by a test that knows the result. */
interface Ephemeral {
  readonly privateKey: Buffer;
  readonly salt: Buffer;
}

const CURVE = 'prime256v1';
/** The whole message is one record: 16 bytes of tag and one of padding beside it. */
const RECORD_BYTES = 4_096;
/** Beside the header of 86 bytes, what push services take in all (RFC 8030 §7.2). */
export const LONGEST_PLAINTEXT = RECORD_BYTES - 86 - 17;

/**
 * Encrypts for one subscription (RFC 8291: `aes128gcm` of RFC 8188 with a key that both sides agree upon).
 * @throws Error where the subscription's key is no point of the curve
 */
export function encrypt(plaintext: Buffer, keys: SubscriptionKeys, ephemeral: Ephemeral = fresh()): Buffer {
  const receiver = Buffer.from(keys.p256dh, 'base64url');
  const authSecret = Buffer.from(keys.auth, 'base64url');
  const ecdh = createECDH(CURVE);
  ecdh.setPrivateKey(ephemeral.privateKey);
  const own = ecdh.getPublicKey();
  const shared = ecdh.computeSecret(receiver);
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), receiver, own]);
  const material = hkdf(shared, authSecret, info, 32);
  const key = hkdf(material, ephemeral.salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16);
  const nonce = hkdf(material, ephemeral.salt, Buffer.from('Content-Encoding: nonce\0'), 12);
  const cipher = createCipheriv('aes-128-gcm', key, nonce);
  // The delimiter of the last record, without padding.
  const sealed = [
    cipher.update(Buffer.concat([plaintext, Buffer.of(2)])),
    cipher.final(),
    cipher.getAuthTag(),
  ];
  const size = Buffer.alloc(4);
  size.writeUInt32BE(RECORD_BYTES);
  return Buffer.concat([ephemeral.salt, size, Buffer.of(own.length), own, ...sealed]);
}

function hkdf(material: Buffer, salt: Buffer, info: Buffer, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', material, salt, info, length));
}

function fresh(): Ephemeral {
  const ecdh = createECDH(CURVE);
  ecdh.generateKeys();
  // A private key that begins with zeros comes without them.
  const privateKey = Buffer.concat([Buffer.alloc(32), ecdh.getPrivateKey()]).subarray(-32);
  return { privateKey, salt: randomBytes(16) };
}
