import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { destroyConnections, watchConnections } from '@customer-platform/config';
import { correlationIdFrom } from '@customer-platform/events';
import type { GatewayConfig } from './gateway.config.js';
import { refuseUnreadable } from './unreadable.js';
import { answerProblemOnSocket } from './problem-response.js';

const LIMITS = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  /** How often it is looked who took longer. */
  connectionsCheckingInterval: 2_000,
  /** Bodies are watched for progress instead (`slow-callers.ts`): an import may take minutes. */
  requestTimeout: 0,
  keepAliveTimeout: 65_000,
  /** Checked by the gateway: Node would answer without a body. */
  requireHostHeader: false,
};

/** As long as a head may take; Node would wait for two minutes. */
const HANDSHAKE_MS = 10_000;

/** A connection on which nothing moves for this long is let go, in milliseconds. */
const SILENCE_MS = 60_000;

/** So many requests of a connection may stand behind one another; a pipeline that is longer only fills memory. */
const MOST_UNANSWERED = 500;

/** Answers one request; the listener looks after connections. */
type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** The public server: its limits, its certificate, and an end that loses no answer. */
export class FrontListener {
  readonly server: Server;
  private readonly inFlight = new Set<ServerResponse>();
  private readonly unanswered = new WeakMap<Socket, number>();
  /** Sockets that Node has handed over: no list of its own has them. */
  private readonly handedOver = new Set<Socket>();
  private draining = false;

  constructor(
    private readonly config: GatewayConfig,
    private readonly handler: Handler,
  ) {
    this.server =
      config.tls === undefined
        ? createServer(LIMITS)
        : createSecureServer({
            ...LIMITS,
            ...config.tls,
            minVersion: 'TLSv1.2',
            handshakeTimeout: HANDSHAKE_MS,
          });
    watchConnections(this.server);
    this.server.timeout = SILENCE_MS;
    const receive: Handler = (request, response) => this.receive(request, response);
    this.server.on('request', receive);
    this.server.on('checkExpectation', receive); // RFC 9110 §10.1.1 lets a server ignore what it does not know
    this.server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      response.writeContinue();
      receive(request, response);
    });
    this.server.on('connect', (_request, socket: Socket) => {
      this.handedOver.add(socket);
      socket.once('close', () => this.handedOver.delete(socket));
      answerProblemOnSocket(socket, 'method_not_allowed', correlationIdFrom(undefined));
    });
    this.server.on('clientError', refuseUnreadable);
  }

  /** Resolves with the base URL. @throws the listen error, for instance EADDRINUSE. */
  async listen(): Promise<string> {
    const { config, server } = this;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(config.port, config.host, () => {
        server.off('error', reject);
        resolve();
      });
    });
    const { port } = server.address() as AddressInfo;
    const host = config.host.includes(':') ? `[${config.host}]` : config.host;
    return `${config.tls === undefined ? 'http' : 'https'}://${host}:${port}`;
  }

  /** Lets kept connections end: every answer from now on closes its own. New ones are still taken. */
  drain(): void {
    this.draining = true;
    for (const response of this.inFlight) if (!response.headersSent) response.shouldKeepAlive = false;
  }

  /** Takes no new connection, lets what runs finish, at most `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.drain();
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeIdleConnections();
    for (const socket of this.handedOver) socket.destroy();
    const late = setTimeout(() => destroyConnections(this.server), graceMs);
    await closed;
    clearTimeout(late);
  }

  private receive(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const unanswered = (this.unanswered.get(socket) ?? 0) + 1;
    if (unanswered > MOST_UNANSWERED) return void socket.destroy();
    this.unanswered.set(socket, unanswered);
    this.inFlight.add(response);
    if (this.draining) response.shouldKeepAlive = false;
    response.once('close', () => {
      this.inFlight.delete(response);
      this.unanswered.set(socket, (this.unanswered.get(socket) ?? 1) - 1);
      // Its head promised to keep the connection; kept, it would hold up the end.
      if (this.draining) socket.destroySoon();
    });
    this.handler(request, response);
  }
}
