import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { correlationIdFrom } from '@customer-platform/events';
import { Problem, type ProblemCode } from '@customer-platform/problem-json';
import { mindUnread } from './answer-wait.js';
import { Documents } from './documents.js';
import { FrontListener } from './front-listener.js';
import type { GatewayConfig } from './gateway.config.js';
import { Observed } from './observed.js';
import { originOf } from './origin.js';
import { answerProblem } from './problem-response.js';
import { linger } from './request-body.js';
import { readTarget } from './request-target.js';
import { classOf } from './route-classes.js';
import { CONSOLE, lasts, MODULES, type ModuleName, MOVED, moduleOf } from './routes.js';
import { SlowCallers } from './slow-callers.js';
import { type UpstreamOptions, Upstream } from './upstream.js';

/** One year: what browsers' lists of such sites ask for at least. */
const HSTS = 'max-age=31536000';

/** A started gateway. */
export interface RunningGateway {
  url: string;
  observed: Observed;
  server: Server;
  /** Ends each kept connection with its next answer, so that none is closed under a request; answers that last end now. */
  drain(): void;
  /** Stops taking connections, lets what runs finish, at most `graceMs`. */
  close(graceMs?: number): Promise<void>;
}

/** What a gateway is started with beside its configuration. */
interface GatewayOptions extends UpstreamOptions {
  asyncApi: object;
}

const GLANCE_EVERY_MS = 250;
const GLANCES_A_LOOK = 4;

/** Starts the public listener. @throws the listen error, for instance EADDRINUSE. */
export async function startGateway(config: GatewayConfig, given: GatewayOptions): Promise<RunningGateway> {
  const callers = given.callers ?? new SlowCallers();
  const observed = new Observed();
  const onOverload = observed.refuse.bind(observed);
  const options = { onOverload, ...given, callers, tls: config.modulesTls };
  const upstreams = Object.fromEntries(
    MODULES.map((name) => [name, new Upstream(name, config.upstreams[name], options)]),
  ) as Record<ModuleName, Upstream>;
  const { consoleUpstream } = config;
  const console =
    consoleUpstream === undefined
      ? undefined
      : new Upstream('console', consoleUpstream, { ...options, anonymous: true });
  observed.showLimits(() => MODULES.map((name) => [name, upstreams[name].admission]));
  const documents = new Documents(upstreams, config.release, options.asyncApi, console !== undefined);
  const gateway = new Gateway(
    config,
    { ...upstreams, console },
    documents,
    observed,
    callers,
    options.lingerMs,
  );
  const listener = new FrontListener(config, (request, response) => {
    gateway.handle(request, response).catch((cause: unknown) => {
      const problem = new Problem('internal_error', { cause });
      options.onFailure?.('gateway', problem, '');
      answerProblem(response, problem, { instance: '/', correlationId: correlationIdFrom(undefined) });
    });
  });
  let glances = 0;
  // eslint-disable-next-line house/registered-work -- looks at connections in memory
  const looking = setInterval(() => {
    glances = (glances + 1) % GLANCES_A_LOOK;
    if (glances === 0) callers.look();
    else callers.glance();
  }, GLANCE_EVERY_MS).unref();
  const drain = (): void => {
    listener.drain();
    for (const upstream of Object.values(upstreams)) upstream.drain();
  };
  return {
    url: await listener.listen(),
    observed,
    server: listener.server,
    drain,
    close: async (graceMs = 8_000) => {
      drain();
      await listener.close(graceMs);
      clearInterval(looking);
      const all = [...Object.values(upstreams), ...(console ? [console] : [])];
      await Promise.all(all.map((upstream) => upstream.destroy()));
    },
  };
}

/** Whom requests are passed on to. */
type Upstreams = Record<ModuleName, Upstream> & { readonly console: Upstream | undefined };

/** One request: read the target → refuse what is ambiguous → answer a document of ours, or pass it to its module. */
class Gateway {
  constructor(
    private readonly config: GatewayConfig,
    private readonly upstreams: Upstreams,
    private readonly documents: Documents,
    private readonly observed: Observed,
    private readonly callers: SlowCallers,
    private readonly lingerMs: number | undefined,
  ) {}

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const began = performance.now();
    const { tls, trustedProxies, publicHost } = this.config;
    const correlationId = correlationIdFrom(request.headers['x-correlation-id']);
    const origin = originOf(request, tls !== undefined, trustedProxies);
    // A browser that came by TLS shall never come without it (RFC 6797); said over plain HTTP it would mean nothing.
    if (origin.protocol === 'https') response.setHeader('strict-transport-security', HSTS);
    const target = readTarget(request.url ?? '/');
    const refusal = target.ok ? refusedHead(request) : target.code;
    if (!target.ok || refusal !== undefined) {
      this.refuse(request, response, refusal ?? 'malformed_request', correlationId);
      return this.observed.record('gateway', response.statusCode, began);
    }
    const upstream = this.upstreamOf(target.path);
    if (upstream === undefined) {
      await this.answerOwn(request, response, target.path, correlationId);
      linger(request, this.lingerMs);
      mindUnread(response, this.callers, origin.address);
      return this.observed.record('gateway', response.statusCode, began);
    }
    const status = await upstream.forward({
      request,
      response,
      path: target.path,
      route: classOf(request.method ?? 'GET', target.path),
      edge: { ...origin, correlationId, publicHost },
      lasts: lasts(target.path),
    });
    if (lasts(target.path)) this.observed.count(upstream.name, status);
    else this.observed.record(upstream.name, status, began);
  }

  /** Undefined for what the gateway answers itself. */
  private upstreamOf(path: string): Upstream | undefined {
    if (path.startsWith(CONSOLE)) return this.upstreams.console;
    const module = moduleOf(path);
    return module === undefined ? undefined : this.upstreams[module];
  }

  private refuse(
    request: IncomingMessage,
    response: ServerResponse,
    code: ProblemCode,
    correlationId: string,
  ): void {
    const instance = code === 'uri_too_long' ? '/' : ((request.url ?? '/').split('?', 1)[0] as string);
    // The body, if there is one, is of no known length to us: the connection ends with the answer.
    answerProblem(response, new Problem(code), { instance, correlationId }, { close: true });
  }

  private async answerOwn(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    correlationId: string,
  ): Promise<void> {
    const where = { instance: path, correlationId };
    request.resume();
    const moved = this.upstreams.console && Object.hasOwn(MOVED, path) ? MOVED[path] : undefined;
    if (moved !== undefined) {
      const query = (request.url ?? '').slice(path.length);
      response.writeHead(308, { location: moved + query, 'x-correlation-id': correlationId }).end();
      return;
    }
    const document = await this.documents.at(path);
    if (document === undefined) return answerProblem(response, new Problem('route_not_found'), where);
    const allow = 'GET, HEAD, OPTIONS';
    if (request.method === 'OPTIONS') {
      response.writeHead(204, { allow, 'x-correlation-id': correlationId }).end();
      return;
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return answerProblem(response, new Problem('method_not_allowed', { headers: { allow } }), where);
    }
    response.writeHead(200, {
      'content-type': document.contentType,
      'content-length': document.body.length,
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
      'x-correlation-id': correlationId,
    });
    response.end(request.method === 'HEAD' ? undefined : document.body);
  }
}

/** Heads that two HTTP readers could take differently; Node's parser has refused the crude ones before. */
function refusedHead({ headers, rawHeaders, httpVersion }: IncomingMessage): ProblemCode | undefined {
  if (hosts(rawHeaders) > 1) return 'malformed_request'; // Node would keep the first and hide the others
  if (headers.host === undefined && httpVersion === '1.1') return 'malformed_request';
  const encoding = headers['transfer-encoding'];
  if (encoding === undefined) return undefined;
  if (encoding.trim().toLowerCase() !== 'chunked') return 'malformed_request';
  return headers['content-length'] === undefined ? undefined : 'malformed_request';
}

function hosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}
