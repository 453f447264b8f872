import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '@customer-platform/problem-json';
import { Pool } from 'undici';
import { type Edge, requestHeaders, responseHeaders } from './headers.js';
import { answerProblem } from './problem-response.js';

/** How long a module may take to begin its answer, and to go on with it, in milliseconds. */
export interface Patience {
  connect: number;
  headers: number;
  body: number;
}

export const PATIENCE: Patience = { connect: 1_000, headers: 30_000, body: 60_000 };

/** Bodies up to this size are read whole before they are passed on: one write instead of a stream's machinery. */
const SMALL_BODY = 64 * 1024;

/** Callers that went away are noted with the status nginx made customary; it is never sent. */
export const CLIENT_CLOSED = 499;

export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  path: string;
  edge: Edge;
  isDraining: () => boolean;
}

/**
 * One module behind the gateway. Requests are passed on as they came, streamed both ways; nothing is parsed.
 *
 * A request that failed before the module was reached, or a GET whose kept-alive connection closed under it
 * before any answer, is tried once more. Nothing else is: the module may have acted on it.
 */
export class Upstream {
  private readonly pool: Pool;

  constructor(
    readonly name: string,
    readonly origin: string,
    patience: Patience = PATIENCE,
    connections = 128,
  ) {
    this.pool = new Pool(origin, {
      connections,
      pipelining: 1,
      // Shorter than the modules' own (bootstrap keeps 65 s), so that it is the gateway that lets go first.
      keepAliveTimeout: 30_000,
      keepAliveMaxTimeout: 50_000,
      connect: { timeout: patience.connect },
      headersTimeout: patience.headers,
      bodyTimeout: patience.body,
    });
  }

  /** Resolves, with the status that was answered, when the exchange is over; never rejects. */
  async forward(exchange: Exchange): Promise<number> {
    const body = await readBody(exchange.request);
    if (body === 'aborted') return CLIENT_CLOSED;
    const headers = requestHeaders(exchange.request, exchange.edge);
    let outcome = await this.attempt(exchange, headers, body);
    if (outcome.failure !== undefined && mayRepeat(outcome.failure, exchange, body)) {
      outcome = await this.attempt(exchange, headers, body);
    }
    if (outcome.failure === undefined) return outcome.status;
    const problem = this.problemOf(outcome.failure);
    answerProblem(exchange.response, problem, {
      instance: exchange.path,
      correlationId: exchange.edge.correlationId,
    });
    return problem.status;
  }

  /** Fetches a document of the module for the gateway's own use. */
  async json(path: string, timeoutMs: number): Promise<unknown> {
    const answer = await this.pool.request({
      path,
      method: 'GET',
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
    if (answer.statusCode !== 200) {
      await answer.body.dump();
      throw new Error(`${this.name} answered ${answer.statusCode} for ${path}`);
    }
    return answer.body.json();
  }

  close(): Promise<void> {
    return this.pool.close();
  }

  destroy(): Promise<void> {
    return this.pool.destroy();
  }

  private attempt(exchange: Exchange, headers: string[], body: Body): Promise<Outcome> {
    const { request, response } = exchange;
    return new Promise((settle) => {
      let status = 0;
      let onDrain: (() => void) | undefined;
      let onClose: (() => void) | undefined;
      const done = (outcome: Outcome): void => {
        if (onClose !== undefined) response.off('close', onClose);
        if (onDrain !== undefined) response.off('drain', onDrain);
        settle(outcome);
      };
      this.pool.dispatch(
        { path: request.url ?? '/', method: request.method ?? 'GET', headers, body },
        {
          onRequestStart(controller) {
            onClose = () => {
              if (!response.writableFinished) controller.abort(new CallerGone());
            };
            response.on('close', onClose);
          },
          onResponseStart(controller, statusCode) {
            if (statusCode < 200) return;
            status = statusCode;
            onDrain = () => controller.resume();
            response.on('drain', onDrain);
            response.writeHead(
              statusCode,
              responseHeaders((controller.rawHeaders ?? []) as Buffer[], exchange.isDraining()),
            );
          },
          onResponseData(controller, chunk) {
            if (!response.write(chunk)) controller.pause();
          },
          onResponseEnd() {
            response.end();
            done({ status });
          },
          onResponseError(_controller, error) {
            done(error instanceof CallerGone ? { status: CLIENT_CLOSED } : { status: 0, failure: error });
          },
        },
      );
    });
  }

  private problemOf(error: Error): Problem {
    const code = (error as { code?: string }).code;
    if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') {
      return new Problem('upstream_timeout', {
        detail: `The ${this.name} module did not answer in time.`,
        cause: error,
      });
    }
    return new Problem('dependency_unavailable', {
      detail: `The ${this.name} module cannot be reached; try again shortly.`,
      cause: error,
    });
  }
}

/** How one try ended: answered (or abandoned by the caller) with a status, or failed before it could be. */
interface Outcome {
  status: number;
  failure?: Error;
}

class CallerGone extends Error {}

type Body = Buffer | IncomingMessage | null;

/** A small body whole, a large or chunked one as the stream it is, none as null. */
function readBody(request: IncomingMessage): Promise<Body | 'aborted'> | Body {
  const declared = request.headers['content-length'];
  if (declared === undefined) return request.headers['transfer-encoding'] === undefined ? null : request;
  const length = Number(declared);
  if (length === 0) return null;
  if (length > SMALL_BODY) return request;
  return new Promise((settle) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => settle(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    request.once('close', () => {
      if (!request.complete) settle('aborted');
    });
  });
}

/** Errors after which undici knows that no byte reached the module. */
const NEVER_SENT = new Set(['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT', 'ENOTFOUND', 'EAI_AGAIN']);
const CONNECTION_CLOSED = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

function mayRepeat(error: Error, { request, response }: Exchange, body: Body): boolean {
  const streamed = body !== null && !Buffer.isBuffer(body);
  if (streamed || response.headersSent) return false;
  const code = (error as { code?: string }).code ?? '';
  if (NEVER_SENT.has(code)) return true;
  return (request.method === 'GET' || request.method === 'HEAD') && CONNECTION_CLOSED.has(code);
}
