import {
  connect as connectHttp2,
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
} from 'node:http2';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { HttpPost, HttpResult } from '../../../providers/transport-config.js';
import type { Lease } from '../transport.js';
import { unsent, type ResolveHost } from './http-exchange.js';
import type { Exchange } from './http-transport.js';

const MOST_ANSWER_BYTES = 64 * 1024;
/** A connection that lies idle for so long is closed; the next message resolves the name anew. */
const IDLE_MS = 30_000;
/** However busy, its address is looked at again after this. */
const LONGEST_MS = 300_000;
const CONNECT_MS = 5_000;
const {
  HTTP2_HEADER_METHOD,
  HTTP2_HEADER_PATH,
  HTTP2_HEADER_STATUS,
  NGHTTP2_REFUSED_STREAM,
  NGHTTP2_CANCEL,
} = constants;

interface Open {
  readonly session: ClientHttp2Session;
  readonly until: number;
}

/** Posts over HTTP/2 (RFC 9113): one connection to each origin, all requests on it at once. */
export class Http2Exchange implements Exchange {
  private readonly open = new Map<string, Promise<Open>>();
  private closed = false;

  constructor(private readonly resolve: ResolveHost) {}

  /** Posts within the lease. Never throws. */
  async post(request: HttpPost, lease: Lease): Promise<HttpResult> {
    let session: ClientHttp2Session;
    try {
      session = await this.session(request.url);
    } catch (error) {
      return unsent(error, lease.over);
    }
    if (lease.over) return { kind: 'unsent', late: true };
    return exchange(session, request, lease);
  }

  close(): void {
    this.closed = true;
    for (const opening of this.open.values())
      void opening.then(
        ({ session }) => session.close(),
        () => undefined,
      );
    this.open.clear();
  }

  /** Those who come while it is being opened share it. */
  private async session(url: URL): Promise<ClientHttp2Session> {
    for (let known = this.open.get(url.origin); known; known = this.open.get(url.origin)) {
      const { session, until } = await known;
      if (!session.closed && !session.destroyed && performance.now() < until) return session;
      if (this.open.get(url.origin) === known) this.open.delete(url.origin);
      session.close();
    }
    const opening = this.connect(url);
    this.open.set(url.origin, opening);
    opening.catch(() => {
      if (this.open.get(url.origin) === opening) this.open.delete(url.origin);
    });
    return (await opening).session;
  }

  private async connect(url: URL): Promise<Open> {
    if (this.closed) throw new Error('the exchange is closed');
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const { address } = await this.resolve(host);
    const secure = url.protocol === 'https:';
    const port = Number(url.port) || (secure ? 443 : 80);
    const session = connectHttp2(url.origin, {
      createConnection: (): Socket =>
        secure
          ? connectTls({
              host: address,
              port,
              servername: host,
              ALPNProtocols: ['h2'],
              minVersion: 'TLSv1.2',
            })
          : connectPlain(port, address),
    });
    session.setTimeout(IDLE_MS, () => session.close());
    await new Promise<void>((resolve, reject) => {
      const giveUp = setTimeout(() => session.destroy(new Error('no connection in time')), CONNECT_MS);
      session.once('connect', () => resolve());
      session.on('error', reject);
      session.once('close', () => reject(new Error('closed while connecting')));
      session.once('connect', () => clearTimeout(giveUp));
      session.once('close', () => clearTimeout(giveUp));
    });
    return { session, until: performance.now() + LONGEST_MS };
  }
}

function exchange(session: ClientHttp2Session, request: HttpPost, lease: Lease): Promise<HttpResult> {
  return new Promise((resolve) => {
    let stream: ClientHttp2Stream;
    try {
      const { url, headers } = request;
      stream = session.request({
        ...headers,
        [HTTP2_HEADER_METHOD]: 'POST',
        [HTTP2_HEADER_PATH]: `${url.pathname}${url.search}`,
        'content-length': String(request.body.length),
      });
    } catch {
      // It was being closed, and nothing was begun on it; or the request is none.
      resolve(session.closed || session.destroyed ? { kind: 'unsent', late: false } : { kind: 'invalid' });
      return;
    }
    const guard = setTimeout(() => stream.close(NGHTTP2_CANCEL), Math.max(0, lease.remaining()));
    let head: Readonly<Record<string, unknown>> = {};
    const chunks: Buffer[] = [];
    let size = 0;
    stream.once('response', (headers) => {
      head = headers;
    });
    stream.on('data', (chunk: Buffer) => {
      if (size < MOST_ANSWER_BYTES) chunks.push(chunk);
      size += chunk.length;
    });
    stream.once('end', () => {
      ended = true;
    });
    let ended = false;
    // What went wrong is told by what the stream was closed with.
    stream.on('error', () => undefined);
    stream.once('close', () => {
      clearTimeout(guard);
      const status = Number(head[HTTP2_HEADER_STATUS]);
      if (ended && status > 0) {
        const body = Buffer.concat(chunks).subarray(0, MOST_ANSWER_BYTES).toString('utf8');
        resolve({ kind: 'answered', status, body, headers: head });
        // The server says that it has not looked at it (RFC 9113 §8.7).
      } else
        resolve(
          stream.rstCode === NGHTTP2_REFUSED_STREAM ? { kind: 'unsent', late: false } : { kind: 'cut' },
        );
    });
    stream.end(request.body);
  });
}
