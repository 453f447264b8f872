import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Receipts } from './receipts.ts';

interface WebhookBody {
  timestamp: string;
  data: { contact: { external_id: string } };
}

/** The servers of customers, one for each endpoint's path; they answer 204, or hold their answer back. */
export class Receivers {
  readonly receipts = new Receipts();
  /** The endpoint that hangs, as long as one does. */
  private hanging: number | undefined;
  private readonly held: ServerResponse[] = [];
  private readonly server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    const at = Date.now();
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const endpoint = Number(request.url?.slice(1));
      const { timestamp, data } = JSON.parse(Buffer.concat(chunks).toString()) as WebhookBody;
      this.receipts.note({
        endpoint,
        person: data.contact.external_id,
        webhookId: String(request.headers['webhook-id']),
        milliseconds: at - Date.parse(timestamp),
      });
      if (endpoint === this.hanging) this.held.push(response);
      else response.writeHead(204).end();
    });
  });

  /** How many tries the hanging endpoint has left without an answer so far. */
  get unanswered(): number {
    return this.held.length;
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  url(endpoint: number): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/${endpoint}`;
  }

  /** From now on it takes what comes and says nothing. */
  hang(endpoint: number): void {
    this.hanging = endpoint;
  }

  /** It answers again, also what it has been holding; tries that were given up meanwhile hear nothing of it. */
  release(): void {
    this.hanging = undefined;
    for (const response of this.held) response.writeHead(204).end();
  }
}
