import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** Headers of one connection, or written anew by who sends them on. */
const OF_THE_HOP = [
  'host',
  'connection',
  'proxy-connection',
  'content-length',
  'upgrade',
  'http2-settings',
  'accept-encoding',
  'transfer-encoding',
  'keep-alive',
  'content-encoding',
];

interface Asked {
  readonly url: URL;
  readonly init: { readonly method: string; readonly headers: Headers; readonly body: Buffer | null };
}

/** The fate of a request for a page. */
type Decision = (asked: Asked) => Promise<Response>;

/** The page stays as it is, as when no answer comes; so no program tries again by itself. */
const unanswered = (): Response => new Response(null, { status: 204 });

/** Stands between a browser and what it asks for; a page that nobody awaits is held back, as where one leads on by itself. */
export class NavigationProxy {
  private readonly awaited: Decision[] = [];
  private readonly statuses = new Map<string, number>();
  private readonly server: Server;
  private redirected: string | undefined;
  private stopped = Promise.withResolvers<void>();

  /** `fetches` has the one asked who is meant. */
  constructor(private readonly fetches: (url: URL, init: Asked['init']) => Promise<Response>) {
    this.server = createServer((request, response) => {
      // Shown as a page, it is told with the walk that met it.
      this.answer(request, response).catch((error: unknown) => response.writeHead(502).end(String(error)));
    });
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  /** The status with which the page was answered last. */
  statusOf(url: URL): number {
    return this.statuses.get(url.href) ?? 0;
  }

  /** Lets the next request for a page through. */
  pass(): void {
    this.awaited.push((asked) => this.passed(asked));
  }

  /** Has it done twice; the first answer goes to nobody. */
  twice(): void {
    this.awaited.push(async (asked) => (await Promise.all([this.passed(asked), this.fetched(asked)]))[0]);
  }

  /** Has it done, and loses the answer; resolves then. */
  lose(): Promise<void> {
    const lost = Promise.withResolvers<void>();
    this.awaited.push(async (asked) => {
      await this.fetched(asked);
      lost.resolve();
      return unanswered();
    });
    return lost.promise;
  }

  /** Resolves once a page has wanted to lead on by itself. */
  async held(): Promise<void> {
    await this.stopped.promise;
    this.stopped = Promise.withResolvers();
  }

  /** Forgets what was awaited. */
  forget(): void {
    this.awaited.length = 0;
    this.redirected = undefined;
    this.stopped = Promise.withResolvers();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers))
      if (value !== undefined && !OF_THE_HOP.includes(name)) headers.set(name, String(value));
    const body = await buffer(request);
    const init = { method: request.method ?? 'GET', headers, body: body.length > 0 ? body : null };
    const answered = await this.decided({ url: new URL(request.url ?? ''), init });
    for (const [name, value] of answered.headers)
      if (!OF_THE_HOP.includes(name)) response.appendHeader(name, value);
    response.writeHead(answered.status).end(Buffer.from(await answered.arrayBuffer()));
  }

  private decided(asked: Asked): Promise<Response> {
    const isPage = asked.init.headers.get('accept')?.startsWith('text/html') ?? false;
    if (!isPage) return this.fetched(asked);
    if (asked.url.href === this.redirected) return this.passed(asked);
    const decision = this.awaited.shift();
    if (decision) return decision(asked);
    this.stopped.resolve();
    return Promise.resolve(unanswered());
  }

  private async passed(asked: Asked): Promise<Response> {
    const answer = await this.fetched(asked);
    const to = answer.headers.get('location');
    this.redirected = to === null ? undefined : new URL(to, asked.url).href;
    this.statuses.set(asked.url.href, answer.status);
    return answer;
  }

  private fetched({ url, init }: Asked): Promise<Response> {
    return this.fetches(url, init);
  }
}
