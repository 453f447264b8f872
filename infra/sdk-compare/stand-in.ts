import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

/** An event in the spelling of any of the senders. */
interface AnyEvent {
  event?: string;
}

/** Takes what any of the senders sends, remembers the events by name, and is out of order when told to. */
export class StandIn {
  /** Names of the events that were taken, each once. */
  readonly taken = new Set<string>();
  isOut = false;
  /** What a page gets besides itself, by path. */
  readonly scripts = new Map<string, string>();
  /** Which of them were asked for. */
  readonly loaded = new Set<string>();
  private readonly server: Server;

  private constructor(server: Server) {
    this.server = server;
  }

  static async start(): Promise<StandIn> {
    const server = createServer();
    const standIn = new StandIn(server);
    server.on('request', (request, response) => void standIn.serve(request, response));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return standIn;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Where the pages are: another origin than where events go. */
  get site(): string {
    return this.url.replace('127.0.0.1', 'localhost');
  }

  lost(names: readonly string[]): number {
    return names.filter((name) => !this.taken.has(name)).length;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url = '/', headers } = request;
    if (method === 'GET') {
      const script = this.scripts.get(url);
      if (script !== undefined) this.loaded.add(url);
      response.setHeader('content-type', script === undefined ? 'text/html' : 'text/javascript');
      response.end(script ?? '<!doctype html><title>A shop</title>');
      return;
    }
    response.setHeader('access-control-allow-origin', headers.origin ?? '*');
    response.setHeader('access-control-allow-credentials', 'true');
    if (method === 'OPTIONS') {
      const asked = headers['access-control-request-headers'] ?? '';
      response.writeHead(204, { 'access-control-allow-headers': asked, 'access-control-max-age': '3600' });
      response.end();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    this.answer((headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString(), response);
  }

  private answer(text: string, response: ServerResponse): void {
    if (this.isOut) {
      response.writeHead(503).end();
      return;
    }
    const body = JSON.parse(text) as AnyEvent & { events?: AnyEvent[]; batch?: AnyEvent[] };
    const events = body.events ?? body.batch ?? [body];
    for (const { event } of events) if (event !== undefined) this.taken.add(event);
    const results = events.map((_, index) => ({ index, event_id: String(index) }));
    response.writeHead(body.events ? 202 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body.events ? { results } : { success: true }));
  }
}
