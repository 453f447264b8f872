import { BlockList, isIP } from 'node:net';
import { z } from 'zod';

/** IP addresses and networks (CIDR), asked whether an address is among them. */
export class AddressList {
  private readonly list = new BlockList();

  /** @throws Error naming the first entry that is neither an address nor a network */
  constructor(entries: readonly string[]) {
    for (const entry of entries) {
      const [address = '', bits, ...more] = entry.split('/');
      const family = isIP(address);
      const most = family === 4 ? 32 : 128;
      const length = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Infinity;
      if (family === 0 || more.length > 0 || length > most) throw new Error(`${entry} is no address`);
      this.list.addSubnet(address, length, family === 4 ? 'ipv4' : 'ipv6');
    }
  }

  /** An IPv4 address that a socket for both families shows as `::ffff:a.b.c.d` is taken as what it is. */
  has(address: string): boolean {
    const plain = plainAddress(address);
    const family = isIP(plain);
    return family !== 0 && this.list.check(plain, family === 4 ? 'ipv4' : 'ipv6');
  }
}

/** The address without the prefix by which a socket for both families shows IPv4 (RFC 4291 §2.5.5.2). */
export function plainAddress(address: string): string {
  return /^::ffff:\d/i.test(address) ? address.slice(7) : address;
}

/**
 * The network of an address: its /64 of IPv6, which is what one subscriber is given at least, and so many bits of IPv4, 24
 * or all. What is no address is a network by itself.
 */
export function networkOf(address: string, bitsOfIpv4: 24 | 32): string {
  const plain = plainAddress(address);
  if (!plain.includes(':')) return bitsOfIpv4 === 32 ? plain : plain.slice(0, plain.lastIndexOf('.') + 1);
  const [head = '', tail] = plain.toLowerCase().split('%', 1).join('').split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - first.length - last.length);
  const groups = [...first, ...Array<string>(zeros).fill('0'), ...last];
  return groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':');
}

/** IP addresses and networks in CIDR notation, separated by commas. */
export function addressList() {
  return z.string().transform((text, context): AddressList => {
    try {
      const entries = text.split(',').map((entry) => entry.trim());
      return new AddressList(entries.filter((entry) => entry !== ''));
    } catch {
      context.addIssue({ code: 'custom', message: 'must be addresses or networks such as 10.0.0.0/8' });
      return z.NEVER;
    }
  });
}
