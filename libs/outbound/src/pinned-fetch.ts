import type { IncomingMessage } from 'node:http';
import { resolveHost, type ResolveHost } from './host-resolver.js';
import { isLoopbackHost } from './destination.js';
import { sendPinned, type OutboundFailure } from './pinned-request.js';

/** Why a request brought no document. */
export type FetchFailure = OutboundFailure | 'answer_too_large' | 'answer_encoded' | 'not_https';

/** A request that brought no document. Its text says nothing about the network it was made from. */
export class OutboundError extends Error {
  constructor(readonly failure: FetchFailure) {
    super(`no answer from an address that was called: ${failure}`);
    this.name = 'OutboundError';
  }
}

/** Bounds of every request that a {@link PinnedFetch} makes. */
export interface PinnedFetchOptions {
  /** For all of it: name, connection, answer with its body. */
  readonly timeoutMs: number;
  /** A longer answer is refused as soon as it is seen to be one. */
  readonly maxAnswerBytes: number;
  /** In local mode this very machine may be called, by http as well. */
  readonly allowLoopback: boolean;
  /** Ports that are called beside 80 and 443. */
  readonly ports?: readonly number[];
  readonly resolve?: ResolveHost;
}

/** What of `fetch` is asked for: as much as clients take that let their requests be made by others. */
export interface PinnedFetchInit {
  readonly method?: string;
  readonly headers?: Headers | Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** A redirect is an answer like others, whatever is asked for: never followed. */
  readonly redirect?: string;
  readonly signal?: AbortSignal | undefined;
}

/** `fetch` as far as documents of a tenant's server are read by it. */
export type PinnedFetch = (url: string, init?: PinnedFetchInit) => Promise<Response>;

/** Answers that must not have a body; `Response` refuses to hold an empty text for them. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * A `fetch` for addresses that a tenant has named: https only, to an address that was checked, within a time, without
 * redirects, its answer no longer than the bound and not compressed, whose real length nobody knows beforehand.
 * It throws {@link OutboundError}.
 */
export function pinnedFetch(options: PinnedFetchOptions): PinnedFetch {
  return async (text, { method = 'GET', headers, body, signal } = {}) => {
    const url = new URL(text);
    demandHttps(url, options.allowLoopback);
    const limit = AbortSignal.timeout(options.timeoutMs);
    const until = signal ? AbortSignal.any([limit, signal]) : limit;
    const answer = await sendPinned(
      {
        method,
        url,
        headers: { ...Object.fromEntries(new Headers(headers)), 'accept-encoding': 'identity' },
        body: textOf(body),
        allowLoopback: options.allowLoopback,
        ...(options.ports && { ports: options.ports }),
      },
      until,
      options.resolve ?? resolveHost,
    );
    if (typeof answer === 'string') throw new OutboundError(answer);
    return toResponse(answer, await readBody(answer, options.maxAnswerBytes, until));
  };
}

function demandHttps(url: URL, allowLoopback: boolean): void {
  if (url.protocol === 'https:') return;
  if (url.protocol === 'http:' && allowLoopback && isLoopbackHost(url.hostname)) return;
  throw new OutboundError('not_https');
}

function textOf(body: unknown): string | Uint8Array | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string' || body instanceof Uint8Array) return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new TypeError('a body is a text, bytes or a form');
}

async function readBody(answer: IncomingMessage, most: number, signal: AbortSignal): Promise<Buffer> {
  const encoding = answer.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') throw refused(answer, 'answer_encoded');
  if (Number(answer.headers['content-length'] ?? 0) > most) throw refused(answer, 'answer_too_large');
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > most) throw refused(answer, 'answer_too_large');
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof OutboundError) throw error;
    throw new OutboundError(signal.aborted ? 'timeout' : 'connection_failed');
  }
  return Buffer.concat(chunks);
}

function refused(answer: IncomingMessage, failure: FetchFailure): OutboundError {
  answer.on('error', () => undefined); // it is torn down by us, and may say so
  answer.destroy();
  return new OutboundError(failure);
}

function toResponse(answer: IncomingMessage, body: Buffer): Response {
  const status = answer.statusCode ?? 0;
  // What `Response` cannot hold is no answer of HTTP: an upgrade, or a number that is no status.
  if (status < 200 || status > 599) throw new OutboundError('connection_failed');
  const headers = Object.entries(answer.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  return new Response(WITHOUT_BODY.has(status) ? null : new Uint8Array(body), { status, headers });
}
