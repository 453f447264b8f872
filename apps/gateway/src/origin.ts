import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { type AddressList, plainAddress } from '@customer-platform/config';

/** From where a request came. */
export interface Origin {
  /** The caller's address. */
  address: string;
  /** How the caller spoke to the first of us: this listener, or a trusted proxy before it. */
  protocol: 'http' | 'https';
}

/**
 * Who called, and how. `X-Forwarded-*` are believed only where the peer is a trusted proxy. Of several addresses the
 * last that is no trusted proxy's counts: those before it came with the request and can be made up.
 */
export function originOf(request: IncomingMessage, encrypted: boolean, proxies: AddressList): Origin {
  const peer = plainAddress(request.socket.remoteAddress ?? '');
  const protocol = encrypted ? 'https' : 'http';
  if (!proxies.has(peer)) return { address: peer, protocol };
  const { 'x-forwarded-for': addresses, 'x-forwarded-proto': protocols } = request.headers;
  const said = entriesOf(protocols).at(-1)?.toLowerCase();
  return {
    address: callerAmong(entriesOf(addresses), proxies) ?? peer,
    protocol: said === 'https' || said === 'http' ? said : protocol,
  };
}

function callerAmong(addresses: string[], proxies: AddressList): string | undefined {
  let nearest: string | undefined;
  for (const address of addresses.reverse()) {
    // A proxy writes addresses; what is none was sent by somebody before it.
    if (isIP(address) === 0) return nearest;
    nearest = plainAddress(address);
    if (!proxies.has(nearest)) return nearest;
  }
  return nearest;
}

function entriesOf(header: string | string[] | undefined): string[] {
  const text = Array.isArray(header) ? header.join(',') : (header ?? '');
  return text === '' ? [] : text.split(',').map((entry) => entry.trim());
}
