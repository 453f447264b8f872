import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as it arrived. */
interface Arrived {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** What the server does with one request. */
type Behaviour = (response: ServerResponse, arrived: Arrived) => void;

/** A server that does with the n-th request what the n-th behaviour says, and the last one with all further ones. */
export class HostileServer {
  readonly arrived: Arrived[] = [];
  private behaviours: readonly Behaviour[] = [];
  private readonly server = createServer((request, response) => void this.serve(request, response));

  static async start(): Promise<HostileServer> {
    const hostile = new HostileServer();
    await new Promise<void>((resolve) => hostile.server.listen(0, '127.0.0.1', resolve));
    return hostile;
  }

  get url(): string {
    return `http://127.0.0.1:${String((this.server.address() as AddressInfo).port)}`;
  }

  answers(...behaviours: Behaviour[]): void {
    this.arrived.length = 0;
    this.behaviours = behaviours;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url: path = '', headers } = request;
    const arrived = { method, path, headers, body: Buffer.concat(chunks).toString('utf8') };
    this.arrived.push(arrived);
    this.behaviours[Math.min(this.arrived.length, this.behaviours.length) - 1]?.(response, arrived);
  }
}

/** A 2xx answer. */
export const ok =
  (body: unknown, headers: Record<string, string> = {}, status = 200): Behaviour =>
  (response) => {
    response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', ...headers });
    response.end(JSON.stringify(body));
  };

/** A refusal as the service writes it. */
export const problem =
  (status: number, code: string, headers: Record<string, string> = {}, more: object = {}): Behaviour =>
  (response) => {
    response.writeHead(status, { 'Content-Type': 'application/problem+json', ...headers });
    response.end(
      JSON.stringify({ type: `/problems/${code}`, title: 'Refused', status, detail: 'No.', code, ...more }),
    );
  };

/** Any other answer. */
export const raw =
  (status: number, contentType: string, text: string, headers: Record<string, string> = {}): Behaviour =>
  (response) => {
    response.writeHead(status, { 'Content-Type': contentType, ...headers });
    response.end(text);
  };

/** Half of an answer, then the connection breaks. */
export const cut: Behaviour = (response) => {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '1000' });
  response.write('{"data":[');
  setImmediate(() => response.destroy());
};

/** Nothing, ever. */
export const silence: Behaviour = () => undefined;

/** The beginning of an answer, and then nothing. */
export const halt: Behaviour = (response) => {
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.write('{"data":[');
};
