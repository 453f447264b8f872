import type { Server as SecureServer } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { destroyConnections, VERSION } from '@customer-platform/config';
import { asyncApiDocument } from '@customer-platform/events';
import { pino } from 'pino';
import { type GatewayConfig, readGatewayConfig, readTls } from './gateway.config.js';
import { startGateway } from './gateway.js';
import { startOperations } from './operations.js';

/** What is still answered when all is drained has so long: with up to 3 s before, all is over within ten. */
const GRACE_MS = 6_000;

const log = pino({ name: 'gateway' });
const config = readOrExit();
log.level = config.logLevel;
let draining = false;
const gateway = await startGateway(config, {
  asyncApi: asyncApiDocument(VERSION),
  onFailure: (module, problem, correlationId) =>
    log.warn(
      { module, code: problem.code, correlation_id: correlationId, err: problem.cause },
      'a module failed',
    ),
});
const operations = await startOperations(
  gateway.observed,
  { host: config.host, port: config.internalPort, tls: config.modulesTls },
  () => draining,
);
log.info({ url: gateway.url, operations: operations.port }, 'listening');

process.once('SIGTERM', () => end('SIGTERM'));
process.once('SIGINT', () => end('SIGINT'));
// A state nobody foresaw: better started anew than gone on with, but not before what runs has been answered.
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error: unknown) => {
    log.fatal({ err: error, event }, 'an error was caught by nobody');
    process.exitCode = 1;
    end(event);
  });
}
process.on('SIGHUP', () => {
  if (config.tlsFiles) (gateway.server as SecureServer).setSecureContext(readTls(config.tlsFiles));
});

function readOrExit(): GatewayConfig {
  try {
    return readGatewayConfig(undefined, (error) =>
      log.error({ err: error }, 'The renewed files of MODULES_TLS_* cannot be used; the former go on'),
    );
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(1);
  }
}

function end(signal: string): void {
  stop(signal).catch((error: unknown) => {
    log.fatal({ err: error }, 'could not end in order');
    process.exit(1);
  });
}

async function stop(signal: string): Promise<void> {
  if (draining) return;
  draining = true;
  log.info({ signal }, 'draining');
  // Whatever hangs: nothing may keep the process beyond ten seconds.
  setTimeout(() => process.exit(1), 9_500).unref();
  gateway.drain();
  await pause(config.drainMs);
  await gateway.close(GRACE_MS);
  operations.server.close();
  destroyConnections(operations.server);
  log.info('stopped');
}
