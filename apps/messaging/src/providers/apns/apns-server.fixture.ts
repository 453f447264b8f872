import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';

/** A request as Apple would get it. */
interface ApnsRequest {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
  readonly stream: ServerHttp2Stream;
}

/** A real HTTP/2 server in the place of Apple's; without TLS, as this machine may be called in local mode. */
export class ApnsServer {
  readonly requests: ApnsRequest[] = [];
  connections = 0;
  answer: (request: ApnsRequest) => { status: number; reason?: string } | 'refuse' | 'cut' | 'hang' = () => ({
    status: 200,
  });
  private readonly sessions = new Set<ServerHttp2Session>();
  private readonly server: Http2Server = createServer();

  async start(): Promise<string> {
    this.server.on('session', (session) => {
      this.connections += 1;
      this.sessions.add(session);
      session.once('close', () => this.sessions.delete(session));
    });
    this.server.on('stream', (stream, headers) => {
      stream.on('error', () => undefined);
      let body = '';
      stream.on('data', (chunk: Buffer) => (body += chunk.toString()));
      stream.on('end', () => this.reply({ headers, body, stream }));
    });
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Says goodbye on all connections, as a server does that is being replaced. */
  goAway(): void {
    for (const session of this.sessions) session.close();
  }

  async stop(): Promise<void> {
    for (const session of this.sessions) session.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private reply(request: ApnsRequest): void {
    this.requests.push(request);
    const { stream } = request;
    const answer = this.answer(request);
    if (answer === 'hang') return;
    if (answer === 'refuse') return stream.close(7);
    if (answer === 'cut') return void stream.session?.destroy();
    stream.respond({ ':status': answer.status, 'apns-id': String(request.headers['apns-id']) });
    stream.end(answer.reason === undefined ? '' : JSON.stringify({ reason: answer.reason }));
  }
}
