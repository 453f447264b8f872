import {
  Agent,
  createServer as createHttpServer,
  type IncomingMessage,
  request as httpRequest,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, createServer, type Server, Socket } from 'node:net';

/** The way from one instance to its registry, which can be cut and whose answers about credentials can be held back. */
export interface Link {
  readonly port: number;
  /** Answers held back now. */
  readonly held: number;
  /** Ends every connection and every new one at once; `false` mends it. */
  cut(off: boolean): void;
  hold(): void;
  /** Delivers what was held back, and holds no more. */
  release(): void;
  close(): Promise<void>;
}

/** What all links share: a listener, its connections, and what waits. */
abstract class Listening implements Link {
  private readonly waiting: (() => void)[] = [];
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;
  private holding = false;
  private off = false;

  protected constructor(server: Server) {
    this.server = server;
    server.on('connection', (socket: Socket) => this.join(socket));
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get held(): number {
    return this.waiting.length;
  }

  cut(off: boolean): void {
    this.off = off;
    if (off) for (const socket of this.sockets) socket.destroy();
  }

  hold(): void {
    this.holding = true;
  }

  release(): void {
    this.holding = false;
    for (const deliver of this.waiting.splice(0)) deliver();
  }

  async close(): Promise<void> {
    this.cut(true);
    await new Promise((done) => this.server.close(done));
  }

  /** Delivers now, or when it is released. */
  protected deliver(answer: () => void): void {
    if (this.holding) this.waiting.push(answer);
    else answer();
  }

  protected listen(): Promise<this> {
    return new Promise((resolve) => this.server.listen(0, '127.0.0.1', () => resolve(this)));
  }

  private join(socket: Socket): void {
    if (this.off) {
      socket.destroy();
      return;
    }
    this.sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.sockets.delete(socket));
  }
}

const RESOLVE = '/internal/authz/resolve';

/** Before identity's internal listener: what is held back are answers to resolve; the change feed passes. */
export class RegistryLink extends Listening {
  private readonly agent = new Agent({ keepAlive: true });
  private readonly target: number;

  private constructor(target: number) {
    const server = createHttpServer();
    super(server);
    this.target = target;
    server.on('request', (request: IncomingMessage, response: ServerResponse) =>
      this.pass(request, response),
    );
  }

  static to(port: number): Promise<RegistryLink> {
    return new RegistryLink(port).listen();
  }

  override async close(): Promise<void> {
    await super.close();
    this.agent.destroy();
  }

  private pass(request: IncomingMessage, response: ServerResponse): void {
    const { method, url: path = '/', headers } = request;
    const target = { host: '127.0.0.1', port: this.target, method, path, headers, agent: this.agent };
    const forwarded = httpRequest(target, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.once('error', () => response.destroy());
      answer.once('end', () => {
        const send = (): void =>
          void response.writeHead(answer.statusCode ?? 502, answer.headers).end(Buffer.concat(chunks));
        if (path.startsWith(RESOLVE)) this.deliver(send);
        else send();
      });
    });
    forwarded.once('error', () => response.destroy());
    response.once('close', () => forwarded.destroy());
    request.pipe(forwarded);
  }
}

/** Before Postgres, for the instances of identity, which ask it themselves: every answer is held back. */
export class PostgresLink extends Listening {
  private constructor(target: number) {
    const server = createServer();
    super(server);
    server.on('connection', (near: Socket) => {
      const far = new Socket();
      far.on('error', () => near.destroy());
      far.once('close', () => near.destroy());
      near.once('close', () => far.destroy());
      far.connect(target, '127.0.0.1');
      near.pipe(far);
      far.on('data', (chunk: Buffer) => this.deliver(() => void near.write(chunk)));
    });
  }

  static to(port: number): Promise<PostgresLink> {
    return new PostgresLink(port).listen();
  }
}
