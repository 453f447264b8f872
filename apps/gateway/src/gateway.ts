import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { Problem, type ProblemCode } from '@customer-platform/problem-json';
import { correlationIdOf } from './correlation.js';
import { Documents } from './documents.js';
import type { GatewayConfig } from './gateway.config.js';
import { Observed } from './observed.js';
import { answerProblem, answerProblemOnSocket } from './problem-response.js';
import { readTarget } from './request-target.js';
import { MODULES, type ModuleName, moduleOf } from './routes.js';
import { type Patience, Upstream } from './upstream.js';

export interface RunningGateway {
  url: string;
  observed: Observed;
  server: Server;
  /** Stops taking connections, lets what runs finish, at most `graceMs`. */
  close(graceMs?: number): Promise<void>;
}

const LARGEST_HEAD = 16 * 1024;
/** A caller that sends nothing for this long in the middle of a request is let go. */
const SILENCE_MS = 30_000;

/** Starts the public listener. @throws the listen error, for instance EADDRINUSE. */
export async function startGateway(
  config: GatewayConfig,
  options: { asyncApi: object; patience?: Patience },
): Promise<RunningGateway> {
  const upstreams = Object.fromEntries(
    MODULES.map((name) => [name, new Upstream(name, config.upstreams[name], options.patience)]),
  ) as Record<ModuleName, Upstream>;
  const observed = new Observed();
  const gateway = new Gateway(
    config,
    upstreams,
    new Documents(upstreams, config.release, options.asyncApi),
    observed,
  );
  const limits = {
    maxHeaderSize: LARGEST_HEAD,
    headersTimeout: 10_000,
    requestTimeout: 0,
    keepAliveTimeout: 65_000,
  };
  const server =
    config.tls === undefined
      ? createServer(limits)
      : createSecureServer({ ...limits, ...config.tls, minVersion: 'TLSv1.2' });
  server.timeout = SILENCE_MS * 2;
  server.on('request', (request, response) => void gateway.handle(request, response));
  server.on('checkContinue', (request, response) => void gateway.handle(request, response));
  server.on('connect', (_request, socket: Socket) =>
    answerProblemOnSocket(socket, 'method_not_allowed', correlationIdOf(undefined)),
  );
  server.on('upgrade', (request, socket: Socket) =>
    answerProblemOnSocket(socket, 'route_not_found', correlationIdOf(request.headers['x-correlation-id'])),
  );
  server.on('clientError', refuseUnreadable);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(config.port, config.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  return {
    url: `${config.tls === undefined ? 'http' : 'https'}://${host}:${port}`,
    observed,
    server,
    close: async (graceMs = 8_000) => {
      gateway.draining = true;
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      const late = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearTimeout(late);
      await Promise.all(Object.values(upstreams).map((upstream) => upstream.destroy()));
    },
  };
}

/** One request: read the target → refuse what is ambiguous → answer a document of ours, or pass it to its module. */
class Gateway {
  draining = false;

  constructor(
    private readonly config: GatewayConfig,
    private readonly upstreams: Record<ModuleName, Upstream>,
    private readonly documents: Documents,
    private readonly observed: Observed,
  ) {}

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const began = performance.now();
    const correlationId = correlationIdOf(request.headers['x-correlation-id']);
    const target = readTarget(request.url ?? '/');
    const refusal = target.ok ? refusedFraming(request) : target.code;
    if (!target.ok || refusal !== undefined) {
      this.refuse(request, response, refusal ?? 'malformed_request', correlationId);
      return this.observed.record('gateway', response.statusCode, began);
    }
    const module = moduleOf(target.path);
    if (module === undefined) {
      await this.answerOwn(request, response, target.path, correlationId);
      return this.observed.record('gateway', response.statusCode, began);
    }
    const status = await this.upstreams[module].forward({
      request,
      response,
      path: target.path,
      edge: {
        correlationId,
        protocol: this.config.tls === undefined ? 'http' : 'https',
        trustForwarded: this.config.trustForwarded,
      },
      isDraining: () => this.draining,
    });
    this.observed.record(module, status, began);
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
    const document = await this.documents.at(path);
    if (document === undefined) return answerProblem(response, new Problem('route_not_found'), where);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return answerProblem(
        response,
        new Problem('method_not_allowed', { headers: { allow: 'GET, HEAD' } }),
        where,
      );
    }
    response.writeHead(200, {
      'content-type': document.contentType,
      'content-length': Buffer.byteLength(document.body),
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
      'x-correlation-id': correlationId,
    });
    response.end(request.method === 'HEAD' ? undefined : document.body);
  }
}

/** Framings that two HTTP readers could take differently; Node's parser has refused the crude ones before. */
function refusedFraming(request: IncomingMessage): ProblemCode | undefined {
  const encoding = request.headers['transfer-encoding'];
  if (encoding === undefined) return undefined;
  if (encoding.trim().toLowerCase() !== 'chunked') return 'malformed_request';
  return request.headers['content-length'] === undefined ? undefined : 'malformed_request';
}

function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET') return void socket.destroy();
  const code: ProblemCode =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? 'headers_too_large'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? 'request_timeout'
        : 'malformed_request';
  answerProblemOnSocket(socket, code, correlationIdOf(undefined));
}
