import { encrypt } from './encryption.js';
import { readSubscription } from './subscription.js';
import { fitTogether } from './vapid.js';

/** RFC 8291, appendix A. */
const RFC = {
  plaintext: 'When I grow up, I want to be a watermelon',
  publicKey: 'BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8',
  privateKey: 'yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw',
  keys: {
    p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
    auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  },
  salt: 'DGv6ra1nlYgDCS1FRnbzlw',
  message:
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
};

describe('the published vector of RFC 8291', () => {
  it('comes out byte for byte', () => {
    const made = encrypt(Buffer.from(RFC.plaintext), RFC.keys, {
      privateKey: Buffer.from(RFC.privateKey, 'base64url'),
      salt: Buffer.from(RFC.salt, 'base64url'),
    });
    expect(made.toString('base64url')).toBe(RFC.message);
  });

  it('is never the same twice', () => {
    const [one, two] = [1, 2].map(() => encrypt(Buffer.from('x'), RFC.keys).toString('hex'));
    expect(one).not.toBe(two);
  });

  it('knows a key by its point', () => {
    expect(fitTogether(RFC)).toBe(true);
    expect(fitTogether({ ...RFC, privateKey: RFC.keys.auth })).toBe(false);
    expect(fitTogether({ ...RFC, privateKey: '' })).toBe(false);
  });
});

describe('a subscription', () => {
  const token = (change: object = {}): string =>
    JSON.stringify({ endpoint: 'https://push.example/a', expirationTime: null, keys: RFC.keys, ...change });

  it('is read as browsers write it', () => {
    expect(readSubscription(token())).toMatchObject({ keys: RFC.keys });
    expect(readSubscription(token({ endpoint: 'http://127.0.0.1:9/a' }))).toBeDefined();
  });

  it.each([
    'an-fcm-token',
    '[]',
    'null',
    token({ endpoint: 'http://push.example/a' }),
    token({ endpoint: 'ftp://push.example/a' }),
    token({ endpoint: 'https://user:word@push.example/a' }),
    token({ endpoint: 7 }),
    token({ keys: undefined }),
    token({ keys: { ...RFC.keys, auth: 'AAAA' } }),
    token({ keys: { ...RFC.keys, p256dh: RFC.keys.auth } }),
    token({ keys: { ...RFC.keys, auth: '!'.repeat(22) } }),
  ])('is not %s', (text) => {
    expect(readSubscription(text)).toBeUndefined();
  });
});
