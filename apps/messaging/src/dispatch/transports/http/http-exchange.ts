import {
  Agent as HttpAgent,
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { DestinationNotAllowed, type Destination } from '@customer-platform/outbound';
import type { HttpPost, HttpResult } from '../../../providers/transport-config.js';
import type { Lease } from '../transport.js';

/** Addresses are checked for each connection: what was public yesterday may be ours today. */
export type ResolveHost = (host: string) => Promise<Destination>;

const MOST_ANSWER_BYTES = 64 * 1024;
/** Shorter than servers keep an idle connection: a message must not be written to one that is just being closed. */
const IDLE_MS = 2_000;
/** A server that has not completed TCP and TLS after this does not answer. Well within the lease of a hand-off. */
const CONNECT_MS = 4_000;

/** Posts to providers over connections that are kept while busy. Redirects are answers like others, never followed. */
export class HttpExchange {
  private readonly agents: { readonly http: HttpAgent; readonly https: HttpsAgent };
  private readonly lookup: LookupFunction;

  constructor(
    private readonly resolve: ResolveHost,
    maxConnections: number,
    private readonly connectMs = CONNECT_MS,
  ) {
    const options = {
      keepAlive: true,
      maxSockets: maxConnections,
      timeout: IDLE_MS,
      scheduling: 'lifo' as const,
    };
    this.agents = { http: new HttpAgent(options), https: new HttpsAgent(options) };
    this.lookup = (host, { all }, done) => {
      this.resolve(host).then(
        ({ address, family }) => (all ? done(null, [{ address, family }]) : done(null, address, family)),
        (error: NodeJS.ErrnoException) => done(error, ''),
      );
    };
  }

  /** Posts within the lease. Never throws. */
  async post(message: HttpPost, lease: Lease): Promise<HttpResult> {
    try {
      // A literal address is connected to without being looked up.
      const host = message.url.hostname.replace(/^\[|\]$/g, '');
      if (isIP(host)) await this.resolve(host);
    } catch (error) {
      return unsent(error, false);
    }
    if (lease.over) return { kind: 'unsent', late: true };
    const request = this.open(message);
    return request ? exchange(request, message.body, lease, this.connectMs) : { kind: 'invalid' };
  }

  close(): void {
    this.agents.http.destroy();
    this.agents.https.destroy();
  }

  /** Undefined where it cannot be written: a header with a line break would be two. */
  private open({ url, headers, body }: HttpPost): ClientRequest | undefined {
    const secure = url.protocol === 'https:';
    try {
      return (secure ? httpsRequest : httpRequest)(url, {
        method: 'POST',
        agent: secure ? this.agents.https : this.agents.http,
        lookup: this.lookup,
        headers: { ...headers, 'content-length': String(body.length) },
      });
    } catch {
      return undefined;
    }
  }
}

function exchange(
  request: ClientRequest,
  body: Buffer,
  lease: Lease,
  connectMs: number,
): Promise<HttpResult> {
  return new Promise((resolve) => {
    let begun = false;
    const settle = (result: HttpResult): void => {
      clearTimeout(guard);
      resolve(result);
    };
    const end = (): void => {
      request.destroy();
      // One that waits for a connection of others hears nothing of that before it is given one.
      if (!begun) settle({ kind: 'unsent', late: true });
    };
    const guard = setTimeout(end, Math.max(0, lease.remaining()));
    request.once('error', (error) => settle(begun ? { kind: 'cut' } : unsent(error, lease.over)));
    whenConnected(request, connectMs, () => {
      if (lease.over) return void request.destroy(new Error('the lease is over'));
      begun = true;
      request.end(body);
    });
    request.once('response', (response) => {
      readAnswer(response).then(
        (text) =>
          settle({
            kind: 'answered',
            status: response.statusCode ?? 0,
            body: text,
            headers: response.headers,
          }),
        () => settle({ kind: 'cut' }),
      );
    });
  });
}

/** Why nothing of a request left this process. */
export function unsent(error: unknown, late: boolean): HttpResult {
  return { kind: 'unsent', late, ...(error instanceof DestinationNotAllowed ? { refused: true } : {}) };
}

/** Only then it is known that nothing was written before: a request that is ended earlier leaves by itself. */
function whenConnected(request: ClientRequest, connectMs: number, begin: () => void): void {
  request.once('socket', (socket: Socket & { encrypted?: boolean }) => {
    if (!socket.connecting) return begin();
    const giveUp = setTimeout(() => request.destroy(new Error('no connection in time')), connectMs);
    request.once('close', () => clearTimeout(giveUp));
    socket.once(socket.encrypted ? 'secureConnect' : 'connect', () => {
      clearTimeout(giveUp);
      begin();
    });
  });
}

async function readAnswer(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (size < MOST_ANSWER_BYTES) chunks.push(chunk);
    size += chunk.length;
  }
  return Buffer.concat(chunks).subarray(0, MOST_ANSWER_BYTES).toString('utf8');
}
