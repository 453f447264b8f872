import { getPublicKeyAsync, verifyAsync } from '@noble/ed25519';
import { newEd25519Pair } from './ed25519-keys.js';
import { signStandard } from './standard-webhooks.js';

const BODY = '{"type":"ping","timestamp":"2026-11-26T12:00:00.000Z","data":{"name":"Ñandú 🎉"}}';

/** The bytes behind a prefix. */
const bytesOf = (text: string, prefix: string): Uint8Array => {
  expect(text.startsWith(prefix)).toBe(true);
  return new Uint8Array(Buffer.from(text.slice(prefix.length), 'base64'));
};

describe('a pair of keys', () => {
  it('is the 32 private bytes with the public ones, as others understand them', async () => {
    const { secret, publicKey } = newEd25519Pair();
    const [both, shown] = [bytesOf(secret, 'whsk_'), bytesOf(publicKey, 'whpk_')];
    expect([both.length, shown.length]).toEqual([64, 32]);
    expect(await getPublicKeyAsync(both.subarray(0, 32))).toEqual(shown);
    expect(both.subarray(32)).toEqual(shown);
    expect(newEd25519Pair().secret).not.toBe(secret);
  });

  it('signs id, instant and body, so that another implementation agrees, and none of another body', async () => {
    const { secret, publicKey } = newEd25519Pair();
    const headers = signStandard([secret], { id: 'msg_1', at: new Date(1_764_158_400_999), body: BODY });
    expect(headers).toMatchObject({ 'webhook-id': 'msg_1', 'webhook-timestamp': '1764158400' });
    const signature = bytesOf(headers['webhook-signature'], 'v1a,');
    const key = bytesOf(publicKey, 'whpk_');
    const signed = (text: string): Uint8Array => new TextEncoder().encode(text);
    expect(await verifyAsync(signature, signed(`msg_1.1764158400.${BODY}`), key)).toBe(true);
    expect(await verifyAsync(signature, signed(`msg_1.1764158400.${BODY} `), key)).toBe(false);
    expect(await verifyAsync(signature, signed(`msg_1.1764158401.${BODY}`), key)).toBe(false);
  });

  it('stands beside secrets of the other kind', () => {
    const secrets = [newEd25519Pair().secret, `whsec_${Buffer.alloc(32).toString('base64')}`];
    const { 'webhook-signature': both } = signStandard(secrets, { id: 'a', at: new Date(), body: 'b' });
    expect(both.split(' ').map((one) => one.split(',')[0])).toEqual(['v1a', 'v1']);
  });
});
