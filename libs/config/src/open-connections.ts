import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const known = new WeakMap<Server, Set<Socket>>();

/** Keeps count of all connections of a server from here on, so that `destroyConnections` finds them. */
export function watchConnections<S extends Server>(server: S): S {
  const open = new Set<Socket>();
  known.set(server, open);
  return server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
}

/**
 * Ends all connections of a server that is watched. Node's own `closeAllConnections` has neither those whose TLS handshake is
 * not over nor those that it has handed over, and a server has not ended while one of them is open.
 */
export function destroyConnections(server: Server): void {
  for (const socket of known.get(server) ?? []) socket.destroy();
}
