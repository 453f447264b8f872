import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import {
  type AddressList,
  destroyConnections,
  moduleServer,
  type ModulesTls,
} from '@customer-platform/config';
import { correlationIdFrom } from '@customer-platform/events';
import { Problem } from '@customer-platform/problem-json';
import { noteConnection } from '../context/client-address.js';
import { attachState, hasState, pathOf, stateOf, type ListenerName } from '../context/request-state.js';
import type { Cursors } from '../lists/cursors.js';
import { runForCaller } from '../observe/correlation.js';
import { log } from '../observe/log.js';
import { observeRequest } from '../observe/metrics.js';
import { traceRequest } from '../observe/tracing.js';
import { answerProblem } from '../problems/answer-problem.js';
import { eventStreamOf } from '../streams/event-stream.js';
import { answerClientError, MAX_URI_BYTES } from '../problems/client-error.js';
import type { ExpressConstructors } from './fast-express.adapter.js';
import { type BodyClass, LOOK_EVERY_MS, SlowPeers } from './slow-peers.js';

const MAX_HEADER_BYTES = 24 * 1024;
const HEADERS_TIMEOUT_MS = 20_000;
/** Bodies are watched for progress instead (`slow-peers.ts`): an import may take as long as its line does. */
const REQUEST_TIMEOUT_MS = 0;
/** What is larger is a file's body. */
const WHOLE_BODY_BYTES = 1 << 20;
/**
 * Told to whoever calls: undici lets an idle connection go 2 s before, so that it is never the module that closes first,
 * and a module that ends has none left by then that a request could be on its way on.
 */
const KEEP_ALIVE_MS = 4_000;

/** Answers a request; the listener has attached its state. */
type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** What a listener is made of. */
interface ListenerOptions {
  readonly name: ListenerName;
  readonly constructors: ExpressConstructors;
  readonly cursors: Cursors;
  /** Sees a request that the listener does not refuse before all else; true if it answers it. */
  readonly first?: (request: IncomingMessage, response: ServerResponse) => boolean;
  readonly handler: RequestHandler;
  /** From where the gateway calls: it alone is believed about callers' addresses. */
  readonly gatewayAddresses: AddressList;
  /** Without it, plain HTTP. */
  readonly tls?: ModulesTls | undefined;
}

/** One HTTP server of an app: correlation, limits, measuring and a drain that loses no request. */
export class Listener {
  readonly server: Server;
  private readonly inFlight = new Set<ServerResponse>();
  private readonly slow = new SlowPeers({ ofBody: bodyClassOf, ofAnswer: answerClassOf }, answerTooSlow);
  private looking: NodeJS.Timeout | undefined;
  private draining = false;
  private refusing = false;

  constructor(private readonly options: ListenerOptions) {
    this.server = moduleServer(
      options.tls,
      {
        ...options.constructors,
        maxHeaderSize: MAX_HEADER_BYTES,
        headersTimeout: HEADERS_TIMEOUT_MS,
        requestTimeout: REQUEST_TIMEOUT_MS,
        keepAliveTimeout: KEEP_ALIVE_MS,
        requireHostHeader: false, // checked below: Node would answer without a body
      },
      (request, response) => this.receive(request, response),
    );
    this.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
      this.server.emit('request', request, response),
    );
    this.server.on(this.isSecure ? 'secureConnection' : 'connection', (socket: Socket) =>
      noteConnection(socket, options.gatewayAddresses),
    );
    this.server.on('clientError', answerClientError);
  }

  /** Begins to listen; resolves with the address. */
  async listen(port: number, host: string): Promise<string> {
    this.server.listen(port, host);
    await once(this.server, 'listening');
    // eslint-disable-next-line house/registered-work -- looks at connections in memory
    this.looking = setInterval(() => this.look(performance.now()), LOOK_EVERY_MS).unref();
    const address = this.server.address() as AddressInfo;
    const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
    return `${this.isSecure ? 'https' : 'http'}://${name}:${address.port}`;
  }

  /** Lets go of peers that neither send nor take; it looks by itself as well. */
  look(now: number): void {
    this.slow.look(now);
  }

  /** Lets kept connections end: every answer from now on closes its own. Streams, which end by nothing else, end now. */
  drain(): void {
    this.draining = true;
    for (const response of this.inFlight) {
      if (!response.headersSent) response.shouldKeepAlive = false;
      eventStreamOf(response)?.end();
    }
  }

  /** Stops accepting, refuses what still comes, resolves when the last answer has gone or the time is over. */
  async close(withinMs: number): Promise<void> {
    if (!this.server.listening) return;
    this.drain();
    this.refusing = true;
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeIdleConnections();
    const timer = setTimeout(() => destroyConnections(this.server), withinMs);
    await closed;
    clearTimeout(timer);
    clearInterval(this.looking);
  }

  private get isSecure(): boolean {
    return this.options.tls?.listens === true;
  }

  private receive(request: IncomingMessage, response: ServerResponse): void {
    const started = performance.now();
    this.inFlight.add(response);
    this.slow.begin(request, response, started);
    response.once('close', () => {
      this.inFlight.delete(response);
      this.slow.end(response, performance.now());
      // How long somebody listened says nothing of how long an answer takes.
      const until = eventStreamOf(response)?.openedAt ?? performance.now();
      this.observe(request, response, until - started);
      // Its head promised to keep the connection; kept, it would hold up the end.
      if (this.refusing) request.socket.destroySoon();
    });
    if (this.draining) response.shouldKeepAlive = false;
    const refusal = this.refusal(request);
    if (!refusal && this.options.first?.(request, response)) return;
    const correlationId = correlationIdFrom(request.headers['x-correlation-id']);
    attachState(request, {
      correlationId,
      listener: this.options.name,
      cursors: this.options.cursors,
      isDraining: () => this.draining,
    });
    response.setHeader('X-Correlation-Id', correlationId);
    if (refusal) answerProblem(request, response, refusal, correlationId);
    else {
      runForCaller(correlationId, response, () => {
        const work = () => this.options.handler(request, response);
        traceRequest(request, response, correlationId, () => routeOf(request), work);
      });
    }
  }

  private refusal(request: IncomingMessage): Problem | undefined {
    if (this.refusing) return new Problem('shutting_down');
    if ((request.url?.length ?? 0) > MAX_URI_BYTES) return new Problem('uri_too_long');
    if (request.headers.host === undefined && request.httpVersion === '1.1') {
      return new Problem('malformed_request', { detail: 'The header `Host` is missing.' });
    }
    if (hostHeaders(request.rawHeaders) > 1) {
      // Node keeps the first; whoever reads the last would take the request for another's.
      return new Problem('malformed_request', { detail: 'There are two headers `Host`.' });
    }
    // Absolute targets are for proxies; to us they would be a second spelling of every path.
    if (!request.url?.startsWith('/'))
      return new Problem('malformed_request', { detail: 'The target is not a path.' });
    return undefined;
  }

  private observe(request: IncomingMessage, response: ServerResponse, milliseconds: number): void {
    const hot = !hasState(request);
    const route = routeOf(request);
    observeRequest(request.method ?? '', route, response.statusCode, milliseconds);
    if (hot || !log.isLevelEnabled('debug')) return;
    const { correlationId } = stateOf(request);
    const fields = {
      method: request.method,
      route,
      status: response.statusCode,
      ms: Math.round(milliseconds),
    };
    log.debug({ ...fields, correlation_id: correlationId }, 'answered');
  }
}

/** Counted without a list or a pattern: each event is looked at. */
function hostHeaders(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}

/** The pattern of the route that answered. What the raw hook answered has no state; it knows literal paths only. */
function routeOf(request: IncomingMessage): string {
  if (!hasState(request)) return pathOf(request);
  return stateOf(request).route?.fullPath ?? 'unmatched';
}

/** How long a body may take, by its route. What the raw hook reads, and what has no route yet, is short. */
function bodyClassOf(request: IncomingMessage): BodyClass {
  const route = hasState(request) ? stateOf(request).route : undefined;
  if (route === undefined || route.latencyClass === 'ingestion') return 'event';
  return route.body === 'stream' && route.bodyLimit > WHOLE_BODY_BYTES ? 'file' : 'ordinary';
}

/** How long an answer may wait for its reader, by what it is. */
function answerClassOf(request: IncomingMessage, response: ServerResponse): BodyClass {
  if (eventStreamOf(response) || response.hasHeader('content-disposition')) return 'file';
  const isIngestion = !hasState(request) || stateOf(request).route?.latencyClass === 'ingestion';
  return isIngestion ? 'event' : 'ordinary';
}

/** Answers as Node does where a request takes too long: the handler, which waits for the body, hears the end of that. */
function answerTooSlow({ socket }: IncomingMessage): void {
  answerClientError(Object.assign(new Error('too slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket);
}
