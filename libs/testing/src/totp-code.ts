import { createHmac } from 'node:crypto';

/** The code that an authenticator app shows now (RFC 6238). */
export function totpCode(base32: string, now = Date.now()): string {
  const bits = [...base32].map((char) =>
    '234567'.includes(char) ? Number(char) + 24 : char.charCodeAt(0) - 65,
  );
  const text = bits.map((value) => value.toString(2).padStart(5, '0')).join('');
  const bytes = Buffer.from((text.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(now / 30_000)));
  const hash = createHmac('sha1', bytes).update(counter).digest();
  const offset = (hash.at(-1) ?? 0) & 15;
  return String((hash.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}
