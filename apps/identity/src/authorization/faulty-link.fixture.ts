import { createServer, Socket, type AddressInfo, type Server } from 'node:net';

/** A TCP link to a service that a test can cut, and whose answers it can hold back. */
export class FaultyLink {
  private readonly sockets = new Set<Socket>();
  private readonly held: (() => void)[] = [];
  private holding = false;
  private cutOff = false;

  private constructor(
    private readonly server: Server,
    private readonly target: URL,
  ) {
    server.on('connection', (near: Socket) => this.join(near));
  }

  static async to(target: string): Promise<FaultyLink> {
    const server = createServer();
    const link = new FaultyLink(server, new URL(target));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return link;
  }

  get url(): string {
    return `http://127.0.0.1:${String((this.server.address() as AddressInfo).port)}`;
  }

  /** Cuts every connection and refuses new ones; `false` mends it. */
  cut(off: boolean): void {
    this.cutOff = off;
    if (off) for (const socket of this.sockets) socket.destroy();
  }

  /** Holds answers back from now on. */
  hold(): void {
    this.holding = true;
  }

  /** Delivers what was held back. */
  release(): void {
    this.holding = false;
    for (const deliver of this.held.splice(0)) deliver();
  }

  async close(): Promise<void> {
    this.cut(true);
    await new Promise((resolve) => this.server.close(resolve));
  }

  private join(near: Socket): void {
    if (this.cutOff) {
      near.destroy();
      return;
    }
    const far = new Socket();
    for (const socket of [near, far]) {
      this.sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        this.sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    far.connect(Number(this.target.port), this.target.hostname);
    near.pipe(far);
    far.on('data', (chunk: Buffer) => {
      if (this.holding) this.held.push(() => near.write(chunk));
      else near.write(chunk);
    });
  }
}
