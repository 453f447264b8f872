import { createHmac, randomBytes } from 'node:crypto';
import { KeyedHash } from './keyed-hash.js';

it.each([0, 1, 32, 64])('is the HMAC of Node, with a key of %i bytes', (bytes) => {
  const key = randomBytes(bytes);
  const keyed = new KeyedHash(key);
  for (const text of ['', 'a', 'ñandú 😀', 'x'.repeat(63), 'x'.repeat(64), 'x'.repeat(10_000)])
    expect(keyed.of(text)).toEqual(createHmac('sha256', key).update(text).digest());
});

it('takes no key that would have to be hashed first', () => {
  expect(() => new KeyedHash(randomBytes(65))).toThrow(RangeError);
});
