import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as a provider got it. */
export interface ProviderRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly at: number;
}

/** What a provider answers; null hangs up without an answer, after it has read everything. */
export type ProviderAnswer = {
  readonly status: number;
  readonly body?: unknown;
  /** In place of a body in JSON. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
} | null;

/** A real HTTP server in the place of a provider. */
export class Provider {
  readonly requests: ProviderRequest[] = [];
  answer: (request: ProviderRequest) => ProviderAnswer | Promise<ProviderAnswer> = () => ({
    status: 201,
    body: { provider_message_id: `p-${this.requests.length}`, sid: `SM${this.requests.length}` },
  });
  private server: Server | undefined;
  private port = 0;

  async start(): Promise<string> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const got = {
          path: request.url ?? '',
          headers: request.headers,
          body: Buffer.concat(chunks),
          at: performance.now(),
        };
        this.requests.push(got);
        void Promise.resolve(this.answer(got)).then((answer) => {
          if (answer === null) return void request.socket.destroy();
          response.writeHead(answer.status, answer.headers ?? {});
          response.end(answer.text ?? JSON.stringify(answer.body ?? {}));
        });
      });
    });
    this.server = server;
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.port = (server.address() as AddressInfo).port;
    return this.url;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async stop(): Promise<void> {
    const { server } = this;
    server?.closeAllConnections();
    await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
  }
}
