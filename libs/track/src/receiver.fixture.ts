import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a receiver answers to one batch in place of a 202: a status with a body and headers, or nothing at all. */
interface Fault {
  /** `cut`: the connection ends; `hang`: it stays, without an answer; `taken`: what came is accepted, the answer is not sent. */
  readonly status: number | 'cut' | 'hang' | 'taken';
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** An item of a batch as it came. */
interface Received {
  readonly type: string;
  readonly event?: string;
  readonly external_id: string;
  readonly idempotency_key: string;
  readonly occurred_at: string;
  readonly properties?: Record<string, unknown>;
}

/**
 * What stands in for the platform where it has to be out of order: takes batches as contract.md §6 says and answers them
 * as a test tells it to.
 */
export class Receiver {
  /** Bodies of all batches, in the order in which they came. */
  readonly batches: Received[][] = [];
  readonly keys: (string | undefined)[] = [];
  /** Asked before each batch; undefined takes it. */
  fault: (batch: readonly Received[], bytes: number) => Fault | undefined = () => undefined;
  /** Pages and scripts, served from the same origin as the page: `/page` → `[type, text]`. */
  readonly pages = new Map<string, readonly [string, string]>();
  preflights = 0;
  private readonly accepted: Received[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<Receiver> {
    const server = createServer();
    const receiver = new Receiver(server);
    server.on('request', (request, response) => void receiver.serve(request, response));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Where a shop's pages are: another origin, and one in which browsers have Web Locks. */
  get site(): string {
    return this.url.replace('127.0.0.1', 'localhost');
  }

  /** Events that were accepted, each once, as the platform would have them. */
  get events(): Received[] {
    return [...new Map(this.accepted.map((event) => [event.idempotency_key, event])).values()];
  }

  /** Names of the accepted events, sorted. */
  get names(): (string | undefined)[] {
    return this.events.map(({ event }) => event).sort();
  }

  /** Events that came more than once. */
  get repeats(): number {
    return this.accepted.length - this.events.length;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const page = this.pages.get(request.url ?? '');
    if (page) {
      response.writeHead(200, { 'content-type': page[0] }).end(page[1]);
      return;
    }
    response.setHeader('access-control-allow-origin', '*');
    if (request.method === 'OPTIONS') {
      this.preflights += 1;
      const allowed = { 'access-control-allow-headers': 'authorization, content-type' };
      response.writeHead(204, { ...allowed, 'access-control-max-age': '3600' }).end();
      return;
    }
    if (request.url !== '/v1/core/batch') {
      response.writeHead(404).end();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    this.take(Buffer.concat(chunks), request, response);
  }

  private take(bytes: Buffer, request: IncomingMessage, response: ServerResponse): void {
    const events = eventsIn(bytes.toString());
    this.batches.push(events);
    this.keys.push(request.headers.authorization);
    const fault = this.fault(events, bytes.length);
    if (fault === undefined || fault.status === 'taken') this.accepted.push(...events);
    if (fault?.status === 'hang') return;
    if (fault?.status === 'cut' || fault?.status === 'taken') {
      request.socket.destroy();
      return;
    }
    const results = events.map((_, index) => ({ index, event_id: `e-${index}` }));
    response.setHeader('access-control-expose-headers', 'Retry-After');
    response.writeHead(fault?.status ?? 202, { 'content-type': 'application/json', ...fault?.headers });
    const { body = { accepted: events.length, rejected: 0, results } } = fault ?? {};
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }
}

/** None where it is no JSON: a test's fault answers for that. */
function eventsIn(text: string): Received[] {
  try {
    return (JSON.parse(text) as { events: Received[] }).events;
  } catch {
    return [];
  }
}
