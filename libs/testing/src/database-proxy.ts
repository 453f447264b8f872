import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { requiredVariable } from './required-variable.js';

/** Stands before PostgreSQL, and can be away as a killed server is. */
export class DatabaseProxy {
  private readonly sockets = new Set<Socket>();
  private server: Server | undefined;
  private port = 0;

  /** Listens, after a cut at the same port as before. */
  async open(): Promise<void> {
    const target = new URL(requiredVariable('TEST_POSTGRES_URL'));
    const server = createServer((near) => {
      const far = connect(Number(target.port), target.hostname);
      for (const socket of [near, far]) {
        this.sockets.add(socket);
        socket.on('error', () => socket.destroy());
        socket.on('close', () => [near, far].forEach((end) => end.destroy()));
      }
      near.pipe(far).pipe(near);
    });
    this.server = server;
    server.listen(this.port, '127.0.0.1');
    await once(server, 'listening');
    this.port = (server.address() as AddressInfo).port;
  }

  /** The same database, by way of here. */
  through(url: string): string {
    const through = new URL(url);
    through.host = `127.0.0.1:${String(this.port)}`;
    return through.toString();
  }

  /** Leaves what is connected without an answer, as a server that is gone from its address does. */
  silence(): void {
    for (const socket of this.sockets) socket.unpipe().pause();
  }

  /** Resets what is connected, and refuses what comes. */
  async cut(): Promise<void> {
    const closed = new Promise((resolve) => this.server?.close(resolve));
    for (const socket of this.sockets) socket.resetAndDestroy();
    this.sockets.clear();
    await closed;
  }
}
