import {
  request as requestHttp,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { request as requestHttps } from 'node:https';
import { DestinationNotAllowed, resolveDestination, type Destination } from './destination.js';
import { resolveHost, type ResolveHost } from './host-resolver.js';

/** One POST to a customer's address. */
export interface PinnedPost {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** For all of it: name, connection, answer. */
  readonly timeoutMs: number;
  /** In local mode this very machine may be called. */
  readonly allowLoopback: boolean;
}

/** Why there is no answer; says nothing about the network it was asked from. */
export type PostFailure =
  'timeout' | 'name_not_resolved' | 'destination_not_allowed' | 'connection_failed' | 'tls_failed';

/** What came back: the status of an answer, whatever it is, or why there was none. */
export type PostAnswer =
  { readonly status: number; readonly retryAfter: string | undefined } | { readonly failure: PostFailure };

/** As much of an answer's body is read as keeps its server content, and thrown away. */
const DRAINED_BYTES = 16 * 1024;
const HEADER_BYTES = 16 * 1024;

/**
 * Posts to a host that a customer has named: the name is resolved anew, every address it has is checked, and the
 * connection goes to the checked address, never to the name again. No redirect is followed, no proxy of the
 * environment asked, no connection kept for another host. Never throws.
 */
export async function postPinned(post: PinnedPost, resolve: ResolveHost = resolveHost): Promise<PostAnswer> {
  const signal = AbortSignal.timeout(post.timeoutMs);
  let destination: Destination;
  try {
    destination = await inTime(resolveDestination(post.url.hostname, post.allowLoopback, resolve), signal);
  } catch (error) {
    if (signal.aborted) return { failure: 'timeout' };
    return {
      failure: error instanceof DestinationNotAllowed ? 'destination_not_allowed' : 'name_not_resolved',
    };
  }
  return new Promise((settle) => {
    const request = begin(post, destination, signal);
    request.once('response', (answer) => {
      settle({ status: answer.statusCode ?? 0, retryAfter: answer.headers['retry-after'] });
      drain(answer);
    });
    request.once('upgrade', (answer, socket) => {
      settle({ status: answer.statusCode ?? 101, retryAfter: undefined });
      socket.destroy();
    });
    // It may follow the answer, when the server resets what it does not want to hear: the first word counts.
    request.on('error', (error) => settle({ failure: signal.aborted ? 'timeout' : failureOf(error) }));
    request.end(post.body);
  });
}

function begin({ url, headers, body }: PinnedPost, to: Destination, signal: AbortSignal): ClientRequest {
  const secure = url.protocol === 'https:';
  const options: RequestOptions = {
    method: 'POST',
    host: to.address,
    family: to.family,
    port: url.port || (secure ? 443 : 80),
    path: `${url.pathname}${url.search}`,
    // The server's certificate is held against this name, as its Host is; the address decides the connection alone.
    headers: { ...headers, host: url.host, 'content-length': String(Buffer.byteLength(body)) },
    agent: false,
    maxHeaderSize: HEADER_BYTES,
    signal,
  };
  return secure ? requestHttps(options) : requestHttp(options);
}

function drain(answer: IncomingMessage): void {
  let read = 0;
  answer.on('data', (chunk: Buffer) => {
    read += chunk.length;
    if (read > DRAINED_BYTES) answer.destroy();
  });
  // The status has been told; how the rest ends changes nothing.
  answer.on('error', () => answer.destroy());
}

async function inTime<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return Promise.race([
    work,
    new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('out of time')), { once: true });
    }),
  ]);
}

function failureOf(error: Error): PostFailure {
  const { code = '' } = error as NodeJS.ErrnoException;
  return /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|EPROTO)/.test(code)
    ? 'tls_failed'
    : 'connection_failed';
}
