import { randomBytes } from 'node:crypto';
import type { Keyring } from '@customer-platform/config';
import { KeySeal } from '../src/index.js';

const root = randomBytes(32);
const [k1, k2] = [randomBytes(32), randomBytes(32)];
const ring = (...sealing: [string, Buffer][]): Keyring => ({
  root,
  sealing: sealing.map(([id, key]) => ({ id, key })),
});
const seal = (keyring: Keyring | Buffer, purpose = 'purpose') => new KeySeal(keyring, purpose);

describe('sealed texts', () => {
  it('name the key that sealed them, or none where none is named', () => {
    expect(seal(root).seal('place', 'text')).toMatch(/^v1(\.[\w-]+){3}$/);
    expect(seal(ring(['a', k1], ['b', k2])).seal('place', 'text')).toMatch(/^v2\.a(\.[\w-]+){3}$/);
  });

  it('open by every key of the ring, and without an id by the root', () => {
    const all = seal(ring(['b', k2], ['a', k1]));
    for (const keyring of [root, ring(['a', k1]), ring(['b', k2])])
      expect(all.open('place', seal(keyring).seal('place', 'text'))).toBe('text');
  });

  it('open where the root has been given a name, before every process knows it', () => {
    const named = seal(ring(['0', root], ['1', k1])).seal('place', 'text');
    expect(seal(root).open('place', named)).toBe('text');
  });

  it('do not open by a key that was taken away, in another place, for another purpose, or altered', () => {
    const sealed = seal(ring(['a', k1])).seal('place', 'text');
    expect(() => seal(ring(['b', k2])).open('place', sealed)).toThrow('which ENCRYPTION_KEYS lacks');
    expect(() => seal(ring(['a', k2])).open('place', sealed)).toThrow();
    expect(() => seal(ring(['a', k1])).open('elsewhere', sealed)).toThrow();
    expect(() => seal(ring(['a', k1]), 'other').open('place', sealed)).toThrow();
    expect(() => seal(ring(['a', k1])).open('place', `${sealed.slice(0, -2)}AA`)).toThrow();
    for (const text of ['', 'v1.a.b', 'v3.a.b.c.d', sealed.replace('v2.', 'v1.')])
      expect(() => seal(ring(['a', k1])).open('place', text)).toThrow();
  });

  it('are renewed once', () => {
    const rotated = seal(ring(['b', k2], ['a', k1]));
    for (const keyring of [root, ring(['a', k1])]) {
      const renewed = rotated.renew('place', seal(keyring).seal('place', 'text')) ?? '';
      expect(seal(ring(['b', k2])).open('place', renewed)).toBe('text');
      expect(rotated.renew('place', renewed)).toBeUndefined();
    }
  });
});
