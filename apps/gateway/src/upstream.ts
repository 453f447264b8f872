import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '@customer-platform/problem-json';
import { type Dispatcher, Pool } from 'undici';
import { BODY_PACE, type BodyPace, watchBody } from './body-watch.js';
import { type Edge, requestHeaders, responseHeaders } from './headers.js';
import { answerProblem } from './problem-response.js';
import { type Body, BodyTooSlow, CallerGone, DetachedBody, linger, readBody } from './request-body.js';

/** How long a module may take to begin its answer and to go on with it, and a caller to send, in milliseconds. */
interface Patience {
  connect: number;
  headers: number;
  body: number;
  /** For a small body to arrive whole. */
  smallBody: number;
  /** For a large one. */
  pace: BodyPace;
}

/** What callers and modules are given in production. */
export const PATIENCE: Patience = {
  connect: 1_000,
  headers: 30_000,
  body: 60_000,
  smallBody: 15_000,
  pace: BODY_PACE,
};

const CONNECTIONS = 128;
const LONGEST_QUEUE = 2_048;
/**
 * Answers that last, each on a connection that nobody else has until it ends. One lasts once the module has let its reader
 * in: whoever waits to be let in takes nobody's place.
 */
const LASTING = 512;

/** Callers that went away are noted with the status nginx made customary; it is never sent. */
const CLIENT_CLOSED = 499;

/** Told of a failed exchange: which module, what the caller got, and the cause, which the caller does not learn. */
type UpstreamFailed = (module: string, problem: Problem, correlationId: string) => void;

/** What an upstream is made with beside its address; all has a default. */
export interface UpstreamOptions {
  patience?: Patience;
  onFailure?: UpstreamFailed;
  /** Connections to the module, and requests that may wait for one; more would wait in vain and fill the memory. */
  connections?: number;
  longestQueue?: number;
  /** Answers that last, at once. */
  lasting?: number;
  /** It serves what everybody may see: it is sent nobody's credentials. */
  anonymous?: boolean;
}

/** One request on its way to a module. */
interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  path: string;
  edge: Edge;
  /** The answer ends when its reader or the module wants: it takes no connection from others. */
  lasts?: boolean;
}

/** How one try ended: answered (or abandoned by the caller) with a status, or failed before it could be. */
interface Outcome {
  status: number;
  failure?: Error;
}

/**
 * One module behind the gateway. Requests are passed on as they came, streamed both ways; nothing is parsed.
 *
 * A request that failed before the module was reached, or a GET whose kept-alive connection closed under it
 * before any answer, is tried once more. Nothing else is: the module may have acted on it.
 */
export class Upstream {
  private readonly pool: Pool;
  private readonly lastingPool: Pool;
  private readonly patience: Patience;
  private readonly most: number;
  private readonly mostLasting: number;
  private running = 0;
  private readonly lasting = new Set<() => void>();
  private draining = false;

  constructor(
    readonly name: string,
    origin: string,
    private readonly options: UpstreamOptions = {},
  ) {
    const { connections = CONNECTIONS, longestQueue = LONGEST_QUEUE, lasting = LASTING } = options;
    this.patience = options.patience ?? PATIENCE;
    this.most = connections + longestQueue;
    this.mostLasting = lasting;
    this.pool = this.poolOf(origin, connections);
    this.lastingPool = this.poolOf(origin, lasting + connections);
  }

  private poolOf(origin: string, connections: number): Pool {
    return new Pool(origin, {
      connections,
      pipelining: 1,
      // A module says itself for how long it keeps one (4 s): the gateway lets go 2 s before. This is for who says nothing.
      keepAliveTimeout: 30_000,
      keepAliveMaxTimeout: 50_000,
      connect: { timeout: this.patience.connect },
      headersTimeout: this.patience.headers,
      bodyTimeout: this.patience.body,
    });
  }

  /** Resolves, with the status that was answered, when the exchange is over; never rejects. */
  async forward(exchange: Exchange): Promise<number> {
    const { request } = exchange;
    try {
      if (this.running >= this.most) throw new Error('too many requests wait for the module');
      const body = await readBody(request, this.patience.smallBody);
      if (exchange.lasts) this.demandPlace();
      const headers = requestHeaders(request, exchange.edge, this.options);
      const first = await this.attempt(exchange, headers, body);
      const repeat = first.failure !== undefined && mayRepeat(first.failure, exchange, body);
      const { status, failure } = repeat ? await this.attempt(exchange, headers, body) : first;
      if (failure === undefined) return status;
      throw failure;
    } catch (error) {
      return this.fail(exchange, error as Error);
    } finally {
      linger(request);
    }
  }

  /** Fetches a document of the module for the gateway's own use. */
  async json(path: string, timeoutMs: number): Promise<unknown> {
    const patience = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
    const answer = await this.pool.request({ path, method: 'GET', ...patience });
    if (answer.statusCode === 200) return answer.body.json();
    await answer.body.dump();
    throw new Error(`${this.name} answered ${answer.statusCode} for ${path}`);
  }

  /** Cuts every connection to the module. */
  async destroy(): Promise<void> {
    await Promise.all([this.pool.destroy(), this.lastingPool.destroy()]);
  }

  /** Ends the answers that last: their readers come back, to another gateway. None begins any more. */
  drain(): void {
    this.draining = true;
    for (const end of this.lasting) end();
  }

  private demandPlace(): void {
    if (this.draining) throw new Problem('shutting_down');
    if (this.lasting.size >= this.mostLasting) throw new Error('too many answers of the module last');
  }

  /** The answer lasts from here on. Whether there was a place for it; else it is cut off. */
  private takePlace(last: () => void, controller: Dispatcher.DispatchController): boolean {
    try {
      this.demandPlace();
    } catch (error) {
      controller.abort(error as Error);
      return false;
    }
    this.running -= 1;
    this.lasting.add(last);
    return true;
  }

  private attempt(exchange: Exchange, headers: string[], body: Body): Promise<Outcome> {
    const { request, response, edge } = exchange;
    const last = (): void => {
      if (response.headersSent && response.writableLength === 0) response.end(() => response.destroy());
      else response.destroy();
    };
    this.running += 1;
    return new Promise<Outcome>((settle) => {
      let status = 0;
      let settled = false;
      let end: (() => void)[] = [];
      const done = (outcome: Outcome): void => {
        if (settled) return;
        settled = true;
        if (!this.lasting.delete(last)) this.running -= 1;
        for (const undo of end) undo();
        end = [];
        settle(outcome);
      };
      const fail = (failure: Error): void => done({ status: 0, failure });
      const passed = body === 'streamed' ? new DetachedBody(request, fail) : body;
      (exchange.lasts ? this.lastingPool : this.pool).dispatch(
        { path: request.url ?? '/', method: request.method ?? 'GET', headers, body: passed },
        {
          onRequestStart: (controller) => {
            // It waited for a connection, and its caller has gone.
            if (settled) return controller.abort(new CallerGone());
            const onClose = () => {
              // One that lasts goes on at the module until it is told.
              if (!response.writableFinished || exchange.lasts) controller.abort(new CallerGone());
            };
            const onDrain = () => controller.resume();
            response.on('close', onClose).on('drain', onDrain);
            end.push(() => response.off('close', onClose).off('drain', onDrain));
            const { pace } = this.patience;
            if (body === 'streamed')
              end.push(watchBody(request, () => controller.abort(new BodyTooSlow()), pace));
          },
          onResponseStart: (controller, statusCode) => {
            if (statusCode < 200) return;
            if (exchange.lasts && statusCode === 200 && !this.takePlace(last, controller)) return;
            status = statusCode;
            const raw = (controller.rawHeaders ?? []) as Buffer[];
            response.writeHead(statusCode, responseHeaders(raw, edge.correlationId));
          },
          onResponseData: (controller, chunk) => {
            if (!response.write(chunk)) controller.pause();
          },
          onResponseEnd: () => {
            response.end();
            done({ status });
          },
          onResponseError: (_controller, failure) => fail(failure),
        },
      );
    });
  }

  private fail({ response, path, edge }: Exchange, error: Error): number {
    const { correlationId } = edge;
    if (error instanceof CallerGone || response.destroyed) {
      response.destroy();
      return CLIENT_CLOSED;
    }
    const problem = this.problemOf(error);
    if (!(error instanceof BodyTooSlow || error instanceof Problem))
      this.options.onFailure?.(this.name, problem, correlationId);
    answerProblem(response, problem, { instance: path, correlationId });
    return problem.status;
  }

  private problemOf(cause: Error): Problem {
    if (cause instanceof Problem) return cause;
    if (cause instanceof BodyTooSlow) return new Problem('request_timeout', { cause });
    const { code } = cause as { code?: string };
    if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') {
      return new Problem('upstream_timeout', {
        detail: `The ${this.name} module did not answer in time.`,
        cause,
      });
    }
    const detail = `The ${this.name} module cannot be reached; try again shortly.`;
    return new Problem('dependency_unavailable', { detail, cause });
  }
}

/** Errors after which undici knows that no byte reached the module. */
const NEVER_SENT = new Set(['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT', 'ENOTFOUND', 'EAI_AGAIN']);
const CONNECTION_CLOSED = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

function mayRepeat(error: Error, { request, response }: Exchange, body: Body): boolean {
  if (body === 'streamed' || response.headersSent) return false;
  const code = (error as { code?: string }).code ?? '';
  if (NEVER_SENT.has(code)) return true;
  return (request.method === 'GET' || request.method === 'HEAD') && CONNECTION_CLOSED.has(code);
}
