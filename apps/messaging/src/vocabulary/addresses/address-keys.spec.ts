import { checkAddress, type CheckedAddress } from './address.js';
import { AddressKeyring, locksOf, PEPPER_PREFIX_LENGTH } from './address-keys.js';

const ACME = '0197f6a0-0000-7000-8000-000000000001';
const OTHER = '0197f6a0-0000-7000-8000-000000000002';

function email(text: string): CheckedAddress {
  const checked = checkAddress('email', text);
  if (!checked) throw new Error(`${text} is no address`);
  return checked;
}

describe('AddressKeyring', () => {
  const keyring = new AddressKeyring(['pepper-one']);

  it('gives every spelling of an address the same key', () => {
    const key = keyring.of(ACME, email('ana@bücher.example')).current;
    expect(keyring.of(ACME, email('ANA@XN--BCHER-KVA.example')).current).toBe(key);
    expect(keyring.of(ACME, email('Ana@BU\u0308CHER.example')).current).toBe(key);
  });

  it('blocks a tagged address by the untagged key, not the reverse', () => {
    const plain = keyring.of(ACME, email('ana@example.com'));
    const tagged = keyring.of(ACME, email('ana+news@example.com'));
    expect(tagged.blocking).toContain(plain.current);
    expect(plain.blocking).not.toContain(tagged.current);
  });

  it('knows a browser by its endpoint, and still by the whole subscription', () => {
    const token = (auth: string): string =>
      JSON.stringify({ endpoint: 'https://push.example/1', keys: { auth } });
    const keysOf = (text: string) => {
      const checked = checkAddress('push', text);
      if (!checked) throw new Error(`${text} is no token`);
      return keyring.of(ACME, checked);
    };
    const one = keysOf(token('a'));
    expect(keysOf(token('b')).current).toBe(one.current);
    // Of the release before, which hashed the token as it is.
    const text = token('a');
    const former = keyring.of(ACME, { channel: 'push', delivery: text, canonical: text }).current;
    expect(one.own).toContain(former);
    expect(one.blocking).toContain(former);
    expect(keysOf(token('b')).blocking).not.toContain(former);
  });

  it('blocks by the domain', () => {
    const domain = keyring.ofDomain(ACME, 'example.com').current;
    expect(keyring.of(ACME, email('ana@EXAMPLE.com')).blocking).toContain(domain);
    expect(keyring.of(ACME, email('ana@sub.example.com')).blocking).not.toContain(domain);
  });

  it('keeps organizations and channels apart', () => {
    const sms = checkAddress('sms', '+56961234567');
    const whatsapp = checkAddress('whatsapp', '+56961234567');
    if (!sms || !whatsapp) throw new Error('a good number was refused');
    expect(keyring.of(ACME, sms).current).not.toBe(keyring.of(ACME, whatsapp).current);
    expect(keyring.of(ACME, sms).current).not.toBe(keyring.of(OTHER, sms).current);
  });

  it('finds rows of an old pepper while it is live, and names those of a lost one', () => {
    const old = keyring.of(ACME, email('ana@example.com')).current;
    const rotated = new AddressKeyring(['pepper-two', 'pepper-one']);
    expect(rotated.of(ACME, email('ana@example.com')).own).toContain(old);
    expect(rotated.of(ACME, email('ana@example.com')).current).not.toBe(old);
    const prefix = old.slice(0, PEPPER_PREFIX_LENGTH);
    expect(rotated.unknownPrefixes([prefix])).toEqual([]);
    expect(new AddressKeyring(['pepper-two']).unknownPrefixes([prefix])).toEqual([prefix]);
  });
});

describe('locksOf', () => {
  it('gives each lock once, in one order, within 64 signed bits', () => {
    const locks = locksOf(['a', 'b', 'c', 'a']);
    expect(locks).toHaveLength(3);
    expect(locksOf(['c', 'b', 'a'])).toEqual(locks);
    for (const lock of locks) expect(BigInt.asIntN(64, BigInt(lock))).toBe(BigInt(lock));
  });
});
