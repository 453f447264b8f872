import fc from 'fast-check';
import { API_KEY_LENGTH, apiKeyPrefix, hashApiKey, isWellFormedApiKey, newApiKey } from './api-key.js';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe('an API key', () => {
  it('is cpk_live_, 32 random characters and 6 of their CRC-32', () => {
    const key = newApiKey();
    expect(key).toMatch(/^cpk_live_[0-9A-Za-z]{38}$/);
    expect(key).toHaveLength(API_KEY_LENGTH);
    expect(isWellFormedApiKey(key)).toBe(true);
    expect(newApiKey()).not.toBe(key);
  });

  it('has the checksum that anybody else would compute', () => {
    expect(isWellFormedApiKey(`cpk_live_${'0'.repeat(32)}${base62OfCrc('0'.repeat(32))}`)).toBe(true);
  });

  it('pads its checksum with zeros', () => {
    const body = bodyWithSmallChecksum();
    expect(base62OfCrc(body).startsWith('00')).toBe(true);
    expect(isWellFormedApiKey(`cpk_live_${body}${base62OfCrc(body)}`)).toBe(true);
  });

  it('is no key any more after any single change', () => {
    fc.assert(
      fc.property(fc.nat(37), fc.nat(61), (at, digit) => {
        const key = newApiKey();
        const changed = key.slice(0, 9 + at) + (ALPHABET[digit] ?? '') + key.slice(10 + at);
        expect(isWellFormedApiKey(changed)).toBe(changed === key);
      }),
    );
  });

  it('is not any text', () => {
    fc.assert(fc.property(fc.string(), (text) => !isWellFormedApiKey(text)));
    expect(isWellFormedApiKey(`sk_live_x${newApiKey().slice(9)}`)).toBe(false);
    expect(isWellFormedApiKey(`${newApiKey()} `)).toBe(false);
  });

  it('uses every character of the alphabet alike', () => {
    const counts = new Map<string, number>();
    const keys = 4_000;
    for (let made = 0; made < keys; made += 1) {
      for (const character of newApiKey().slice(9, 41)) {
        counts.set(character, (counts.get(character) ?? 0) + 1);
      }
    }
    const expected = (keys * 32) / 62;
    expect(counts.size).toBe(62);
    // Six standard deviations: a generator that took bytes modulo 62 would favour eight characters by 25 %.
    const bound = 6 * Math.sqrt(expected);
    for (const count of counts.values()) expect(Math.abs(count - expected)).toBeLessThan(bound);
  });

  it('is stored as its SHA-256 and shown by its first 13 characters', () => {
    const key = `cpk_live_${'0'.repeat(38)}`;
    expect(hashApiKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(apiKeyPrefix(key)).toBe('cpk_live_0000');
  });
});

/** CRC-32 by its definition, bit by bit: not the implementation that is tested. */
function crcOf(text: string): bigint {
  let crc = 0xffffffffn;
  for (const byte of Buffer.from(text)) {
    crc ^= BigInt(byte);
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1n ? (crc >> 1n) ^ 0xedb88320n : crc >> 1n;
  }
  return crc ^ 0xffffffffn;
}

function base62OfCrc(text: string): string {
  let rest = crcOf(text);
  let digits = '';
  for (; rest > 0n; rest /= 62n) digits = (ALPHABET[Number(rest % 62n)] ?? '') + digits;
  return digits.padStart(6, '0');
}

function bodyWithSmallChecksum(): string {
  for (let count = 0; ; count += 1) {
    const body = String(count).padStart(32, 'a');
    if (crcOf(body) < 62n ** 4n) return body;
  }
}
