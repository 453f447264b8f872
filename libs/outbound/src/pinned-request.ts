import {
  request as requestHttp,
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestOptions,
} from 'node:http';
import { request as requestHttps } from 'node:https';
import { isAllowedPort } from './allowed-ports.js';
import { DestinationNotAllowed, resolveDestination, type Destination } from './destination.js';
import type { ResolveHost } from './host-resolver.js';

/** One request to an address that a tenant has named. */
interface PinnedRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
  /** In local mode this very machine may be called. */
  readonly allowLoopback: boolean;
  /** Ports that are called beside 80 and 443. */
  readonly ports?: readonly number[];
}

/** Why there is no answer; says nothing about the network it was asked from. */
export type OutboundFailure =
  'timeout' | 'name_not_resolved' | 'destination_not_allowed' | 'connection_failed' | 'tls_failed';

const HEADER_BYTES = 16 * 1024;

/**
 * Sends a request to the address that was checked: the name is resolved anew, every address it has must be allowed, and
 * the connection goes to the checked address, never to the name again. No redirect is followed, no proxy of the
 * environment asked, no connection kept for another host. Never throws; the answer's body has not been read.
 */
export async function sendPinned(
  sent: PinnedRequest,
  signal: AbortSignal,
  resolve: ResolveHost,
): Promise<IncomingMessage | OutboundFailure> {
  if (!isAllowedPort(sent.url, sent)) return 'destination_not_allowed';
  let destination: Destination;
  try {
    destination = await inTime(resolveDestination(sent.url.hostname, sent.allowLoopback, resolve), signal);
  } catch (error) {
    if (signal.aborted) return 'timeout';
    return error instanceof DestinationNotAllowed ? 'destination_not_allowed' : 'name_not_resolved';
  }
  return new Promise((settle) => {
    const request = begin(sent, destination, signal);
    request.once('response', settle);
    request.once('upgrade', (answer, socket) => {
      socket.destroy();
      settle(answer);
    });
    // It may follow the answer, when the server resets what it does not want to hear: the first word counts.
    request.on('error', (error) => settle(signal.aborted ? 'timeout' : failureOf(error)));
    request.end(sent.body);
  });
}

function begin(
  { method, url, headers, body }: PinnedRequest,
  to: Destination,
  signal: AbortSignal,
): ClientRequest {
  const secure = url.protocol === 'https:';
  // The server's certificate is held against this name, as its Host is; the address decides the connection alone.
  const named: OutgoingHttpHeaders = { ...headers, host: url.host };
  const options: RequestOptions = {
    method,
    host: to.address,
    family: to.family,
    port: url.port || (secure ? 443 : 80),
    path: `${url.pathname}${url.search}`,
    headers: body === undefined ? named : { ...named, 'content-length': String(Buffer.byteLength(body)) },
    agent: false,
    maxHeaderSize: HEADER_BYTES,
    signal,
  };
  return secure ? requestHttps(options) : requestHttp(options);
}

async function inTime<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return Promise.race([
    work,
    new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('out of time')), { once: true });
    }),
  ]);
}

function failureOf(error: Error): OutboundFailure {
  const { code = '' } = error as NodeJS.ErrnoException;
  return /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|EPROTO)/.test(code)
    ? 'tls_failed'
    : 'connection_failed';
}
