import { generateKeyPairSync } from 'node:crypto';
import { readMemberJwk } from './member-jwk.js';

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ed = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
const rsa = (bits: number) =>
  generateKeyPairSync('rsa', { modulusLength: bits }).publicKey.export({ format: 'jwk' });
const p256 = ec.publicKey.export({ format: 'jwk' });

describe('readMemberJwk', () => {
  it.each([
    ['ES256', p256],
    ['EdDSA', ed],
    ['RS256', rsa(2_048)],
  ])('takes a public key for %s, and keeps what verifies only', (alg, jwk) => {
    const read = readMemberJwk({ ...jwk, kid: 'one', alg, use: 'sig', note: 'mine' });
    expect(read).toEqual({ ...jwk, kid: 'one', alg });
  });

  it.each<[string, unknown]>([
    ['no object', 'key'],
    ['null', null],
    ['no kid', p256],
    ['an empty kid', { ...p256, kid: '' }],
    ['a kid too long', { ...p256, kid: 'x'.repeat(201) }],
    ['a private part', { ...ec.privateKey.export({ format: 'jwk' }), kid: 'a' }],
    ['a shared secret', { kty: 'oct', k: 'AAAA', kid: 'a' }],
    [
      'another curve',
      { ...generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({ format: 'jwk' }), kid: 'a' },
    ],
    ['too few bits', { ...rsa(1_024), kid: 'a' }],
    ['another algorithm', { ...p256, kid: 'a', alg: 'RS256' }],
    ['a point that is on no curve', { ...p256, x: 'AA', kid: 'a' }],
  ])('refuses %s, with a sentence', (_, given) => {
    expect(readMemberJwk(given)).toMatch(/^[A-Z].*\.$/);
  });
});
