import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ModulesTls } from '@customer-platform/config';
import { Problem } from '@customer-platform/problem-json';
import { buildConnector, type Dispatcher, Pool } from 'undici';
import { Admission, type Pending } from './admission.js';
import { AnswerWait, mindUnread } from './answer-wait.js';
import { type Edge, requestHeaders, responseHeaders } from './headers.js';
import { Lane, Place } from './lane.js';
import { overloaded } from './overloaded.js';
import { answerProblem } from './problem-response.js';
import {
  type Body,
  type BodyTold,
  BodyTooSlow,
  BodyWait,
  CallerGone,
  DetachedBody,
  LargeBody,
  linger,
  readBody,
} from './request-body.js';
import type { RouteClass } from './route-classes.js';
import { SlowCallers } from './slow-callers.js';
import { RefusalCache } from './refusal-cache.js';

/** How long a module may take to begin its answer and to go on with it, in milliseconds. */
interface Patience {
  connect: number;
  headers: number;
  body: number;
}

/** What modules are given in production. */
export const PATIENCE: Patience = { connect: 1_000, headers: 30_000, body: 60_000 };

/** Requests that a module works on at once; as many connections more are for those that wait for their callers. */
const CONNECTIONS = 128;
/** For bodies that go on while they come: as slowly as their callers send, and so apart from all others. */
const CONNECTIONS_OF_LARGE = 32;
const LONGEST_QUEUE = 2_048;
/**
 * Answers that last, each on a connection that nobody else has until it ends. One lasts once the module has let its reader
 * in: whoever waits to be let in takes nobody's place.
 */
const LASTING = 512;

/**
 * An answer is taken ahead of its reader up to here, and the pieces that are on their way; then its module waits. As many as
 * there are connections fit into the room for what waits for callers. The system takes some megabytes of each besides.
 */
const AHEAD_BYTES = 64 << 10;

/** Callers that went away are noted with the status nginx made customary; it is never sent. */
const CLIENT_CLOSED = 499;

/** Told of a failed exchange: which module, what the caller got, and the cause, which the caller does not learn. */
type UpstreamFailed = (module: string, problem: Problem, correlationId: string) => void;

/** What an upstream is made with beside its address; all has a default. */
export interface UpstreamOptions {
  patience?: Patience;
  callers?: SlowCallers;
  onFailure?: UpstreamFailed;
  /** Told of each request that is refused because the module is overloaded. */
  onOverload?: (module: string, route: RouteClass) => void;
  /** Connections to the module, and requests that may wait for one; more would wait in vain and fill the memory. */
  connections?: number;
  longestQueue?: number;
  /** Answers that last, at once. */
  lasting?: number;
  /** How long a caller that was answered early may go on sending, in milliseconds. */
  lingerMs?: number | undefined;
  /** It serves what everybody may see: it is sent nobody's credentials. */
  anonymous?: boolean;
  /** The certificates with which modules are called whose addresses begin with `https`. */
  tls?: ModulesTls | undefined;
}

/** One request on its way to a module. */
interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  path: string;
  route: RouteClass;
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
 * One module behind the gateway. Nothing is parsed: a body goes on when all of it is here, a large one as it comes and by
 * connections of its own; an answer goes out at its reader's pace, while the module is done with it.
 *
 * A request that failed before the module was reached, or a GET whose kept-alive connection closed under it
 * before any answer, is tried once more. Nothing else is: the module may have acted on it.
 */
export class Upstream {
  private readonly ordinary: Lane;
  private readonly large: Lane;
  /** Where readers wait to be let in to answers that last; those that last have left it. */
  private readonly doors: Lane;
  private readonly patience: Patience;
  private readonly callers: SlowCallers;
  readonly admission: Admission;
  private readonly refusals: RefusalCache;
  private readonly mostLasting: number;
  private readonly lasting = new Set<() => void>();
  private draining = false;

  constructor(
    readonly name: string,
    origin: string,
    private readonly options: UpstreamOptions = {},
  ) {
    const { connections = CONNECTIONS, longestQueue = LONGEST_QUEUE, lasting = LASTING } = options;
    this.patience = options.patience ?? PATIENCE;
    this.callers = options.callers ?? new SlowCallers();
    this.admission = new Admission(this.callers.now);
    this.refusals = new RefusalCache(this.callers.now);
    this.mostLasting = lasting;
    this.ordinary = this.laneOf(origin, { connections, spare: connections, longestQueue });
    const few = Math.min(connections, CONNECTIONS_OF_LARGE);
    this.large = this.laneOf(origin, { connections: few, spare: 0, longestQueue: few });
    const beforeDoors = { connections: connections + longestQueue, spare: 0, longestQueue: 0 };
    this.doors = new Lane(this.poolOf(origin, lasting + connections), beforeDoors, this.callers);
  }

  private laneOf(origin: string, size: ConstructorParameters<typeof Lane>[1]): Lane {
    return new Lane(this.poolOf(origin, size.connections + size.spare), size, this.callers);
  }

  private poolOf(origin: string, connections: number): Pool {
    const timeout = this.patience.connect;
    return new Pool(origin, {
      connections,
      pipelining: 1,
      // A module says itself for how long it keeps one (4 s): the gateway lets go 2 s before. This is for who says nothing.
      keepAliveTimeout: 30_000,
      keepAliveMaxTimeout: 50_000,
      connect: this.options.tls?.following((client) => buildConnector({ ...client, timeout })) ?? { timeout },
      headersTimeout: this.patience.headers,
      bodyTimeout: this.patience.body,
    });
  }

  /** Resolves, with the status that was answered, when the module is done with the exchange; never rejects. */
  async forward(exchange: Exchange): Promise<number> {
    const { request, route, edge } = exchange;
    const wait = new BodyWait(request, edge.address, this.callers.now());
    try {
      this.demandAdmission(exchange);
      const body = await readBody(request, wait, this.callers);
      // Others may have come while it was on its way.
      if (body !== null) this.demandAdmission(exchange);
      const headers = requestHeaders(request, edge, this.options);
      const first = await this.attempt(exchange, headers, body, wait);
      const repeat = first.failure !== undefined && mayRepeat(first.failure, exchange, body);
      const { status, failure } = repeat ? await this.attempt(exchange, headers, body, wait) : first;
      if (failure === undefined) return status;
      if (UNREACHABLE.has((failure as { code?: string }).code ?? '')) this.admission.away();
      throw failure;
    } catch (error) {
      if (error instanceof Problem && error.code === 'overloaded')
        this.options.onOverload?.(this.name, route);
      return this.fail(exchange, error as Error);
    } finally {
      this.callers.release(wait);
      linger(request, this.options.lingerMs);
    }
  }

  /** Fetches a document of the module for the gateway's own use. */
  async json(path: string, timeoutMs: number): Promise<unknown> {
    const patience = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
    const answer = await this.ordinary.pool.request({ path, method: 'GET', ...patience });
    if (answer.statusCode === 200) return answer.body.json();
    await answer.body.dump();
    throw new Error(`${this.name} answered ${answer.statusCode} for ${path}`);
  }

  /** Cuts every connection to the module. */
  async destroy(): Promise<void> {
    const lanes = [this.ordinary, this.large, this.doors];
    await Promise.all(lanes.map(({ pool }) => pool.destroy()));
  }

  /** Ends the answers that last: their readers come back, to another gateway. None begins any more. */
  drain(): void {
    this.draining = true;
    for (const end of this.lasting) end();
  }

  private laneFor(lasts: boolean, body: Body): Lane {
    if (lasts) return this.doors;
    return body instanceof LargeBody ? this.large : this.ordinary;
  }

  /** @throws Problem `overloaded` */
  private demandAdmission({ request, route, edge }: Exchange): void {
    const isToldOf = route === 'ingestion' && this.refusals.covers(request);
    if (isToldOf || !this.admission.admits(route, edge.address)) throw overloaded(route);
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
    this.lasting.add(last);
    return true;
  }

  /** Learns from an answer. What is refused is refused soon, and tells nothing of the others. */
  private learn({ request, route }: Exchange, pending: Pending, status: number, headers: Buffer[]): void {
    if (status < 400) this.admission.answered(pending);
    else this.admission.leave(pending);
    if (status === 503 && route === 'ingestion') this.refusals.hear(request, headers);
  }

  private attempt(exchange: Exchange, headers: string[], body: Body, wait: BodyWait): Promise<Outcome> {
    const { request, response, route, edge, lasts = false } = exchange;
    const lane = this.laneFor(lasts, body);
    if (lasts) this.demandPlace();
    const last = (): void => endAtOnce(response);
    return new Promise<Outcome>((settle) => {
      let status = 0;
      let settled = false;
      let begun: Dispatcher.DispatchController | undefined;
      let unread: AnswerWait | undefined;
      const done = (outcome: Outcome): void => {
        if (settled) return;
        settled = true;
        this.lasting.delete(last);
        if (unread) unread.holds = undefined;
        response.off('close', onClose).off('drain', onDrain);
        this.callers.end(wait);
        settle(outcome);
        this.admission.leave(pending);
        lane.leave(place);
      };
      const fail = (failure: Error): void => {
        // What is being connected is not told by undici; it ends here, and there when it has begun.
        begun?.abort(failure);
        done({ status: 0, failure });
      };
      const onClose = (): void => {
        // One that lasts goes on at the module until it is told.
        if (!response.writableFinished || lasts) fail(new CallerGone());
      };
      const onDrain = (): void => {
        if (unread) unread.holds = undefined;
        unread = undefined;
        lane.goOn(place);
        begun?.resume();
      };
      response.on('close', onClose).on('drain', onDrain);
      const dispatch = (): void => {
        const passed = this.passOn(exchange, body, wait, { received: () => lane.goOn(place), failed: fail });
        const asked = { path: request.url ?? '/', method: request.method ?? 'GET', headers, body: passed };
        lane.pool.dispatch(asked, {
          onRequestStart: (controller) => {
            if (settled) return controller.abort(new CallerGone());
            begun = controller;
            if (body instanceof LargeBody && !request.complete) this.waitForRest(wait, lane, place);
          },
          onResponseStart: (controller, statusCode) => {
            if (statusCode < 200) return;
            const raw = (controller.rawHeaders ?? []) as Buffer[];
            this.learn(exchange, pending, statusCode, raw);
            if (lasts && statusCode === 200 && !this.takePlace(last, controller)) return;
            if (lasts && statusCode === 200) lane.leave(place);
            status = statusCode;
            response.writeHead(statusCode, responseHeaders(raw, edge.correlationId));
          },
          onResponseData: (controller, chunk) => {
            if (response.write(chunk)) return;
            unread ??= AnswerWait.of(response, this.callers, edge.address);
            if (unread.add(chunk.length) && response.writableLength < AHEAD_BYTES) return;
            unread.holds = lasts ? this.lasting : lane;
            lane.waitForCaller(place);
            controller.pause();
          },
          onResponseEnd: () => {
            response.end();
            if (!unread) mindUnread(response, this.callers, edge.address);
            done({ status });
          },
          onResponseError: (_controller, failure) => done({ status: 0, failure }),
        });
      };
      const place = new Place(edge.address, dispatch, (failure) => done({ status: 0, failure }));
      const pending = this.admission.begin(route, edge.address, () => {
        if (settled || lane.has(place)) return false;
        done({ status: 0, failure: overloaded(route) });
        return true;
      });
      if (body === null || this.waitForModule(wait, fail)) lane.enter(place);
    });
  }

  /** The rest of a large body comes while the module reads it. */
  private waitForRest(wait: BodyWait, lane: Lane, place: Place): void {
    lane.waitForCaller(place);
    wait.goesOn(lane, this.callers.now());
    this.callers.begin(wait);
  }

  /** A body of which no more is to come until the module takes it gives way as all do that hold memory. */
  private waitForModule(wait: BodyWait, fail: (failure: Error) => void): boolean {
    wait.whenGivenUp(fail);
    return this.callers.waitForModule(wait, this);
  }

  /** What the module is sent: a large body while it comes, of which others hear when all of it is here, or is not to be. */
  private passOn(
    { request }: Exchange,
    body: Body,
    wait: BodyWait,
    { received, failed }: Pick<BodyTold, 'received' | 'failed'>,
  ): Buffer | DetachedBody | null {
    if (!(body instanceof LargeBody)) return body;
    wait.whenGivenUp(failed);
    return new DetachedBody(request, body, wait, {
      passed: () => this.callers.release(wait),
      received: () => {
        this.callers.end(wait);
        wait.ends();
        received();
      },
      failed,
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

/** Ends an answer that lasts, and its connection. */
function endAtOnce(response: ServerResponse): void {
  if (response.headersSent && response.writableLength === 0) response.end(() => response.destroy());
  else response.destroy();
}

/** The module is not there. */
const UNREACHABLE = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH']);
/** Errors after which undici knows that no byte reached the module. */
const NEVER_SENT = new Set([...UNREACHABLE, 'UND_ERR_CONNECT_TIMEOUT']);
const CONNECTION_CLOSED = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

function mayRepeat(error: Error, { request, response }: Exchange, body: Body): boolean {
  if (body instanceof LargeBody || response.headersSent) return false;
  const code = (error as { code?: string }).code ?? '';
  if (NEVER_SENT.has(code)) return true;
  return (request.method === 'GET' || request.method === 'HEAD') && CONNECTION_CLOSED.has(code);
}
