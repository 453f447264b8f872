import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A delivery as it arrived. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A customer's server: it notes what arrives and answers as it is told to. */
export class WebhookReceiver {
  readonly received: Received[] = [];
  /** The answer to a request, by default 204; an answer that never comes is one that does not end. */
  answer: (response: ServerResponse, received: Received) => void = (response) =>
    response.writeHead(204).end();
  /** The most requests that were open at once. */
  mostOpen = 0;
  private open = 0;
  private server: Server | undefined;

  async start(): Promise<void> {
    this.server = createServer((request, response) => {
      this.open += 1;
      this.mostOpen = Math.max(this.mostOpen, this.open);
      response.once('close', () => (this.open -= 1));
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const received = {
          path: request.url ?? '',
          headers: request.headers,
          body: Buffer.concat(chunks).toString(),
        };
        this.received.push(received);
        this.answer(response, received);
      });
    });
    await new Promise<void>((resolve) => this.server?.listen(0, '127.0.0.1', resolve));
  }

  async stop(): Promise<void> {
    const { server } = this;
    server?.closeAllConnections();
    await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
  }

  url(path = '/hooks'): string {
    const { port } = this.server?.address() as AddressInfo;
    return `http://127.0.0.1:${port}${path}`;
  }

  /** What came to a path, in order. */
  at(path: string): Received[] {
    return this.received.filter((one) => one.path === path);
  }
}
