import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { requiredVariable } from './required-variable.js';

/** A connection by way of a link: from a client, and on to the server. */
interface Joined {
  readonly near: Socket;
  readonly far: Socket;
}

/** A TCP link to PostgreSQL, or to another server, that a test can cut, silence, and whose answers it can hold back. */
export class TcpLink {
  private readonly joined = new Set<Joined>();
  private server: Server | undefined;
  private port = 0;
  private holding = false;

  /** @param target the URL of the server; without it the PostgreSQL of the tests */
  constructor(private readonly target?: string) {}

  /** Listens, after a cut at the same port as before. */
  async open(): Promise<void> {
    const target = new URL(this.target ?? requiredVariable('TEST_POSTGRES_URL'));
    const server = createServer((near) => this.join(near, connect(Number(target.port), target.hostname)));
    this.server = server;
    server.listen(this.port, '127.0.0.1');
    await once(server, 'listening');
    this.port = (server.address() as AddressInfo).port;
  }

  /** Host and port to connect to. */
  get address(): string {
    return `127.0.0.1:${String(this.port)}`;
  }

  /** The same URL, by way of here. */
  through(url: string): string {
    const through = new URL(url);
    through.host = this.address;
    return through.toString();
  }

  /** Leaves what is connected without an answer, as a server that is gone from its address does. */
  silence(): void {
    for (const { near, far } of this.joined) for (const socket of [near, far]) socket.unpipe().pause();
  }

  /** Holds answers back from now on. */
  hold(): void {
    this.holding = true;
    for (const { far } of this.joined) far.unpipe().pause();
  }

  /** Delivers what was held back. */
  release(): void {
    this.holding = false;
    for (const { near, far } of this.joined) far.pipe(near);
  }

  /** Resets what is connected, and refuses what comes. */
  async cut(): Promise<void> {
    const closed = new Promise((resolve) => this.server?.close(resolve));
    for (const { near, far } of this.joined) for (const socket of [near, far]) socket.resetAndDestroy();
    this.joined.clear();
    await closed;
  }

  private join(near: Socket, far: Socket): void {
    const joined = { near, far };
    this.joined.add(joined);
    for (const socket of [near, far]) {
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        this.joined.delete(joined);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far);
    if (!this.holding) far.pipe(near);
  }
}
