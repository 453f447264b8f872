import { isIPv6 } from 'node:net';

/** An IPv4 address; of IPv6 the /64, any address of which its owner can take. */
export function networkOf(ip: string | undefined): string | null {
  if (ip === undefined) return null;
  return isIPv6(ip) ? prefixOf(ip, 4) : ip;
}

/** Of IPv6 the /48, which is what one site is given at most (RFC 6177): 65,536 networks. Null for IPv4. */
export function siteOf(ip: string | undefined): string | null {
  return ip !== undefined && isIPv6(ip) ? prefixOf(ip, 3) : null;
}

/** How much more of a site is let do than of one of its networks. */
export const NETWORKS_OF_A_SITE = 16;

/** The first groups of 16 bits. */
function prefixOf(ip: string, count: number): string {
  const [head = '', tail] = (ip.split('%')[0] ?? '').split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - left.length - right.length }, () => '0');
  const groups = [...left, ...zeros, ...right]
    .slice(0, count)
    .map((group) => Number.parseInt(group, 16).toString(16));
  return `${groups.join(':')}::/${String(count * 16)}`;
}
