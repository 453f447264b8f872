import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { destroyConnections, moduleServer, type ModulesTls } from '@customer-platform/config';
import { answerConsole, type ConsoleParts } from './console-requests.js';

const LIMITS = { headersTimeout: 10_000, requestTimeout: 10_000, maxHeaderSize: 16 * 1024 };
/** The gateway lets go of a kept connection two seconds before that. */
const KEPT_MS = 4_000;

/** A started server of the Console. */
export interface RunningConsole {
  readonly url: string;
  /** Ends each kept connection with its next answer. */
  drain(): void;
  /** Takes no new connection, lets what runs finish, at most `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** What a server is started with. */
interface ConsoleOptions extends ConsoleParts {
  readonly host: string;
  readonly port: number;
  readonly tls?: ModulesTls | undefined;
  /** Told of each answer. */
  readonly answered?: (status: number) => void;
}

/** Starts the public listener. @throws the listen error, for instance EADDRINUSE */
export async function startConsole(options: ConsoleOptions): Promise<RunningConsole> {
  const { host, port, tls, answered } = options;
  const answer = answerConsole(options);
  const open = new Set<ServerResponse>();
  let draining = false;
  const server = moduleServer(tls, LIMITS, (request, response) => {
    open.add(response);
    if (draining) response.shouldKeepAlive = false;
    response.once('close', () => {
      open.delete(response);
      answered?.(response.statusCode);
    });
    answer(request, response);
  });
  server.keepAliveTimeout = KEPT_MS;
  await listen(server, host, port);
  const drain = (): void => {
    draining = true;
    for (const response of open) if (!response.headersSent) response.shouldKeepAlive = false;
  };
  return {
    url: `${tls?.listens ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${String((server.address() as AddressInfo).port)}`,
    drain,
    close: async (graceMs) => {
      drain();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      const late = setTimeout(() => destroyConnections(server), graceMs);
      await closed;
      clearTimeout(late);
    },
  };
}

/** @throws the listen error */
export async function listen(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
