import { BlockList, isIP } from 'node:net';
import { resolveHost, type ResolveHost } from './host-resolver.js';

/** One address a name resolved to, checked; connect to this and not to the name, which may answer otherwise next time. */
export interface Destination {
  readonly host: string;
  readonly address: string;
  readonly family: 4 | 6;
}

/** A customer's host that leads somewhere the platform must not be sent to. */
export class DestinationNotAllowed extends Error {
  constructor(readonly host: string) {
    super('the host does not resolve to public addresses only');
    this.name = 'DestinationNotAllowed';
  }
}

type Range = readonly [network: string, prefix: number];

/** This very machine. */
export const LOOPBACK: readonly Range[] = [
  ['127.0.0.0', 8],
  ['::1', 128],
];
/**
 * Special-purpose registries of IANA (RFC 6890), with what tunnels an IPv4 address inside an IPv6 one. The network policies
 * of modules that reach the world leave out the same.
 */
export const NOT_PUBLIC: readonly Range[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  // Global by their registries, and what clouds keep to themselves: Azure's host, Google's APIs for private networks,
  // IBM's services.
  ['168.63.129.16', 32],
  ['199.36.153.4', 30],
  ['199.36.153.8', 30],
  ['161.26.0.0', 16],
  ['166.8.0.0', 14],
  // Beyond 2000::/3 nothing is global: mapped, translated, local, multicast and what nobody has been given.
  ['::', 3],
  ['4000::', 2],
  ['8000::', 1],
  // Within it: protocols and tunnels (Teredo, ORCHID), documentation, 6to4.
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const loopback = listOf(LOOPBACK);
/** One list a family: a list that holds `::ffff:0:0/96` takes every IPv4 address for a member of it. */
const blocked = {
  ipv4: listOf(NOT_PUBLIC.filter(([network]) => isIP(network) === 4)),
  ipv6: listOf(NOT_PUBLIC.filter(([network]) => isIP(network) === 6)),
};

/** Whether a connection to this literal address may be made for a customer; `allowLoopback` in local mode. */
export function isAllowedAddress(address: string, allowLoopback: boolean): boolean {
  const family = isIP(address);
  if (family === 0) return false;
  const type = family === 4 ? 'ipv4' : 'ipv6';
  if (loopback.check(address, type)) return allowLoopback;
  return !blocked[type].check(address, type);
}

/**
 * Resolves a customer's host. Every address it has must be allowed, not only the one that is taken: a name that mixes
 * public and private answers is an attack.
 * @throws DestinationNotAllowed; and what the resolver throws when the name has no address
 */
export async function resolveDestination(
  host: string,
  allowLoopback: boolean,
  resolve: ResolveHost = resolveHost,
): Promise<Destination> {
  const bare = canonicalHost(host);
  const found = isIP(bare) ? [{ address: bare, family: isIP(bare) }] : await resolve(bare);
  if (!found.every(({ address }) => isAllowedAddress(address, allowLoopback)))
    throw new DestinationNotAllowed(host);
  const [chosen] = found;
  if (!chosen) throw new DestinationNotAllowed(host);
  return { host: bare, address: chosen.address, family: chosen.family === 6 ? 6 : 4 };
}

/** An address in whichever notation (octal, hexadecimal, one number) as the address it is; brackets taken off. */
function canonicalHost(host: string): string {
  const text = isIP(host) === 6 ? `[${host}]` : host;
  if (!URL.canParse(`http://${text}`)) throw new DestinationNotAllowed(host);
  return new URL(`http://${text}`).hostname.replace(/^\[|\]$/g, '');
}

/** Whether a host of a URL is this very machine, by name or by literal address. */
export function isLoopbackHost(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '');
  if (isIP(bare) === 0) return /^(?:.*\.)?localhost\.?$/i.test(bare);
  return loopback.check(bare, isIP(bare) === 4 ? 'ipv4' : 'ipv6');
}

function listOf(ranges: readonly Range[]): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of ranges)
    list.addSubnet(network, prefix, isIP(network) === 4 ? 'ipv4' : 'ipv6');
  return list;
}
