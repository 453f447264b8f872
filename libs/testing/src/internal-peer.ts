import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a module answers on one internal route, from the parsed body; undefined: 404. */
export type InternalAnswer = (body: unknown) => unknown;

/** The internal listener of another module, as far as a test needs it: routes with their answers, and outages. */
export class InternalPeer {
  /** Bodies of the calls that were answered, in their order. */
  readonly calls: { route: string; body: unknown }[] = [];
  private readonly server: Server;
  private down = false;

  private constructor(private readonly routes: Readonly<Record<string, InternalAnswer>>) {
    this.server = createServer((request, response) => void this.serve(request, response));
  }

  /** Listens on a free port. Routes are named `POST /internal/contacts/lookup`. */
  static async start(routes: Readonly<Record<string, InternalAnswer>>): Promise<InternalPeer> {
    const peer = new InternalPeer(routes);
    await new Promise<void>((resolve) => peer.server.listen(0, '127.0.0.1', resolve));
    return peer;
  }

  /** `<MODULE>_INTERNAL_URL` of the module under test. */
  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** From now on every call is cut off, as when the module has died; `false` ends it. */
  outage(down: boolean): void {
    this.down = down;
    if (down) this.server.closeAllConnections();
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.down) {
      request.socket.destroy();
      return;
    }
    const route = `${request.method} ${request.url?.split('?')[0]}`;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    this.calls.push({ route, body });
    const answer = this.routes[route];
    const given = answer ? await answer(body) : undefined;
    response.writeHead(given === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(given ?? { code: answer ? 'not_found' : 'route_not_found' }));
  }
}
