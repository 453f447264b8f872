import { createHash, createHmac } from 'node:crypto';
import type { CheckedAddress } from './address.js';
import type { Channel } from './channel.js';

/** The keys under which a suppression or an opt-out could stand against one address. */
export interface KeysOfAddress {
  /** Of the address itself, by the current pepper: what a new row is stored under. */
  readonly current: string;
  /** Of the address itself, by every live pepper: what a row of this very address may be stored under. */
  readonly own: readonly string[];
  /** Everything that blocks a hand-off: the address, the address without its tag, its domain; by every live pepper. */
  readonly blocking: readonly string[];
}

/**
 * Keyed hashes of addresses (messaging.md §1): HMAC-SHA-256 over organization, channel and canonical address. A key
 * begins with the first 8 hex digits of its pepper's own hash, so that it can be seen which peppers rows still use.
 */
export class AddressKeyring {
  private readonly peppers: { prefix: string; secret: string }[];

  /** @param peppers every live pepper; the first is the one new rows are stored under */
  constructor(peppers: readonly string[]) {
    if (peppers.length === 0) throw new TypeError('at least one pepper is needed');
    this.peppers = peppers.map((secret) => ({ prefix: pepperPrefix(secret), secret }));
  }

  /** Of one address. */
  of(organizationId: string, address: CheckedAddress): KeysOfAddress {
    const { channel, canonical, former } = address;
    const own = [
      ...this.hash(organizationId, channel, canonical),
      ...(former === undefined ? [] : this.hash(organizationId, channel, former)),
    ];
    const untagged = address.untagged ? this.hash(organizationId, address.channel, address.untagged) : [];
    const domain = address.domain ? this.hash(organizationId, address.channel, `@${address.domain}`) : [];
    return { current: first(own), own, blocking: [...own, ...untagged, ...domain] };
  }

  /** Of a whole mail domain, for suppressions of that scope. */
  ofDomain(organizationId: string, domain: string): KeysOfAddress {
    const own = this.hash(organizationId, 'email', `@${domain}`);
    return { current: first(own), own, blocking: own };
  }

  /** The prefixes of `used` (first 8 characters of stored keys) that no live pepper explains. */
  unknownPrefixes(used: readonly string[]): string[] {
    return used.filter((prefix) => !this.peppers.some((pepper) => pepper.prefix === prefix));
  }

  private hash(organizationId: string, channel: Channel, canonical: string): string[] {
    return this.peppers.map(({ prefix, secret }) => {
      const mac = createHmac('sha256', secret).update(`${organizationId}\n${channel}\n${canonical}`);
      return `${prefix}.${mac.digest('base64url')}`;
    });
  }
}

/** How many characters of a stored key say which pepper made it. */
export const PEPPER_PREFIX_LENGTH = 8;

/**
 * The advisory lock of a key, as the decimal text of a signed 64-bit integer. Two keys that share one would only make
 * each other wait.
 */
export function lockOf(key: string): string {
  return createHash('sha256').update(key).digest().readBigInt64BE(0).toString();
}

/** The locks of several keys, each once, in one order for everybody: whoever takes several can never deadlock. */
export function locksOf(keys: Iterable<string>): string[] {
  const locks = new Set<string>();
  for (const key of keys) locks.add(lockOf(key));
  return [...locks].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
}

function pepperPrefix(secret: string): string {
  return createHash('sha256')
    .update(`address pepper\n${secret}`)
    .digest('hex')
    .slice(0, PEPPER_PREFIX_LENGTH);
}

function first(keys: string[]): string {
  const [key] = keys;
  if (key === undefined) throw new TypeError('a keyring without a pepper');
  return key;
}
