import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { plainAddress, type AddressList } from '@customer-platform/config';

/** Connections from the gateway. Told once for each connection, for requests come in thousands on one. */
const fromGateway = new WeakSet<Socket>();

/** Notes of a new connection whether it is the gateway's, by the address it comes from. */
export function noteConnection(socket: Socket, gateway: AddressList): void {
  if (gateway.has(socket.remoteAddress ?? '')) fromGateway.add(socket);
}

/**
 * The caller's address: the last entry of `X-Forwarded-For` if the gateway calls, which writes it itself and passes on
 * nothing a client put there; else the peer's.
 */
export function clientAddress({ headers, socket }: IncomingMessage): string | undefined {
  const forwarded = fromGateway.has(socket) ? headers['x-forwarded-for'] : undefined;
  const last = typeof forwarded === 'string' ? forwarded.split(',').at(-1)?.trim() : undefined;
  return last || (socket.remoteAddress === undefined ? undefined : plainAddress(socket.remoteAddress));
}
