import { createServer, type Server } from 'node:http';

/** A provider behind the `http` adapter that takes every message and names it. */
export class PushProvider {
  /** Its own ids of the messages it has taken, by the id of the send. */
  readonly messageIds = new Map<string, string>();
  private readonly server: Server;

  constructor(run: string) {
    this.server = createServer((request, response) => {
      const sendId = String(request.headers['webhook-id']);
      const id = this.messageIds.get(sendId) ?? `${run}-${this.messageIds.size}`;
      this.messageIds.set(sendId, id);
      request.resume().once('end', () => {
        response.writeHead(201, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ provider_message_id: id }));
      });
    });
  }

  /** Resolves with its address. */
  listen(): Promise<string> {
    return new Promise((resolve) => {
      this.server.listen(0, '127.0.0.1', () => {
        const address = this.server.address();
        resolve(`http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`);
      });
    });
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}
